/**
 * The usage of the sessions in some directories, entry by entry, kept for the next query: only
 * changed files are read again. Each entry counts once, as in `usageStatistics`.
 */
import { statSync } from "node:fs";
import { isBranchlogError } from "@branchlog/core";
import { findSessions } from "@branchlog/library";
import type { ListedSession } from "@branchlog/library";
import { cwdOf } from "@branchlog/library/catalogs";
import { CountedOnce } from "./counted-once.ts";
import { ownersAmong } from "./session-owners.ts";
import { countedRecord, spendingEntries } from "./spent-records.ts";
import type { SpendingEntry } from "./spent-records.ts";
import type { SpentRecord } from "./spent-sums.ts";
import { inOrderOfStart } from "./usage-statistics.ts";
import { projectsOf } from "./worktrees.ts";

/** A user message with all usage until the next one, in file order. */
export interface SpendingTurn {
  /** Null: before the first message. */
  readonly entryId: string | null;
  /** The beginning of its text. */
  readonly prompt: string;
  /** Epoch ms; NaN: unknown. */
  readonly timeMs: number;
}

export interface LedgerRecord extends SpentRecord {
  /** The file that it is in. */
  readonly path: string;
  /** The file of the session that it counts for: of a subagent, that which started it. */
  readonly ownerPath: string;
  /** One object for all records of a turn. */
  readonly turn: SpendingTurn;
}

interface ReadFile {
  readonly stamp: string;
  readonly entries: readonly SpendingEntry[];
}

/**
 * Memory: about 500 bytes for each answer and prompt.
 * @example
 * const ledger = new SpendingLedger(knownPlaces());
 * for (const { day, spent } of await ledger.records()) console.log(day, spent.cost);
 */
export class SpendingLedger {
  readonly #places: readonly string[];
  #files = new Map<string, ReadFile>();
  #records: readonly LedgerRecord[] = [];
  #filesRead = 0;

  constructor(places: readonly string[]) {
    this.#places = places;
  }

  /** How often a file was read so far. */
  get filesRead(): number {
    return this.#filesRead;
  }

  /**
   * As of now; the same array while nothing changed. Sessions that cannot be read to their end
   * count as far as they can be read. Not to be called again before it resolves.
   * @throws BranchlogError as `findSessions`; the signal's reason.
   */
  async records(signal?: AbortSignal): Promise<readonly LedgerRecord[]> {
    const { sessions } = await findSessions(this.#places, { artifacts: true, signal });
    const sorted = sessions.toSorted(inOrderOfStart);
    const files = new Map<string, ReadFile>();
    let isSame = sorted.length === this.#files.size;
    for (const { path, transcript, dialect } of sorted) {
      const stamp = stampOf(path);
      const known = this.#files.get(path);
      const isKnown = known?.stamp === stamp;
      isSame &&= isKnown;
      files.set(
        path,
        isKnown
          ? known
          : { stamp, entries: await this.#read(path, transcript?.of ?? dialect, signal) },
      );
      // An aborted caller continues from here.
      this.#files.set(path, files.get(path) ?? { stamp, entries: [] });
    }
    this.#files = files;
    if (!isSame) this.#records = counted(sorted, files);
    return this.#records;
  }

  async #read(
    path: string,
    agent: string,
    signal: AbortSignal | undefined,
  ): Promise<readonly SpendingEntry[]> {
    const entries: SpendingEntry[] = [];
    this.#filesRead += 1;
    try {
      for await (const entry of spendingEntries(path, agent, signal)) entries.push(entry);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isBranchlogError(error)) throw error;
    }
    return entries;
  }
}

/** Empty: it is gone. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
}

function counted(
  sessions: readonly ListedSession[],
  files: ReadonlyMap<string, ReadFile>,
): readonly LedgerRecord[] {
  const ownerOf = ownersAmong(sessions);
  const projects = projectsOf(sessions.map(cwdOf));
  const once = new CountedOnce();
  const records: LedgerRecord[] = [];
  for (const session of sessions) {
    const owner = ownerOf(session);
    const { path, transcript, dialect } = session;
    const cwd = cwdOf(owner);
    const isSubagent = owner !== session || transcript?.isSubagent === true;
    const of = {
      project: projects.get(cwd) ?? cwd,
      agent: transcript?.of ?? dialect,
      isSubagent,
      once,
    };
    let turn: SpendingTurn = { entryId: null, prompt: "", timeMs: Number.NaN };
    once.begin();
    for (const entry of files.get(path)?.entries ?? []) {
      const { id: entryId, prompt, timeMs } = entry;
      if (prompt !== undefined) turn = { entryId, prompt, timeMs };
      const record = countedRecord(entry, of);
      if (record !== undefined) records.push({ ...record, path, ownerPath: owner.path, turn });
    }
  }
  return records;
}
