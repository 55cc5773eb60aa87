/**
 * The sessions of a store as last read. A refresh asks for their ends, and reads only those that
 * changed, each whole.
 */
import { isBranchlogError } from "@branchlog/core";
import type { StoredFacts, StoredLog } from "@branchlog/core/types";
import { comesBefore } from "./directory-catalog.ts";
import type { CatalogRefresh } from "./directory-catalog.ts";
import { Ranking, listedSession } from "./listed-session.ts";
import type { ListedSession } from "./listed-session.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { FactsReader } from "./session-facts.ts";
import { bytesSource, storedBytes } from "./stored-bytes.ts";

/** How the sessions of a store are read. */
export interface StoreReading {
  list(signal: AbortSignal | undefined): AsyncIterable<ListedFacts> | Iterable<ListedFacts>;
  open(stored: StoredFacts, signal: AbortSignal | undefined): Promise<StoredLog> | StoredLog;
}

export interface ListedFacts extends StoredFacts {
  /** The list facts, if known without reading the log. */
  readonly session?: ListedSession;
}

interface KnownSession {
  /** What was read. */
  readonly stored: ListedFacts;
  /** Undefined: it is not one. */
  readonly session: ListedSession | undefined;
}

/** Each is in memory while it is read. */
const readAtOnceMax = 2;

export class StoredCatalog {
  readonly unlisted: readonly string[] = [];
  readonly #reading: StoreReading;
  /** By name: several versions in an archive have one address. */
  readonly #known = new Map<string, KnownSession>();
  readonly #ranking = new Ranking(comesBefore);

  constructor(reading: StoreReading) {
    this.#reading = reading;
  }

  /** Hints at single sessions are not followed. */
  listedPath(): null {
    return null;
  }

  /** Latest change first; the array is the caller's. */
  sessions(): ListedSession[] {
    return this.#ranking.items();
  }

  /** Reads the sessions that changed last first. Throws what the store throws. */
  async refresh({
    onChange,
    onRefreshed,
    signal,
  }: Pick<CatalogRefresh, "onChange" | "onRefreshed" | "signal">): Promise<void> {
    const all: ListedFacts[] = [];
    for await (const stored of this.#reading.list(signal)) all.push(stored);
    all.sort((one, other) => other.changedAt.getTime() - one.changedAt.getTime());
    const there = new Set(all.map(({ name }) => name));
    for (const [name, { session }] of this.#known) {
      if (there.has(name)) continue;
      this.#known.delete(name);
      this.#rank(session, undefined, onChange);
    }
    await mapConcurrently(all, { atOnceMax: readAtOnceMax, signal }, async (stored, index) => {
      const known = this.#known.get(stored.name);
      const isSame = known !== undefined && isUnchanged(known.stored, stored);
      const session = isSame ? known.session : await readStored(this.#reading, stored, signal);
      this.#known.set(stored.name, { stored, session });
      this.#rank(known?.session, session, onChange);
      onRefreshed?.({ session, index, total: all.length });
    });
  }

  #rank(
    before: ListedSession | undefined,
    now: ListedSession | undefined,
    onChange: CatalogRefresh["onChange"],
  ): void {
    if (before === now) return;
    if (before !== undefined) this.#ranking.remove(before);
    if (now !== undefined) this.#ranking.add(now);
    onChange?.({ before, now });
  }
}

/** Undefined: it is not a session, or was removed meanwhile. Throws what the store throws. */
export async function readStored(
  reading: Pick<StoreReading, "open">,
  stored: ListedFacts,
  signal: AbortSignal | undefined,
): Promise<ListedSession | undefined> {
  if (stored.session !== undefined) return stored.session;
  try {
    const log = await reading.open(stored, signal);
    const bytes = await storedBytes(log, signal);
    const { address: path, changedAt } = stored;
    const facts = await new FactsReader().readOn(bytesSource(bytes), bytes.length, {
      signal,
      path,
    });
    const mtimeMs = changedAt.getTime();
    return facts && listedSession({ path, size: bytes.length, mtimeMs }, facts);
  } catch (error) {
    if (isBranchlogError(error) && !error.code.startsWith("ERR_STORE_")) return undefined;
    throw error;
  }
}

function isUnchanged(one: StoredFacts, other: StoredFacts): boolean {
  const isSameTime = one.changedAt.getTime() === other.changedAt.getTime();
  return isSameTime && one.sizeBytes === other.sizeBytes;
}
