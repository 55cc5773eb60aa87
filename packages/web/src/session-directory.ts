/**
 * The sessions that the page knows, live, by keys that are not paths; and those that are open. A
 * request names a session only by a key of this list.
 */
import { createHash } from "node:crypto";
import { BranchlogError } from "@branchlog/core";
import type { ListedActivity, ListedSession } from "@branchlog/library";
import type { StoredSession } from "@branchlog/core";
import { recordsTokens } from "@branchlog/library/catalogs";
import { sessions$ } from "@branchlog/library/live";
import type { LiveSessions } from "@branchlog/library/live";
import type { ListingStore } from "@branchlog/core/types";
import { estimateOf } from "@branchlog/tools";
import type { SessionActivity, SessionItem } from "./api.ts";
import { ShownSession } from "./shown-session.ts";

/** Where sessions are: directories with all below, or a store. */
export type ShownPlace = readonly string[] | { readonly store: ListingStore };

export interface ListChange {
  readonly changed: readonly SessionItem[];
  readonly removed: readonly string[];
  readonly isComplete: boolean;
}

/** Of first messages: a list of thousands is one answer. */
const firstUnitsMax = 600;

const noEstimate = { cost: undefined, estimated: 0 } as const;

/** Sessions that are kept open after the last page went to another one. */
const openMax = 12;

/** How long a new fork is waited for. One outside of the place is never listed. */
const listedMs = 3_000;

export class SessionDirectory {
  readonly #place: ShownPlace;
  readonly #known = new Map<string, SessionItem>();
  readonly #followers: (() => void)[] = [];
  readonly #listeners = new Set<(change: ListChange) => void>();
  readonly #open = new Map<string, Promise<ShownSession>>();
  /** Open, and to be closed when its last user ends. */
  readonly #outdated = new Set<string>();
  readonly #users = new Map<string, number>();
  #isComplete = false;
  #end: () => void = () => undefined;

  constructor(place: ShownPlace) {
    this.#place = place;
  }

  /** Resolves once all sessions are known. Rejects with what the list fails with before that. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const subscription = sessions$(this.#place, { catalog: "auto" }).subscribe({
        next: (live) => {
          this.#take(live);
          if (live.status.kind === "live") resolve();
          if (live.status.kind === "stalled") reject(errorOf(live.status.error));
        },
        error: reject,
      });
      this.#end = () => subscription.unsubscribe();
    });
  }

  #tell(change: ListChange): void {
    for (const follow of this.#followers) follow();
    for (const listener of this.#listeners) listener(change);
  }

  async close(): Promise<void> {
    this.#end();
    const sessions = [...this.#open.values()];
    this.#open.clear();
    for (const session of sessions) await (await session.catch(() => undefined))?.close();
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Latest change first. */
  items(): readonly SessionItem[] {
    return [...this.#known.values()].toSorted((one, other) => other.modifiedMs - one.modifiedMs);
  }

  /** Throws `ERR_SESSION_NOT_FOUND`. */
  item(key: string): SessionItem {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const message = "This session no longer exists: it was deleted or moved. Go to the list.";
    throw new BranchlogError("ERR_SESSION_NOT_FOUND", message, { id: key });
  }

  keyOf(path: string): string | undefined {
    const key = keyOfPath(path);
    return this.#known.has(key) ? key : undefined;
  }

  /** As {@link SessionDirectory.keyOf}, for a new session: waits until it is listed. */
  async listedKey(path: string): Promise<string | undefined> {
    if (this.keyOf(path) === undefined) {
      await new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          ignore();
          resolve();
        };
        const timer = setTimeout(end, listedMs);
        const ignore = this.onChange(() => {
          if (this.keyOf(path) !== undefined) end();
        });
      });
    }
    return this.keyOf(path);
  }

  onChange(listener: (change: ListChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** As {@link SessionDirectory.onChange}, for as long as the directory is there. */
  follow(follower: () => void): void {
    this.#followers.push(follower);
  }

  /** Its name, otherwise its first prompt; for an unlisted one a placeholder. */
  titleOf(key: string): string {
    const item = this.#known.get(key);
    // It is listed in a moment, or is gone.
    if (item === undefined) return "(not listed)";
    return item.name ?? item.firstPrompt ?? item.firstMessage ?? "(no messages)";
  }

  agentOf(key: string): string | undefined {
    return this.#known.get(key)?.agent;
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /**
   * Runs work on an open session, which is opened first if need be, and closed once many others
   * were opened since. Throws `ERR_SESSION_NOT_FOUND`, and as `openSession`.
   */
  async using<T>(key: string, work: (session: ShownSession) => Promise<T>): Promise<T> {
    const release = this.hold(key);
    try {
      return await work(await release.session);
    } finally {
      release.end();
    }
  }

  /** As {@link SessionDirectory.using}, until it is ended. */
  hold(key: string): { readonly session: Promise<ShownSession>; readonly end: () => void } {
    const open = this.#open.get(key) ?? this.#openAt(this.item(key));
    // The last used one is the last in the map.
    this.#open.delete(key);
    this.#open.set(key, open);
    this.#users.set(key, (this.#users.get(key) ?? 0) + 1);
    let isHeld = true;
    const end = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#users.set(key, (this.#users.get(key) ?? 1) - 1);
      if (this.#outdated.has(key)) this.#outdate(key);
      this.#closeUnused();
    };
    return { session: open, end };
  }

  /** What opens it: its path, or where it is in the store. */
  sourceOf({ path }: SessionItem): string | StoredSession {
    const place = this.#place;
    if (!("store" in place)) return path;
    return { store: place.store, id: path.slice(path.lastIndexOf("#") + 1) };
  }

  #openAt(item: SessionItem): Promise<ShownSession> {
    const { key } = item;
    const open = ShownSession.open(this.sourceOf(item));
    open.catch(() => this.#open.delete(key));
    return open;
  }

  #closeUnused(): void {
    for (const [key, open] of this.#open) {
      if (this.#open.size <= openMax) return;
      if ((this.#users.get(key) ?? 0) > 0) continue;
      this.#forget(key, open);
    }
  }

  /** What was opened is outdated: it is dropped once no page uses it. */
  #outdate(key: string): void {
    const open = this.#open.get(key);
    if (open === undefined) return;
    if ((this.#users.get(key) ?? 0) > 0) this.#outdated.add(key);
    else this.#forget(key, open);
  }

  /** One that no page follows does not notice it, and would keep the former file open. */
  #dropReplaced(key: string): void {
    const open = this.#open.get(key);
    if (open === undefined || "store" in this.#place) return;
    const drop = (session: ShownSession): void => {
      const isUnused = (this.#users.get(key) ?? 0) === 0 && this.#open.get(key) === open;
      if (isUnused && session.isReplaced) this.#forget(key, open);
    };
    // What cannot be read is reported to its caller.
    open.then(drop).catch(() => undefined);
  }

  #forget(key: string, open: Promise<ShownSession>): void {
    this.#open.delete(key);
    this.#users.delete(key);
    this.#outdated.delete(key);
    void open.then(
      (session) => session.close(),
      () => undefined,
    );
  }

  #take({ sessions, added, changed, removed, status }: LiveSessions): void {
    this.#isComplete = status.kind !== "catching-up";
    const keys = keysById(sessions);
    const fresh = [...added, ...changed].map((session) => itemOf(session, keys));
    for (const item of fresh) this.#known.set(item.key, item);
    const gone = removed.map(({ path }) => keyOfPath(path));
    for (const key of gone) {
      this.#known.delete(key);
      this.#outdate(key);
    }
    for (const { path } of changed) this.#dropReplaced(keyOfPath(path));
    this.#tell({ changed: fresh, removed: gone, isComplete: this.#isComplete });
  }
}

/** Of the machine's paths nothing is in it. */
export function keyOfPath(path: string): string {
  return createHash("sha256").update(path).digest("base64url").slice(0, 22);
}

function keysById(sessions: readonly ListedSession[]): ReadonlyMap<string, string> {
  return new Map(sessions.map(({ header, path }) => [header.id, keyOfPath(path)]));
}

function itemOf(session: ListedSession, keys: ReadonlyMap<string, string>): SessionItem {
  const { path, header, name, summary, usage, transcript, modifiedMs, sizeBytes = 0 } = session;
  const { dialect, activity } = session;
  const { messageCount = 0 } = summary;
  const { cost, estimated } = usage === undefined ? noEstimate : estimateOf(usage);
  // Decoding boundary: of the header only the id was checked.
  const { cwd, parentSession, branchedFrom }: Readonly<Record<string, unknown>> = { ...header };
  const parent = [parentSession, branchedFrom].find((one) => typeof one === "string") ?? "";
  // A moved session keeps its id in its file name.
  const parentId = /_([^_/\\]+)\.jsonl$/.exec(parent)?.[1] ?? parent;
  return {
    key: keyOfPath(path),
    path,
    id: header.id,
    name: name ?? null,
    firstMessage: summary.firstMessage?.slice(0, firstUnitsMax) ?? null,
    firstPrompt: activity?.firstPrompt?.slice(0, firstUnitsMax) ?? null,
    agent: transcript?.of ?? dialect,
    cwd: typeof cwd === "string" ? cwd : "",
    modifiedMs,
    sizeBytes,
    messageCount,
    tokens:
      usage !== undefined && recordsTokens(usage) ? usage.total.input + usage.total.output : null,
    models: usage?.models ?? [],
    parentKey: parent === "" ? null : (keys.get(parentId) ?? null),
    isSubagent: transcript?.isSubagent ?? false,
    isArchived: false,
    activity: activity === undefined ? null : activityOf(activity),
    cost: cost ?? null,
    isEstimate: estimated > 0,
  };
}

function activityOf(activity: ListedActivity): SessionActivity {
  const { turns, branchCount, startedMs = null, activeMs, counts, partMs } = activity;
  return { turns, branchCount, startedMs, activeMs, counts, partMs };
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
