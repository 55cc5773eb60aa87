/**
 * The checkpoint saver of LangGraph on Branchlog sessions: a thread is a session, a fork a branch.
 */
import { isDeepStrictEqual } from "node:util";
import {
  BaseCheckpointSaver,
  TASKS,
  WRITES_IDX_MAP,
  compareWritesSortKeys,
  copyCheckpoint,
  getCheckpointId,
  maxChannelVersion,
  writesSortKey,
} from "@langchain/langgraph-checkpoint";
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
  PendingWrite,
  SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { isBranchlogError } from "@branchlog/core";
import type { LogStore } from "@branchlog/core/types";
import { invalidArgument, isInStore, requireOptions } from "@branchlog/core/files";
import { requireText, shown } from "@branchlog/core/files";
import type { DataDirectoryOptions } from "@branchlog/library";
import { loadedValue, storedValue } from "./stored-value.ts";
import type { StoredValue } from "./stored-value.ts";
import { StoredThreads, ThreadFiles } from "./threads.ts";
import type { Threads } from "./threads.ts";
import { ThreadLog } from "./thread-log.ts";
import type { KnownCheckpoint } from "./thread-log.ts";

/** Options of a {@link BranchlogSaver}. */
export interface BranchlogSaverOptions extends Pick<DataDirectoryOptions, "dataDir"> {
  /** How values become bytes. Default: that of LangGraph, whose JSON is kept as such. */
  readonly serde?: SerializerProtocol;
}

/** The config of a checkpoint, or what it selects. */
type Config = Parameters<BaseCheckpointSaver["getTuple"]>[0];

/**
 * A checkpointer for `graph.compile({ checkpointer })`: in a directory, with a session
 * `DIR/THREAD.jsonl` for each thread, or in a store. A checkpoint that continues another one than
 * the last begins a branch. Several processes can use one thread.
 *
 * A `put` or `putWrites` that is repeated writes nothing. `deleteThread` moves the session into the
 * archive of the user; from a store it is removed.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`, also for a config that names no thread;
 * `ERR_UNSERIALIZABLE` for values that the serializer rejects; as `openOrCreateSession` and
 * `Session.append`.
 * @example
 * const checkpointer = new BranchlogSaver("threads");
 * const graph = builder.compile({ checkpointer });
 */
export class BranchlogSaver extends BaseCheckpointSaver {
  readonly #threads: Threads;
  readonly #open = new Map<string, ThreadLog>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(place: string | { readonly store: LogStore }, options: BranchlogSaverOptions = {}) {
    const { serde, ...archive } = requireOptions(options, { serde: true, dataDir: true });
    super(serde);
    this.#threads = isInStore(place)
      ? new StoredThreads(place.store)
      : new ThreadFiles(requireText("The directory", place), archive);
  }

  override async getTuple(config: Config): Promise<CheckpointTuple | undefined> {
    const { threadId, ns, id } = placeOf(config);
    if (threadId === undefined) return undefined;
    return this.#alone(threadId, async () => {
      const log = await this.#opened(threadId);
      const all = log?.namespaces.get(ns ?? "");
      const wanted = id ?? (all && idsOf(all)[0]);
      const known = wanted === undefined ? undefined : all?.get(wanted);
      return log && known && this.#tuple(log, threadId, known);
    });
  }

  override async *list(
    config: Config,
    { limit = Infinity, before, filter = {} }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { threadId, ns: wanted, id: only } = placeOf(config);
    const beforeId = before === undefined ? undefined : placeOf(before).id;
    const threads = threadId === undefined ? await this.#threads.ids() : [threadId];
    let left = limit;
    for (const thread of threads) {
      const log = await this.#alone(thread, () => this.#opened(thread));
      for (const [ns, all] of log?.namespaces ?? []) {
        if (wanted !== undefined && ns !== wanted) continue;
        for (const id of idsOf(all)) {
          if (only !== undefined && id !== only) continue;
          if (beforeId !== undefined && id >= beforeId) continue;
          if (left <= 0) return;
          const tuple = await this.getTuple(configOf(thread, ns, id));
          if (tuple === undefined || !fits(tuple.metadata, filter)) continue;
          left -= 1;
          yield tuple;
        }
      }
    }
  }

  override async put(
    config: Config,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<Config> {
    const { threadId, ns = "", id: parent } = placeOf(config);
    const thread = requireThread(threadId);
    const { id, channel_versions: versions, channel_values: all } = checkpoint;
    const changed = Object.keys(newVersions).filter((channel) => all[channel] !== undefined);
    const values = await Promise.all(
      changed.map(async (channel): Promise<[string, StoredValue]> => {
        return [channel, await storedValue(this.serde, all[channel], `The channel ${channel}`)];
      }),
    );
    const bare = { ...copyCheckpoint(checkpoint), channel_values: {}, channel_versions: {} };
    const data = {
      ns,
      id,
      ...(parent === undefined ? {} : { parent }),
      checkpoint: await storedValue(this.serde, bare, "A checkpoint"),
      metadata: await storedValue(this.serde, metadata, "The metadata of a checkpoint"),
      versions,
      values: Object.fromEntries(values),
    };
    await this.#alone(thread, async () => {
      const log = await this.#opened(thread, true);
      await log?.put(data, metadata.parents ?? {});
    });
    return configOf(thread, ns, id);
  }

  override async putWrites(
    config: Config,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    const { threadId, ns = "", id } = placeOf(config);
    const thread = requireThread(threadId);
    if (id === undefined) throw invalidArgument("The config of writes must name a checkpoint_id");
    const stored = await Promise.all(
      writes.map(async ([channel, value], at) => ({
        // Channels may be called as the members of every object.
        index: (Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel] : at) ?? at,
        channel,
        value: await storedValue(this.serde, value, "A write"),
      })),
    );
    const data = { ns, checkpoint: id, taskId, taskPath, writes: stored };
    await this.#alone(thread, async () => {
      const log = await this.#opened(thread, true);
      await log?.putWrites(data);
    });
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.#alone(threadId, async () => {
      await this.#closed(threadId);
      await this.#threads.remove(threadId);
    });
  }

  /** Waits for pending writes, and closes the logs; the next use opens them again. */
  async end(): Promise<void> {
    const threads = [...this.#open.keys()];
    await Promise.all(threads.map((id) => this.#alone(id, () => this.#closed(id))));
  }

  async #tuple(
    log: ThreadLog,
    threadId: string,
    known: KnownCheckpoint,
  ): Promise<CheckpointTuple | undefined> {
    const data = await log.checkpoint(known);
    if (data === undefined) return undefined;
    const { ns, id, parent } = data;
    const checkpoint = await loadedValue<Checkpoint>(this.serde, data.checkpoint);
    const values: [string, unknown][] = [];
    for (const [channel, version] of Object.entries(data.versions)) {
      const value = await log.value(known, channel, version);
      if (value === undefined) continue;
      values.push([channel, await loadedValue<unknown>(this.serde, value)]);
    }
    checkpoint.channel_values = Object.fromEntries(values);
    checkpoint.channel_versions = { ...data.versions };
    if (checkpoint.v < 4 && parent !== undefined)
      await this.#takeSends(log, ns, parent, checkpoint);
    return {
      config: configOf(threadId, ns, id),
      checkpoint,
      metadata: await loadedValue<CheckpointMetadata>(this.serde, data.metadata),
      pendingWrites: await this.#writes(log, known),
      ...(parent === undefined ? {} : { parentConfig: configOf(threadId, ns, parent) }),
    };
  }

  /** In the order in which a graph applies them. */
  async #writes(log: ThreadLog, known: KnownCheckpoint): Promise<CheckpointPendingWrite[]> {
    const writes = (await log.writes(known))
      .map((write) => ({
        ...write,
        key: writesSortKey(write.taskPath, write.taskId, write.index),
      }))
      .toSorted((one, other) => compareWritesSortKeys(one.key, other.key));
    return Promise.all(
      writes.map(async ({ taskId, channel, value }): Promise<CheckpointPendingWrite> => {
        return [taskId, channel, await loadedValue<unknown>(this.serde, value)];
      }),
    );
  }

  /** Before version 4, what a step sent to tasks was among the writes of the checkpoint before. */
  async #takeSends(
    log: ThreadLog,
    ns: string,
    parent: string,
    checkpoint: Checkpoint,
  ): Promise<void> {
    const before = log.namespaces.get(ns)?.get(parent);
    const writes = before === undefined ? [] : await this.#writes(log, before);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = writes.flatMap(([, channel, value]) =>
      channel === TASKS ? [value] : [],
    );
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  /** One after the other, as each depends on what the log has. */
  #alone<T>(threadId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(threadId) ?? Promise.resolve();
    const result = before.then(work);
    const turn = result.catch(() => undefined);
    this.#turns.set(threadId, turn);
    void turn.then(() => {
      if (this.#turns.get(threadId) === turn) this.#turns.delete(threadId);
    });
    return result;
  }

  /** As it is now. Undefined: there is none, and none is created. */
  async #opened(threadId: string, creates = false): Promise<ThreadLog | undefined> {
    const open = this.#open.get(threadId);
    try {
      const log = open ?? new ThreadLog(await this.#threads.open(threadId, creates));
      // The one used last is last.
      this.#open.delete(threadId);
      this.#open.set(threadId, log);
      await log.catchUp();
      const [oldest] = this.#open.keys();
      if (this.#open.size > openMax && oldest !== undefined) {
        void this.#alone(oldest, () => this.#closed(oldest)).catch(() => undefined);
      }
      return log;
    } catch (error) {
      if (!creates && isBranchlogError(error, "ERR_LOG_MISSING")) return undefined;
      await this.#closed(threadId);
      // Another process removed it.
      if (open === undefined || !isBranchlogError(error, "ERR_LOG_GONE")) throw error;
      return this.#opened(threadId, creates);
    }
  }

  async #closed(threadId: string): Promise<void> {
    const open = this.#open.get(threadId);
    this.#open.delete(threadId);
    await open?.session.close();
  }
}

/** Threads whose logs are kept open. */
const openMax = 64;

interface Place {
  readonly threadId: string | undefined;
  readonly ns: string | undefined;
  readonly id: string | undefined;
}

/** Throws `ERR_INVALID_ARGUMENT`. */
function placeOf(config: Config): Place {
  const { configurable = {} } = config;
  const text = (name: string): string | undefined => {
    const value: unknown = configurable[name];
    // Lone surrogates would all become the same bytes.
    const isText = typeof value === "string" && !/\p{Cs}/u.test(value);
    if (value === undefined || isText) return value;
    throw invalidArgument(`The ${name} of a config must be a string, not ${shown(value)}`);
  };
  const id = getCheckpointId(config);
  return { threadId: text("thread_id"), ns: text("checkpoint_ns"), id: id === "" ? undefined : id };
}

function requireThread(threadId: string | undefined): string {
  if (threadId !== undefined && threadId !== "") return threadId;
  throw invalidArgument("The config must name a thread: { configurable: { thread_id } }");
}

function configOf(thread_id: string, checkpoint_ns: string, checkpoint_id: string): Config {
  return { configurable: { thread_id, checkpoint_ns, checkpoint_id } };
}

/** The latest first: ids are in the order of time. */
function idsOf(all: ReadonlyMap<string, KnownCheckpoint>): readonly string[] {
  const stored = [...all].flatMap(([id, { entryId }]) => (entryId === undefined ? [] : [id]));
  return stored.toSorted((one, other) => (one < other ? 1 : -1));
}

function fits(metadata: object = {}, filter: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(filter).every(([key, value]) =>
    isDeepStrictEqual(Reflect.get(metadata, key), value),
  );
}
