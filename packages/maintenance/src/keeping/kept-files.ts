/**
 * The directory where Branchlog keeps what it removed: `operations.jsonl`, a session whose entries
 * are the operations, and the packs. Only its user can read it.
 */
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { isBranchlogError, openOrCreateSession, openSession } from "@branchlog/core";
import { engineSettings, resolvePath } from "@branchlog/core/internal";
import type { Ports } from "@branchlog/core/types";
import { joined, readOperation } from "./operation.ts";
import type { Operation } from "./operation.ts";

/** Where removed files and the record of operations are. */
export interface KeepingOptions {
  /**
   * Default: `BRANCHLOG_DATA_DIR`, else `branchlog` in `XDG_DATA_HOME`, else
   * `~/.local/share/branchlog`.
   */
  readonly dataDir?: string | undefined;
  readonly ports?: Partial<Ports>;
}

/** See {@link KeepingOptions}. It need not exist. */
export function dataDirectory(): string {
  const { BRANCHLOG_DATA_DIR, XDG_DATA_HOME } = process.env;
  if (BRANCHLOG_DATA_DIR) return resolvePath(BRANCHLOG_DATA_DIR);
  const shared = XDG_DATA_HOME ? resolvePath(XDG_DATA_HOME) : join(homedir(), ".local", "share");
  return join(shared, "branchlog");
}

const customType = "branchlog:operation";

export class KeptFiles {
  readonly directory: string;
  readonly packs: string;
  readonly ports: Ports;
  readonly #log: string;

  constructor({ dataDir, ports = {} }: KeepingOptions) {
    this.directory = dataDir === undefined ? dataDirectory() : resolve(dataDir);
    this.packs = join(this.directory, "packs");
    this.ports = engineSettings({ ports }).ports;
    this.#log = join(this.directory, "operations.jsonl");
  }

  packPath(pack: string): string {
    return join(this.packs, pack);
  }

  hasPack(pack: string): boolean {
    return existsSync(this.packPath(pack));
  }

  /** 0 if it cannot be told. */
  packBytes(pack: string): number {
    return statSync(this.packPath(pack), { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Durably. Throws as `openOrCreateSession` and `append` do. */
  async record(operation: Operation): Promise<void> {
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

  /** The first one first. What is no operation is passed over. */
  async operations(): Promise<readonly Operation[]> {
    const parts: Operation[] = [];
    try {
      const session = await openSession(this.#log, { access: "read", checkpoint: "off" });
      for await (const entry of session.entries({ customType })) {
        const part = entry.type === "custom" ? operationOf(entry.data) : undefined;
        if (part !== undefined) parts.push(part);
      }
      await session.close();
    } catch (error) {
      if (!isBranchlogError(error, "ERR_LOG_MISSING")) throw error;
    }
    return joined(parts);
  }
}

function operationOf(data: unknown): Operation | undefined {
  try {
    return readOperation(data);
  } catch {
    return undefined;
  }
}
