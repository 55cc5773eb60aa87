/**
 * A log that is followed through its generations: it reads what was appended since the last look,
 * notices when the file was replaced, truncated or rewritten, and then starts over with a new
 * generation. It never writes. The engine appends through it; live streams will watch it.
 */
import { BranchlogError } from "../errors.ts";
import type { LogFile } from "../store/log-file.ts";
import type { FileStat } from "../store/ports.ts";
import { fingerprintBytes } from "../limits.ts";
import { continues, identityOf } from "./log-identity.ts";
import type { LogIdentity } from "./log-identity.ts";
import { LogState } from "./log-state.ts";
import type { ReadOptions } from "./log-state.ts";
import { requireFile, requireHeader } from "./open-outcome.ts";
import { portStep } from "./steps.ts";
import type { Steps } from "./steps.ts";

/** See the file comment. */
export class TrackedLog {
  readonly file: LogFile;
  readonly #options: ReadOptions;
  #state: LogState;
  #identity: LogIdentity | undefined;
  #stat: FileStat | undefined;
  #generation = 1;
  /** Rows of the current generation that this process wrote. */
  #ownRows: number[] = [];

  constructor(file: LogFile, options: ReadOptions) {
    this.file = file;
    this.#options = options;
    this.#state = new LogState(file, options);
  }

  /** What is known of the current generation. */
  get state(): LogState {
    return this.#state;
  }

  /** Counts from 1; one more each time the log turned out to be another. */
  get generation(): number {
    return this.#generation;
  }

  /** Length of the log in bytes when it was last looked at. */
  get size(): number {
    return this.#stat?.size ?? 0;
  }

  /** Reads the log for the first time, blocking. Throws the outcomes of `requireHeader`. */
  openSync(): void {
    const stat = this.#begin();
    this.#state.readSync(stat.size);
    this.#finish(stat);
  }

  /** As {@link TrackedLog.openSync}, giving the event loop turns. */
  async open(signal?: AbortSignal): Promise<void> {
    const stat = this.#begin();
    await this.#state.read(stat.size, signal);
    this.#finish(stat);
  }

  /**
   * Reads what was appended since, or everything if the log is another one now.
   * @throws BranchlogError `ERR_LOG_GONE`, and the outcomes of `requireHeader` for a new
   * generation.
   */
  *catchUp(): Steps<void> {
    yield portStep("stat");
    const stat = this.file.statSync();
    if (stat === null) throw this.#gone();
    if (this.#isUnchanged(stat)) return;
    yield portStep("read");
    if (this.#continues(stat)) {
      this.#state.readSync(stat.size);
      if (!this.#state.isBroken) {
        this.#remember(stat);
        return;
      }
    }
    this.#startOver(stat);
  }

  /** Takes in bytes that were just written at the end, as the rows that this process wrote. */
  adopt(bytes: Buffer, stat: FileStat): void {
    const before = this.#state.index.count;
    this.#state.adopt(bytes);
    for (let row = before; row < this.#state.index.count; row += 1) this.#ownRows.push(row);
    const identity = this.#identity;
    if (identity === undefined || bytes.length < fingerprintBytes) this.#remember(stat);
    else {
      const beforeCursor = Buffer.from(bytes.subarray(bytes.length - fingerprintBytes));
      this.#identity = { ...identity, cursor: this.#state.end, beforeCursor };
      this.#stat = stat;
    }
  }

  /** Reads the log again from its start, as the same generation in a new form: a migration. */
  reloadMigrated(): void {
    const stat = this.file.statSync();
    if (stat === null) throw this.#gone();
    this.#reread(stat);
  }

  /** Whether the file has the inode that was read and so many bytes more than were read. */
  grewBy(stat: FileStat, bytes: number): boolean {
    return stat.ino === this.#stat?.ino && stat.size === this.#state.end + bytes;
  }

  /** Whether the log holds exactly this line as the entry of that id, with or without newline. */
  holds(id: string, line: Buffer): "no" | "unterminated" | "yes" {
    const { index, bodies, pendingRow } = this.#state;
    const row = index.rowOfId(id);
    if (row < 0 || index.rows.length(row) !== line.length - 1) return "no";
    if (!bodies.lineSync(row).equals(line.subarray(0, -1))) return "no";
    return row === pendingRow ? "unterminated" : "yes";
  }

  #begin(): FileStat {
    const stat = requireFile(this.file.path, this.#statOrUnreadable());
    this.file.adopt(stat);
    return stat;
  }

  #finish(stat: FileStat): void {
    requireHeader(this.file.path, this.#state.indexer, stat.size);
    this.#remember(stat);
  }

  #statOrUnreadable(): FileStat | null {
    try {
      return this.file.statSync();
    } catch (cause) {
      const { path } = this.file;
      const message =
        `${path} cannot be read (${String(cause)}). ` + "Check the path and its permissions.";
      throw new BranchlogError("ERR_LOG_UNREADABLE", message, { path, cause });
    }
  }

  #isUnchanged(stat: FileStat): boolean {
    const last = this.#stat;
    return (
      last !== undefined &&
      stat.ino === last.ino &&
      stat.dev === last.dev &&
      stat.size === last.size &&
      stat.ctimeMs === last.ctimeMs
    );
  }

  #continues(stat: FileStat): boolean {
    return this.#identity !== undefined && continues(this.file, stat, this.#identity);
  }

  #remember(stat: FileStat): void {
    this.#stat = stat;
    this.#identity = identityOf(this.file, stat, this.#state.end);
  }

  /** The log is another one: index it anew, and say which of our own entries it no longer holds. */
  #startOver(stat: FileStat): void {
    const { index } = this.#state;
    const ownIds = this.#ownRows.map((row) => index.idOf(row));
    this.#generation += 1;
    this.#reread(stat);
    const { indexer } = this.#state;
    this.#ownRows = [];
    for (const id of ownIds) {
      const row = indexer.index.rowOfId(id);
      if (row >= 0) this.#ownRows.push(row);
      else {
        const reason = "this session appended it; another program replaced or rewrote the log";
        indexer.diagnostics.add({ kind: "lost-entries", reason, id });
      }
    }
  }

  #reread(stat: FileStat): void {
    this.file.adopt(stat);
    const state = new LogState(this.file, this.#options);
    state.readSync(stat.size);
    requireHeader(this.file.path, state.indexer, stat.size);
    this.#state = state;
    this.#remember(stat);
  }

  #gone(): BranchlogError {
    const { path } = this.file;
    const message =
      `${path} is gone: it was deleted or moved while open. Nothing was written, and nothing is ` +
      "created in its place. Put the file back, or open another session.";
    return new BranchlogError("ERR_LOG_GONE", message, { path });
  }
}
