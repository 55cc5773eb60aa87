/**
 * The engine of one open log: synchronous, or made of steps that either driver runs. `Session` and
 * the adapters of agents are thin layers over it, each with its own leaf. Its file stays open until
 * it is released, or collected.
 */
import { runAsync, runSync } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { Appender } from "../append/appender.ts";
import { requireNonEmpty } from "../argument-checks.ts";
import type { BodyReader } from "../bodies/body-reader.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { encodeHeader } from "../entries/encode-entry.ts";
import type { SessionEntry, SessionHeader } from "../entries/entry-types.ts";
import type { Diagnostic } from "../index-table/diagnostics.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { pathToRow } from "../index-table/tree-walk.ts";
import type { RowPath } from "../index-table/tree-walk.ts";
import { ChangeSignal } from "../log/change-signal.ts";
import { Checkpoints } from "../log/checkpoints.ts";
import type { CheckpointKeeper } from "../log/checkpoints.ts";
import { engineSettings } from "../log/engine-options.ts";
import type { EngineOptions, EngineSettings } from "../log/engine-options.ts";
import { Findings } from "../log/findings.ts";
import { LogDurability } from "../log/log-durability.ts";
import { replicate } from "../log/replica.ts";
import type { Replica } from "../log/replica.ts";
import { ReplicatedLog } from "../log/replicated-log.ts";
import { StoredCheckpoint } from "../log/stored-checkpoint.ts";
import { TrackedLog } from "../log/tracked-log.ts";
import { buildWithSettings } from "../projections/context.ts";
import type { BuiltContext, PathContext } from "../projections/context.ts";
import type { PathView } from "../projections/projection.ts";
import { requireNoAddress } from "../platform/address.ts";
import { createLog } from "../platform/atomic-file.ts";
import { LogFile } from "../platform/log-file.ts";
import { openDocument } from "../store/document-log.ts";
import { openParted } from "../store/parted-log.ts";
import { isInStore } from "../store/log-store.ts";
import type { StoredLog, StoredSession } from "../store/log-store.ts";
import { nodeFileSystem } from "../platform/node-file-system.ts";
import { replicaMemoryBytesMax } from "../limits.ts";
import { createPrivatePorts } from "../platform/private-ports.ts";
import { rowPathView } from "./row-path-view.ts";
import type { LoadedBodies } from "./row-path-view.ts";

const pathOfLog = "The path of a log";

export class Engine {
  readonly settings: EngineSettings;
  readonly log: TrackedLog;
  readonly findings: Findings;
  readonly durability: LogDurability;
  readonly appender: Appender;
  readonly checkpoints: CheckpointKeeper;
  readonly changes: ChangeSignal = new ChangeSignal();
  /** Closes the descriptors of the log unless other engines use them; reads open it again. */
  readonly release: () => void;

  private constructor(path: string, settings: EngineSettings, replica?: Replica) {
    this.settings = settings;
    requireNonEmpty(pathOfLog, path);
    const file = new LogFile(settings.ports.fs, path);
    this.log =
      replica === undefined
        ? new TrackedLog(file, settings, this.changes.notify)
        : new ReplicatedLog(replica, file, settings, this.changes.notify);
    const releaseLog = this.log.file.retain(this);
    this.release = () => {
      releaseLog();
      this.checkpoints.release();
    };
    this.findings = new Findings(this.log, this.changes.notify);
    const index = replica?.stored.index;
    this.checkpoints =
      index === undefined
        ? new Checkpoints(settings, this.log, this.changes)
        : new StoredCheckpoint(settings, this.log, this.changes, {
            index,
            fetchedTo: replica?.parts?.length,
          });
    this.changes.listen(() => this.checkpoints.progressed());
    this.durability = new LogDurability(settings.durability, this.log, settings.ports);
    this.appender = new Appender(settings, this.log, this.durability);
  }

  /** Blocks while the log is indexed. Never writes. Throws as `openSession`. */
  static openSync(path: string, options: EngineOptions = {}): Engine {
    return runSync(Engine.#opening(path, options));
  }

  /** Also opens documents of agents, and sessions that they spread over files. */
  static async open(
    path: string,
    options: EngineOptions = {},
    signal?: AbortSignal,
  ): Promise<Engine> {
    const settings = engineSettings(options);
    requireNonEmpty(pathOfLog, path);
    // Agents read documents from the disk.
    const isOnDisk = settings.ports.fs === nodeFileSystem;
    const made = isOnDisk
      ? ((await openDocument(path, settings)) ?? openParted(path, settings))
      : undefined;
    if (made !== undefined) return Engine.openStored(made, options, signal);
    return runAsync(Engine.#opening(path, options), signal);
  }

  static *#opening(path: string, options: EngineOptions): Steps<Engine> {
    const settings = engineSettings(options);
    requireFilePath(settings, path);
    const engine = new Engine(path, settings);
    try {
      yield* engine.log.open(engine.checkpoints);
    } catch (error) {
      engine.release();
      throw error;
    }
    engine.appender.marks.setOwn();
    engine.checkpoints.progressed();
    return engine;
  }

  /** Opens a session in a file or in a store, as `open` and `openStored`. */
  static async openAt(
    place: string | StoredSession,
    options: EngineOptions = {},
    signal?: AbortSignal,
  ): Promise<Engine> {
    if (!isInStore<StoredSession>(place)) return Engine.open(place, options, signal);
    return Engine.openStored(await place.store.open(place.id, signal), options, signal);
  }

  /**
   * Opens a log of a store, with a copy of its bytes, or an index of it. Rejects as `open`, and as
   * the store does.
   */
  static openStored(
    stored: StoredLog,
    options: EngineOptions = {},
    signal?: AbortSignal,
  ): Promise<Engine> {
    return runAsync(Engine.#openingStored(stored, options), signal);
  }

  /** As `openStored`, of a log that blocks. */
  static openStoredSync(stored: StoredLog, options: EngineOptions = {}): Engine {
    return runSync(Engine.#openingStored(stored, options));
  }

  static *#openingStored(stored: StoredLog, options: EngineOptions): Steps<Engine> {
    const { clock, ids } = engineSettings(options).ports;
    const ports = createPrivatePorts({ clock, ids }, { memoryBytesMax: replicaMemoryBytesMax });
    const { lockWaitMs = stored.lockWaitMs } = options;
    const wait = lockWaitMs === undefined ? undefined : { lockWaitMs };
    const settings = engineSettings({ ...options, ...wait, ports, checkpoint: "off" });
    const replica = yield* replicate(stored, ports);
    const engine = new Engine(stored.address, settings, replica);
    yield* engine.log.open(engine.checkpoints);
    engine.appender.marks.setOwn();
    engine.checkpoints.progressed();
    return engine;
  }

  /** Throws `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`, `ERR_INVALID_ARGUMENT`, `ERR_UNSERIALIZABLE`. */
  static createSync(
    path: string,
    header: SessionHeader,
    options: EngineOptions = {},
    lines: Iterable<Buffer> = [],
  ): Engine {
    const settings = engineSettings(options);
    const { ports } = settings;
    requireNonEmpty(pathOfLog, path);
    requireFilePath(settings, path);
    createLog(ports, path, headerAndLines(encodeHeader(header), lines));
    return Engine.openSync(path, options);
  }

  get path(): string {
    return this.log.file.path;
  }

  get index(): IndexTable {
    return this.log.state.index;
  }

  get bodies(): BodyReader {
    return this.log.state.bodies;
  }

  get dialect(): DialectName {
    return this.appender.dialect;
  }

  get header(): SessionHeader {
    const header = this.log.state.indexer.header?.header;
    if (header === undefined) throw new Error(`${this.path} was opened without a header`);
    return header;
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.findings.all();
  }

  get tailId(): string | null {
    return this.appender.tailId;
  }

  /** Reads what others appended. Takes no lock, writes nothing. */
  refreshSync(): void {
    runSync(this.log.catchUp());
  }

  /** As `refreshSync`, also of a log in a store. */
  refresh(): Promise<void> {
    return runAsync(this.log.catchUp());
  }

  entrySync(id: string): SessionEntry | undefined {
    return this.appender.entrySync(id);
  }

  rowPath(id: string | null, bridgeGaps = false): RowPath {
    return pathToRow(this.index, id === null ? -1 : this.index.rowOfId(id), bridgeGaps);
  }

  pathView(id: string | null, options: PathOptions = {}): PathView {
    const path = options.path ?? this.rowPath(id, options.bridgeGaps);
    return rowPathView(this.index, this.bodies, path, options.loaded);
  }

  context(id: string | null, options: PathOptions = {}): PathContext {
    return this.builtContext(id, options).context;
  }

  builtContext(id: string | null, options: PathOptions = {}): BuiltContext {
    const { findings } = this;
    const view = this.pathView(id, options);
    return buildWithSettings(view, (problem) => findings.addMalformed(problem), options.speaking);
  }
}

/** In a file system of its own, a log may be called by its address. */
function requireFilePath({ ports }: EngineSettings, path: string): void {
  if (ports.fs === nodeFileSystem) requireNoAddress(path);
}

export interface PathOptions {
  readonly loaded?: LoadedBodies;
  /** Continue at the entry before, in file order, if a parent is missing. Default false. */
  readonly bridgeGaps?: boolean;
  readonly path?: RowPath | undefined;
  /** The entries of the path that contribute to its context. */
  readonly speaking?: readonly SessionEntry[];
}

function* headerAndLines(header: Buffer, lines: Iterable<Buffer>): Generator<Buffer> {
  yield header;
  yield* lines;
}
