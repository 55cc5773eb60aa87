/** Migrates a file of an older version now, instead of at its first append. */
import { runAsync } from "@branchlog/streaming";
import type { OptionNames } from "@branchlog/streaming";
import type { EngineOptions } from "@branchlog/core/types";
import { Engine, migrate } from "@branchlog/core/engine";
import { currentVersion } from "@branchlog/core/rows";
import { requireOptions } from "@branchlog/core/files";

export interface MigrateOptions extends Pick<
  EngineOptions,
  "ports" | "lockWaitMs" | "lineBytesMax"
> {
  readonly signal?: AbortSignal | undefined;
}

const migrateNames: OptionNames<MigrateOptions> = {
  ports: true,
  lockWaitMs: true,
  lineBytesMax: true,
  signal: true,
};

export interface MigrationResult {
  readonly path: string;
  readonly version: number;
  readonly migrated: boolean;
  readonly original: string | null;
  /** Of the session as it is now. */
  readonly sizeBytes: number;
}

/**
 * Migrates a session of version 1 or 2, as its first append would; a newer one is not changed.
 * @throws BranchlogError as `openSession`; `ERR_MIGRATION`, `ERR_LOCK_TIMEOUT`, the log unchanged.
 * @example
 * const { migrated, original } = await migrateSession("old.jsonl");
 */
export async function migrateSession(
  path: string,
  options: MigrateOptions = {},
): Promise<MigrationResult> {
  const { signal } = requireOptions(options, migrateNames);
  const engine = await Engine.open(path, options, signal);
  const { log, path: canonical, settings } = engine;
  try {
    const version = log.state.indexer.header?.version ?? currentVersion;
    const { ports, lockWaitMs } = settings;
    const original = await runAsync(migrate(log, ports, lockWaitMs), signal);
    const { size: sizeBytes } = log;
    return { path: canonical, version, migrated: original !== null, original, sizeBytes };
  } finally {
    engine.release();
  }
}
