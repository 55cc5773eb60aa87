/** How an engine reads, waits and writes, with the defaults for what is not said. */
import { lineBytesMaxDefault, pollMsDefault } from "@branchlog/streaming";
import type { DialectName } from "../dialects/dialect.ts";
import { BranchlogError } from "../errors.ts";
import {
  batchBytesMaxDefault,
  bodyCacheBytesMaxDefault,
  checkpointEveryBytesDefault,
  lockWaitMsDefault,
  queuedBytesMaxDefault,
  timerMsMax,
} from "../limits.ts";
import { nodePorts } from "../store/node-ports.ts";
import type { Ports } from "../store/ports.ts";

/** Whether checkpoints are saved and taken up, taken up, or neither. */
export type CheckpointMode = "auto" | "read" | "off";

/**
 * When an append is acknowledged. `os`: the system has the bytes; they survive the death of this
 * process. `disk`: the device has them; they survive a loss of power. An interval: as `os`, and the
 * device has them at most so many milliseconds later, if the process lives that long.
 */
export type Durability = "os" | "disk" | { readonly intervalMs: number };

/** Options of everything that opens or creates a log. */
export interface EngineOptions {
  /** `read` never writes anything, on the log or beside it. Default `append`. */
  readonly access?: "read" | "append";
  /** Files, lock, clock and ids; give a clock and ids of your own for reproducible bytes. */
  readonly ports?: Partial<Ports>;
  /** Longest line that is joined in memory while indexing, in bytes. Default 16 MiB. */
  readonly lineBytesMax?: number;
  /** Memory for bodies, in bytes; 0 keeps none. Default 64 MiB. */
  readonly bodyCacheBytesMax?: number;
  /** How long an append waits for the lock. Default 15,000. */
  readonly lockWaitMs?: number;
  /** What an acknowledgement means. Default `os`. */
  readonly durability?: Durability;
  /** Most that is written at once, in bytes, but for a single longer entry. Default 8 MiB. */
  readonly batchBytesMax?: number;
  /** Most that waits to be written by one session, in bytes. Default 256 MiB. */
  readonly queuedBytesMax?: number;
  /**
   * Whether what was indexed is saved beside the log, once it is worth it, and taken up when the
   * log is opened again: `auto` does both, `read` only takes up, as with `access: "read"`; `off`
   * neither. Default `auto`.
   */
  readonly checkpoint?: CheckpointMode;
  /** A directory for these files instead; it has to exist. */
  readonly checkpointDir?: string | undefined;
  /** How far a log goes past its checkpoint before another is saved, in bytes. Default 8 MiB. */
  readonly checkpointEveryBytes?: number;
  /** How often a log is looked at that somebody watches, if no hint comes, in ms. Default 1000. */
  readonly pollMs?: number;
  /** Hands out immutable bodies, to find callers that mutate them. Default false. */
  readonly freezeBodies?: boolean;
  /** Appends to logs of a newer version all the same. Default false. */
  readonly allowNewerVersion?: boolean;
  /** Whose words entries are appended in. Default: what the log is written in, see docs/formats. */
  readonly dialect?: DialectName | undefined;
}

/** Options with every default filled in. */
export interface EngineSettings extends Required<
  Omit<EngineOptions, "ports" | "checkpointDir" | "dialect">
> {
  readonly ports: Ports;
  readonly dialect: DialectName | undefined;
  readonly checkpointDir: string | undefined;
}

/**
 * Fills in the defaults.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for a durability or a `pollMs` that is none.
 */
export function engineSettings(options: EngineOptions): EngineSettings {
  return {
    access: options.access ?? "append",
    ports: { ...nodePorts, ...options.ports },
    lineBytesMax: options.lineBytesMax ?? lineBytesMaxDefault,
    bodyCacheBytesMax: options.bodyCacheBytesMax ?? bodyCacheBytesMaxDefault,
    lockWaitMs: options.lockWaitMs ?? lockWaitMsDefault,
    durability: checkedDurability(options.durability ?? "os"),
    batchBytesMax: options.batchBytesMax ?? batchBytesMaxDefault,
    queuedBytesMax: options.queuedBytesMax ?? queuedBytesMaxDefault,
    checkpoint: options.checkpoint ?? "auto",
    checkpointDir: options.checkpointDir,
    checkpointEveryBytes: options.checkpointEveryBytes ?? checkpointEveryBytesDefault,
    pollMs: checkedPollMs(options.pollMs ?? pollMsDefault),
    freezeBodies: options.freezeBodies ?? false,
    allowNewerVersion: options.allowNewerVersion ?? false,
    dialect: checkedDialect(options.dialect),
  };
}

function checkedDialect(dialect: DialectName | undefined): DialectName | undefined {
  if (dialect === undefined || dialect === "pi" || dialect === "omp") return dialect;
  throw new BranchlogError("ERR_INVALID_ARGUMENT", 'dialect must be "pi" or "omp"');
}

/** A timer that is given more fires at once; `Infinity` means never. */
function checkedPollMs(pollMs: number): number {
  if (pollMs >= 1) return Math.min(pollMs, timerMsMax);
  const message = `pollMs must be a number from 1 on, or Infinity, not ${pollMs}`;
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}

/** A misspelt promise must not be a weaker one. */
function checkedDurability(durability: Durability): Durability {
  if (durability === "os" || durability === "disk") return durability;
  if (typeof durability === "object" && durability.intervalMs > 0) return durability;
  throw new BranchlogError(
    "ERR_INVALID_ARGUMENT",
    'durability must be "os", "disk" or { intervalMs } with a number above 0',
  );
}
