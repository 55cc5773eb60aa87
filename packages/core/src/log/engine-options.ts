/** Options of an engine, and their defaults. */
import { type OptionNames, lineBytesMaxDefault, pollMsDefault } from "@branchlog/streaming";
import type { DialectName } from "../dialects/dialect.ts";
import {
  batchBytesMaxDefault,
  bodyCacheBytesMaxDefault,
  checkpointEveryBytesDefault,
  lockWaitMsDefault,
  queuedBytesMaxDefault,
  timerMsMax,
} from "../limits.ts";
import {
  invalidArgument,
  requireAtLeast,
  requireBoolean,
  requireOneOf,
  requireOptions,
  requireNonEmpty,
} from "../argument-checks.ts";
import { nodePorts } from "../platform/node-ports.ts";
import type { Ports } from "../platform/ports.ts";

/**
 * Whether checkpoints are saved and loaded, only loaded, or neither. `index`: as `auto`, but
 * without new checksums, for which the log is read once more.
 */
export type CheckpointMode = "auto" | "index" | "read" | "off";

/**
 * When an append is acknowledged. `os`: the system has the bytes; they survive the death of this
 * process. `disk`: the device has them; they survive a power failure. An interval: as `os`, and the
 * device has them at most so many milliseconds later, if the process lives that long.
 */
export type Durability = "os" | "disk" | { readonly intervalMs: number };

/** Options of everything that opens or creates a log. */
export interface EngineOptions {
  /** `read` never writes anything, on the log or next to it. Default `append`. */
  readonly access?: "read" | "append";
  /** Files, lock, clock and ids; set clock and ids for reproducible bytes. */
  readonly ports?: Partial<Ports>;
  /** Longest line that is joined in memory while indexing, in bytes. Default 16 MiB. */
  readonly lineBytesMax?: number;
  /** Memory for bodies, in bytes; 0 keeps none. Default 64 MiB. */
  readonly bodyCacheBytesMax?: number;
  /**
   * How long an append waits while its queue does not advance, up to eight times as long in all. 0:
   * one try. Default 15,000.
   */
  readonly lockWaitMs?: number;
  /** The meaning of an acknowledgement. Default `os`. */
  readonly durability?: Durability;
  /** Maximum size of one write, in bytes, except for a single longer entry. Default 8 MiB. */
  readonly batchBytesMax?: number;
  /** Maximum size of the append queue of one session, in bytes. Default 256 MiB. */
  readonly queuedBytesMax?: number;
  /**
   * `auto` saves the index after enough growth, and loads it again; `index` does so
   * without checksums; `read` only loads, as with `access: "read"`; `off` neither. Default `auto`.
   */
  readonly checkpoint?: CheckpointMode;
  /**
   * An existing directory for checkpoints. Default: the one of the log; of transcripts of other
   * agents `checkpoints` in `BRANCHLOG_CACHE_DIR`, else in `branchlog` among the user's caches.
   */
  readonly checkpointDir?: string | undefined;
  /** How far a log grows past its checkpoint before another is saved, in bytes. Default 8 MiB. */
  readonly checkpointEveryBytes?: number;
  /** How often a log with subscribers is polled if no hint comes, in ms. Default 1000. */
  readonly pollMs?: number;
  /** Appends to logs of a newer version nevertheless. Default false. */
  readonly allowNewerVersion?: boolean;
  /** The dialect of appended entries. Default: that of the log, see docs/formats. */
  readonly dialect?: DialectName | undefined;
}

export const engineOptionNames: OptionNames<EngineOptions> = {
  access: true,
  ports: true,
  lineBytesMax: true,
  bodyCacheBytesMax: true,
  lockWaitMs: true,
  durability: true,
  batchBytesMax: true,
  queuedBytesMax: true,
  checkpoint: true,
  checkpointDir: true,
  checkpointEveryBytes: true,
  pollMs: true,
  allowNewerVersion: true,
  dialect: true,
};

const portNames: OptionNames<Ports> = {
  fs: true,
  lock: true,
  hints: true,
  clock: true,
  ids: true,
};

export interface EngineSettings extends Required<
  Omit<EngineOptions, "ports" | "checkpointDir" | "dialect">
> {
  readonly ports: Ports;
  readonly dialect: DialectName | undefined;
  readonly checkpointDir: string | undefined;
}

/** Ignores other options: the caller knows their names. Throws `ERR_INVALID_ARGUMENT`. */
export function engineSettings(options: EngineOptions): EngineSettings {
  const { access = "append", checkpoint = "auto", dialect, checkpointDir } = options;
  return {
    access: requireOneOf("access", access, ["read", "append"]),
    ports: { ...nodePorts, ...requireOptions(options.ports ?? {}, portNames) },
    ...sizes(options),
    lockWaitMs: requireAtLeast("lockWaitMs", options.lockWaitMs ?? lockWaitMsDefault, 0),
    durability: checkedDurability(options.durability ?? "os"),
    checkpoint: requireOneOf("checkpoint", checkpoint, ["auto", "index", "read", "off"]),
    checkpointDir:
      checkpointDir === undefined ? undefined : requireNonEmpty("checkpointDir", checkpointDir),
    // A timer with a longer delay fires at once; `Infinity` means never.
    pollMs: Math.min(requireAtLeast("pollMs", options.pollMs ?? pollMsDefault, 1), timerMsMax),
    allowNewerVersion: requireBoolean("allowNewerVersion", options.allowNewerVersion ?? false),
    dialect: dialect === undefined ? undefined : requireOneOf("dialect", dialect, dialects),
  };
}

const dialects: readonly DialectName[] = ["pi", "omp"];

type SizeNames =
  | "lineBytesMax"
  | "bodyCacheBytesMax"
  | "batchBytesMax"
  | "queuedBytesMax"
  | "checkpointEveryBytes";

function sizes(options: EngineOptions): Pick<EngineSettings, SizeNames> {
  const size = (name: SizeNames, otherwise: number, least: number): number =>
    requireAtLeast(name, options[name] ?? otherwise, least);
  return {
    lineBytesMax: size("lineBytesMax", lineBytesMaxDefault, 1),
    bodyCacheBytesMax: size("bodyCacheBytesMax", bodyCacheBytesMaxDefault, 0),
    batchBytesMax: size("batchBytesMax", batchBytesMaxDefault, 0),
    queuedBytesMax: size("queuedBytesMax", queuedBytesMaxDefault, 0),
    checkpointEveryBytes: size("checkpointEveryBytes", checkpointEveryBytesDefault, 0),
  };
}

/** A misspelt promise must not be a weaker one. */
function checkedDurability(durability: Durability): Durability {
  if (durability === "os" || durability === "disk") return durability;
  const intervalMs: unknown = typeof durability === "object" ? durability.intervalMs : undefined;
  if (typeof intervalMs === "number" && intervalMs > 0) {
    return { intervalMs: Math.min(intervalMs, timerMsMax) };
  }
  throw invalidArgument(
    'durability must be "os", "disk" or { intervalMs } with a number greater than 0',
  );
}
