/**
 * The checkpoints of one thread as entries of a session. A checkpoint is below the last entry of
 * the one that it continues, its writes are below it: two that continue one are branches.
 */
import { isDeepStrictEqual } from "node:util";
import type { Session, SessionEntry } from "@branchlog/core";
import type { AnyDraft } from "@branchlog/core/entries";
import { isObject, stringAt } from "@branchlog/core/rows";
import { messagesChannel, messagesIn, shownDraft } from "./shown-messages.ts";
import type { StoredValue } from "./stored-value.ts";

const checkpointType = "langgraph.checkpoint";
const writesType = "langgraph.writes";

/** A checkpoint in its entry. */
export interface CheckpointData {
  readonly ns: string;
  readonly id: string;
  /** The checkpoint that it continues, in the same namespace. */
  readonly parent?: string;
  /** Without the values and versions of channels. */
  readonly checkpoint: StoredValue;
  readonly metadata: StoredValue;
  /** Of all channels. */
  readonly versions: Versions;
  /** Of the channels that are new; the others are in the checkpoints that wrote their versions. */
  readonly values: Readonly<Record<string, StoredValue>>;
}

type Versions = Readonly<Record<string, number | string>>;

/** The writes of one task, in their entry. */
export interface WritesData {
  readonly ns: string;
  readonly checkpoint: string;
  readonly taskId: string;
  readonly taskPath: string;
  readonly writes: readonly ChannelWrite[];
}

interface ChannelWrite {
  /** Of the write among those of its task; below 0 for those of a special channel. */
  readonly index: number;
  readonly channel: string;
  readonly value: StoredValue;
}

export type TaskWrite = ChannelWrite & Pick<WritesData, "taskId" | "taskPath">;

/** A checkpoint as it is known; its data are in its entry. */
export interface KnownCheckpoint {
  readonly ns: string;
  parent: string | undefined;
  /** Undefined: only writes of it are there. */
  entryId: string | undefined;
  /** The last entry of it, of its writes, and of those that were made before their checkpoint. */
  endId: string | null;
  /** The entries of its writes. */
  readonly writeIds: string[];
}

/** The entry of a checkpoint that has the value of a channel. */
interface ValuePlace {
  readonly known: KnownCheckpoint;
  readonly entryId: string;
}

type Namespaces = ReadonlyMap<string, ReadonlyMap<string, KnownCheckpoint>>;

export class ThreadLog {
  readonly session: Session;
  readonly #namespaces = new Map<string, Map<string, KnownCheckpoint>>();
  /** By namespace, channel and version; branches may give different values the same version. */
  readonly #values = new Map<string, ValuePlace[]>();
  /** The checkpoint that was put last. */
  #last: KnownCheckpoint | undefined;
  #revision = 0;
  /** The entry that was folded last. */
  #foldedId: string | undefined;

  constructor(session: Session) {
    this.session = session;
  }

  /** As of the last `catchUp`, which must come first. */
  get namespaces(): Namespaces {
    return this.#namespaces;
  }

  /** Reads what was appended, here and elsewhere. Throws `ERR_LOG_GONE`. */
  async catchUp(): Promise<void> {
    const { session } = this;
    await session.refresh();
    // Another log may have the name.
    if (this.#foldedId !== undefined && (await session.entry(this.#foldedId)) === undefined) {
      this.#namespaces.clear();
      this.#values.clear();
      [this.#last, this.#foldedId, this.#revision] = [undefined, undefined, 0];
    }
    const until = session.revision;
    for await (const entry of session.entries({ type: "custom", from: this.#revision + 1 })) {
      this.#fold(entry);
      this.#foldedId = entry.id;
    }
    this.#revision = until;
  }

  async checkpoint({ entryId }: KnownCheckpoint): Promise<CheckpointData | undefined> {
    return entryId === undefined ? undefined : checkpointOf(await this.session.entry(entryId));
  }

  /** The value of a channel in a checkpoint; undefined if it has none. */
  async value(
    known: KnownCheckpoint,
    channel: string,
    version: number | string,
  ): Promise<StoredValue | undefined> {
    const places = this.#values.get(valueKey(known.ns, channel, version)) ?? [];
    const place = places.length > 1 ? this.#nearest(known, places) : places[0];
    if (place === undefined) return undefined;
    return checkpointOf(await this.session.entry(place.entryId))?.values[channel];
  }

  /** Of the checkpoint itself, or of the next one that it continues. */
  #nearest(from: KnownCheckpoint, places: readonly ValuePlace[]): ValuePlace | undefined {
    const all = this.#namespaces.get(from.ns);
    const seen = new Set<KnownCheckpoint>();
    let at: KnownCheckpoint | undefined = from;
    while (at !== undefined && !seen.has(at)) {
      seen.add(at);
      const parent: string | undefined = at.parent;
      const found = places.findLast(({ known }) => known === at);
      if (found !== undefined) return found;
      at = parent === undefined ? undefined : all?.get(parent);
    }
    return places.at(-1);
  }

  /** Of a task, the first write with an index counts; of a special channel, the last. */
  async writes({ writeIds }: KnownCheckpoint): Promise<readonly TaskWrite[]> {
    const found = new Map<string, TaskWrite>();
    for (const entryId of writeIds) {
      const data = writesOf(await this.session.entry(entryId));
      if (data === undefined) continue;
      const { taskId, taskPath } = data;
      for (const write of data.writes) {
        const key = JSON.stringify([taskId, write.index]);
        if (write.index < 0 || !found.has(key)) found.set(key, { ...write, taskId, taskPath });
      }
    }
    return [...found.values()];
  }

  /** @param above Checkpoints in other namespaces that it belongs to. */
  async put(data: CheckpointData, above: Readonly<Record<string, string>>): Promise<void> {
    const namespaces = this.#namespaces;
    const known = namespaces.get(data.ns)?.get(data.id);
    if (known !== undefined && isDeepStrictEqual(await this.checkpoint(known), data)) return;
    const before =
      data.parent === undefined ? undefined : namespaces.get(data.ns)?.get(data.parent);
    const around = Object.entries(above).map(([ns, id]) => namespaces.get(ns)?.get(id));
    const place = before ?? around.findLast((one) => one !== undefined);
    const shown = await this.#shown(data, before);
    const drafts = [...shown, { type: "custom", customType: checkpointType, data }];
    await this.#append(drafts, place?.endId ?? null);
  }

  async putWrites(data: WritesData): Promise<void> {
    const known = this.#namespaces.get(data.ns)?.get(data.checkpoint);
    const there = known === undefined ? [] : await this.writes(known);
    const isThere = data.writes.every(({ index, channel, value }) =>
      there.some((one) => {
        if (one.taskId !== data.taskId || one.index !== index) return false;
        return index >= 0 || (one.channel === channel && isDeepStrictEqual(one.value, value));
      }),
    );
    if (isThere) return;
    // A graph does not wait for the checkpoint of a step before its tasks write.
    const place = known?.entryId === undefined ? this.#last : known;
    await this.#append([{ type: "custom", customType: writesType, data }], place?.endId ?? null);
  }

  async #append(drafts: readonly AnyDraft[], parentId: string | null): Promise<void> {
    const parent = { id: parentId };
    await this.session.appendAll(drafts, { parent, allowUnknownType: true });
  }

  /** The messages that are new in it. */
  async #shown(
    { values }: CheckpointData,
    before: KnownCheckpoint | undefined,
  ): Promise<readonly AnyDraft[]> {
    const messages = messagesIn(values[messagesChannel]);
    const last = before && (await this.checkpoint(before));
    const version = last?.versions[messagesChannel];
    const hasOld = before !== undefined && version !== undefined && messages.length > 0;
    const old = hasOld ? messagesIn(await this.value(before, messagesChannel, version)) : [];
    const shared = messages.findIndex((message, at) => !isDeepStrictEqual(message, old[at]));
    const added = shared < 0 ? [] : messages.slice(shared);
    const timeMs = Date.now();
    return added.flatMap((message) => shownDraft(message, timeMs) ?? []);
  }

  #fold(entry: SessionEntry): void {
    const checkpoint = checkpointOf(entry);
    const writes = writesOf(entry);
    if (checkpoint !== undefined) {
      const known = this.#known(checkpoint.ns, checkpoint.id);
      known.entryId = entry.id;
      known.endId = entry.id;
      this.#last = known;
      known.parent = checkpoint.parent;
      for (const channel of Object.keys(checkpoint.values)) {
        const key = valueKey(checkpoint.ns, channel, checkpoint.versions[channel]);
        const places = this.#values.get(key) ?? [];
        places.push({ known, entryId: entry.id });
        this.#values.set(key, places);
      }
    }
    if (writes !== undefined) {
      const known = this.#known(writes.ns, writes.checkpoint);
      known.writeIds.push(entry.id);
      if (known.entryId !== undefined) known.endId = entry.id;
      else if (this.#last?.endId === entry.parentId) this.#last.endId = entry.id;
    }
  }

  #known(ns: string, id: string): KnownCheckpoint {
    const all = this.#namespaces.get(ns) ?? new Map<string, KnownCheckpoint>();
    const known = all.get(id) ?? {
      ns,
      parent: undefined,
      entryId: undefined,
      endId: null,
      writeIds: [],
    };
    this.#namespaces.set(ns, all.set(id, known));
    return known;
  }
}

function valueKey(ns: string, channel: string, version: number | string | undefined): string {
  return JSON.stringify([ns, channel, version]);
}

/** Decoding boundary: only this file writes such entries. */
function checkpointOf(entry: SessionEntry | undefined): CheckpointData | undefined {
  const data = entry?.type === "custom" && entry.customType === checkpointType && entry.data;
  return isCheckpoint(data) ? data : undefined;
}

function isCheckpoint(data: unknown): data is CheckpointData {
  return isObject(data) && stringAt(data, "ns") !== undefined && isObject(data["values"]);
}

function writesOf(entry: SessionEntry | undefined): WritesData | undefined {
  const data = entry?.type === "custom" && entry.customType === writesType && entry.data;
  return isWrites(data) ? data : undefined;
}

function isWrites(data: unknown): data is WritesData {
  return (
    isObject(data) && stringAt(data, "checkpoint") !== undefined && Array.isArray(data["writes"])
  );
}
