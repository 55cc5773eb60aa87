/**
 * The directory where Branchlog keeps removed files: `operations.jsonl`, a session whose entries
 * are the operations, and the packs. Only its user can read it.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { OptionNames } from "@branchlog/streaming";
import {
  BranchlogError,
  isBranchlogError,
  openOrCreateSession,
  openSession,
} from "@branchlog/core";
import { engineSettings, resolvePath } from "@branchlog/core/files";
import type { Ports } from "@branchlog/core/types";
import { joined, readOperation } from "./operation.ts";
import type { Operation } from "./operation.ts";

/** Where removed files and the record of operations are. */
export interface DataDirectoryOptions {
  /**
   * Default: `BRANCHLOG_DATA_DIR`, else `branchlog` in `XDG_DATA_HOME`, else
   * `~/.local/share/branchlog`.
   */
  readonly dataDir?: string | undefined;
  readonly ports?: Partial<Ports>;
  /** Called with unreadable parts of the record or the archive; the rest is used. */
  readonly onProblem?: ((error: BranchlogError) => void) | undefined;
}

export const dataDirectoryNames: OptionNames<DataDirectoryOptions> = {
  dataDir: true,
  ports: true,
  onProblem: true,
};

/** See {@link DataDirectoryOptions}. It need not exist. */
export function dataDirectory(): string {
  const { BRANCHLOG_DATA_DIR, XDG_DATA_HOME } = process.env;
  if (BRANCHLOG_DATA_DIR) return resolvePath(BRANCHLOG_DATA_DIR);
  const shared = XDG_DATA_HOME ? resolvePath(XDG_DATA_HOME) : join(homedir(), ".local", "share");
  return join(shared, "branchlog");
}

const customType = "branchlog:operation";

export class Archive {
  readonly directory: string;
  readonly packs: string;
  readonly ports: Ports;
  readonly onProblem: (error: BranchlogError) => void;
  readonly #log: string;

  constructor({ dataDir, ports = {}, onProblem }: DataDirectoryOptions) {
    this.directory = realPath(dataDir === undefined ? dataDirectory() : resolve(dataDir));
    this.onProblem = onProblem ?? ((): void => undefined);
    this.packs = join(this.directory, "packs");
    this.ports = engineSettings({ ports }).ports;
    this.#log = join(this.directory, "operations.jsonl");
  }

  /** Whether a canonical path is inside. */
  holds(path: string): boolean {
    return path === this.directory || path.startsWith(join(this.directory, "/"));
  }

  packPath(pack: string): string {
    return join(this.packs, pack);
  }

  hasPack(pack: string): boolean {
    return existsSync(this.packPath(pack));
  }

  /** 0 if unknown. */
  packBytes(pack: string): number {
    return statSync(this.packPath(pack), { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Durably. Throws `ERR_ARCHIVE_FAILED`, `ERR_ARCHIVE_DAMAGED`. */
  async record(operation: Operation): Promise<void> {
    try {
      // Data that a later read would reject must not be trusted now.
      readOperation(JSON.parse(JSON.stringify(operation)));
      await this.#append(operation);
    } catch (error) {
      throw isUnreadable(error) ? this.#damaged(error) : this.#notRecorded(error);
    }
  }

  async #append(operation: Operation): Promise<void> {
    const session = await openOrCreateSession(this.#log, {
      ports: this.ports,
      cwd: this.directory,
      durability: "disk",
      checkpoint: "off",
    });
    try {
      await session.append({ type: "custom", customType, data: operation });
    } finally {
      await session.close();
    }
  }

  /**
   * The first one first. Unreadable entries are reported and skipped. Throws `ERR_ARCHIVE_DAMAGED`
   * if the record is not a session.
   */
  async operations(): Promise<readonly Operation[]> {
    const parts: Operation[] = [];
    try {
      const session = await openSession(this.#log, { access: "read", checkpoint: "off" });
      for await (const entry of session.entries({ customType })) {
        const part = entry.type === "custom" ? operationOf(entry.data) : undefined;
        if (part === undefined) this.onProblem(this.#unreadEntry(`entry ${entry.id}`));
        else parts.push(part);
      }
      // A torn end is that of a process that was killed before it removed anything.
      const isLost = session.diagnostics.some(({ kind }) => kind === "bad-line");
      if (isLost) this.onProblem(this.#unreadEntry("a line"));
      await session.close();
    } catch (error) {
      if (isBranchlogError(error, "ERR_LOG_MISSING")) return [];
      throw isUnreadable(error) ? this.#damaged(error) : error;
    }
    return joined(parts);
  }

  #unreadEntry(what: string): BranchlogError {
    const message =
      `In ${this.#log}, ${what} is damaged, or of a newer version: its files are not listed. ` +
      "branchlog verify shows the damage. Restore the file from a backup, or update Branchlog.";
    return new BranchlogError("ERR_ARCHIVE_DAMAGED", message, { path: this.#log });
  }

  #damaged(cause: unknown): BranchlogError {
    const message =
      `${this.#log} is damaged, so the contents of ${this.packs} are unknown. Nothing ` +
      "was changed. branchlog verify shows the damage: restore the file from a backup, and " +
      "do not delete anything there.";
    return new BranchlogError("ERR_ARCHIVE_DAMAGED", message, { path: this.#log, cause });
  }

  #notRecorded(cause: unknown): BranchlogError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message =
      `The operation could not be recorded in ${this.#log} (${reason}); nothing was removed. ` +
      "Check the space and the permissions of that directory, or set BRANCHLOG_DATA_DIR; then " +
      "repeat the command: branchlog ops lists what was done.";
    return new BranchlogError("ERR_ARCHIVE_FAILED", message, { path: this.#log, cause });
  }
}

function isUnreadable(error: unknown): boolean {
  const codes = ["ERR_LOG_EMPTY", "ERR_NOT_A_SESSION", "ERR_HEADER_DAMAGED"] as const;
  return codes.some((code) => isBranchlogError(error, code));
}

/** Of a missing path, the existing part is resolved. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}

function operationOf(data: unknown): Operation | undefined {
  try {
    return readOperation(data);
  } catch {
    return undefined;
  }
}
