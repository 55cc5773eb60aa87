/**
 * A session: one open log and a leaf in it. Its queries are in `SessionView`; here it appends and
 * moves, in the order of the calls. The promise of an append resolves once its bytes are in the
 * log.
 */
import type { AnyDraft, EntryDraft } from "../entries/entry-draft.ts";
import { requireOptions, requireText } from "../argument-checks.ts";
import { normalizeName } from "../entries/identifiers.ts";
import { AppendQueue } from "../append/queue.ts";
import type { AppendResult } from "../append/outcome.ts";
import { appendAllNames, appendNames, requestOf } from "../append/request.ts";
import type { AnyTypeOptions, AppendOptions } from "../append/request.ts";
import type { Engine } from "./engine.ts";
import { EngineAccess, SessionView } from "./session-view.ts";
import { LeafCursor } from "../append/leaf-cursor.ts";
import { makeWatchable } from "./watched-session.ts";
import { requireNode } from "./named-entry.ts";
import { recoverLog } from "./recovery.ts";
import type { Recovery } from "./recovery.ts";
import { runAsync } from "../store/steps.ts";
import { writeTitle } from "./title-write.ts";

/**
 * See the file comment. Made by `openSession`, `createSession` and `memorySession`; `live(session)`
 * of `@branchlog/core/live` gives its observables.
 */
export class Session extends SessionView {
  readonly #access: EngineAccess;
  readonly #leaf: LeafCursor;
  readonly #queue: AppendQueue;

  #isClosed = false;

  /** @internal Sessions are opened, not constructed. */
  constructor(engine: Engine, { follow = true }: { readonly follow?: boolean } = {}) {
    const { changes } = engine;
    const leaf = new LeafCursor(follow, engine.tailId, changes.notify);
    const access = new EngineAccess(engine);
    super(access, leaf);
    this.#access = access;
    this.#leaf = leaf;
    this.#queue = new AppendQueue(engine.appender, leaf);
    makeWatchable(this, {
      engine,
      leaf,
      changes,
      refresh: () => {
        engine.refreshSync();
        leaf.sawTail(engine.tailId);
        // A leaf that follows is at what others appended; a pinned one has not read it.
        if (leaf.following) engine.appender.markSeen();
      },
      reading: (read) => access.reading(read),
      isClosed: () => this.#isClosed,
    });
  }

  /**
   * Appends one entry. Resolves once it is in the log. Its type is one of pi or omp, or has a
   * namespace, as `x:note`; with `allowUnknownType` it may be any.
   * @throws BranchlogError `ERR_UNSERIALIZABLE`, `ERR_INVALID_ARGUMENT`, `ERR_READ_ONLY`,
   * `ERR_CONFLICT`, `ERR_DIVERGED`, `ERR_DUPLICATE_ID`, `ERR_ENTRY_NOT_FOUND`, `ERR_LOCK_TIMEOUT`,
   * `ERR_LOG_GONE`, `ERR_APPEND_FAILED`, `ERR_APPEND_UNCERTAIN`, `ERR_MIGRATION`,
   * `ERR_VERSION_NEWER`, `ERR_CLOSED`, `ERR_QUEUE_FULL`, `ERR_DURABILITY_UNKNOWN`.
   */
  append(draft: EntryDraft, options?: AppendOptions): Promise<AppendResult>;
  append(draft: AnyDraft, options: AnyTypeOptions): Promise<AppendResult>;
  async append(draft: AnyDraft, options: AppendOptions = {}): Promise<AppendResult> {
    const checked = requireOptions(options, appendNames);
    const [result] = await this.#append([draft], checked);
    if (result === undefined) throw new Error("an append without a result");
    return result;
  }

  /** Appends entries as one write, each the parent of the next, as {@link Session.append}. */
  appendAll(
    drafts: readonly EntryDraft[],
    options?: Omit<AppendOptions, "id">,
  ): Promise<readonly AppendResult[]>;
  appendAll(
    drafts: readonly AnyDraft[],
    options: AnyTypeOptions<Omit<AppendOptions, "id">>,
  ): Promise<readonly AppendResult[]>;
  async appendAll(
    drafts: readonly AnyDraft[],
    options: Omit<AppendOptions, "id"> = {},
  ): Promise<readonly AppendResult[]> {
    return this.#append(drafts, requireOptions(options, appendAllNames));
  }

  /**
   * Names the session; an empty name clears it. It goes into the title slot if the log has one, as
   * new logs of omp do, else into an entry, which is returned.
   * @throws BranchlogError as {@link Session.append}.
   */
  async setName(
    name: string,
    options: Pick<AppendOptions, "signal"> = {},
  ): Promise<AppendResult | null> {
    const engine = this.#open();
    const title = normalizeName(requireText("The name", name));
    const { signal } = requireOptions(options, { signal: true });
    if (engine.log.state.titleSlot === undefined) {
      return this.append({ type: "session_info", name: title }, options);
    }
    const { clock } = engine.settings.ports;
    await this.#queue.run(() => runAsync(writeTitle(engine, title, "user"), clock, signal));
    // An empty slot leaves the naming to the entries.
    const isNamed = title === "" && engine.log.state.name !== undefined;
    return isNamed ? this.append({ type: "session_info", name: "" }, options) : null;
  }

  /**
   * Moves the leaf once the appends asked for before are done, in memory only; `persist` appends a
   * `custom` entry there, which becomes the leaf of programs that open the log later.
   * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, also for an entry whose line is damaged;
   * `ERR_INVALID_ARGUMENT`.
   */
  async moveTo(id: string | null, options: { readonly persist?: boolean } = {}): Promise<void> {
    const engine = this.#open();
    const { persist = false } = requireOptions(options, { persist: true });
    await this.#queue.run(() => {
      if (id !== null) requireNode(engine, id);
      this.#leaf.pin(id);
      engine.appender.markSeen();
    });
    if (!persist) return;
    await this.append({ type: "custom", customType: "branchlog.leaf" }, { parent: { id } });
  }

  /**
   * Makes the leaf the last entry of the log once the appends asked for before are done, and keeps
   * it there until an append or a move.
   */
  async follow(): Promise<void> {
    const engine = this.#open();
    await this.#queue.run(() => {
      this.#leaf.follow(engine.tailId);
      engine.appender.markSeen();
    });
  }

  /** Reads what others appended; a following leaf moves to the new tail. */
  async refresh(): Promise<void> {
    const engine = this.#open();
    await this.#queue.run(() => {
      engine.refreshSync();
      this.#leaf.sawTail(engine.tailId);
      engine.appender.markSeen();
    });
  }

  /** Writes back a log that is gone, and what a failed sync left in doubt; see `recoverLog`. */
  async recover(): Promise<Recovery> {
    const engine = this.#open();
    return this.#queue.run(() => recoverLog(engine));
  }

  /** Waits until appends under way are as durable as promised, then refuses further use. */
  async close(): Promise<void> {
    const { durability, checkpoints, release, changes } = this.#access.engine;
    this.#access.close();
    try {
      await this.#queue.idle();
      await durability.flush();
    } finally {
      try {
        await checkpoints.close();
        release();
      } finally {
        this.#isClosed = true;
        changes.notify();
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #append(drafts: readonly AnyDraft[], options: AppendOptions): Promise<readonly AppendResult[]> {
    const request = requestOf(this.#open().appender, drafts, options);
    return this.#queue.append(request, options.signal);
  }

  #open(): Engine {
    return this.#access.open();
  }
}
