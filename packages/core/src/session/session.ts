/** A session: one open log and a leaf in it. */
import { runAsync } from "@branchlog/streaming";
import type { AppendResult } from "../append/append-result.ts";
import { LeafCursor } from "../append/leaf-cursor.ts";
import { AppendQueue } from "../append/queue.ts";
import { appendAllNames, appendNames } from "../append/append-options.ts";
import { requestOf } from "../append/request.ts";
import type { AnyTypeOptions, AppendAllOptions, AppendOptions } from "../append/append-options.ts";
import { requireOptions, requireText } from "../argument-checks.ts";
import type { AnyDraft, EntryDraft } from "../entries/entry-draft.ts";
import { normalizeName } from "../entries/identifiers.ts";
import type { Engine } from "./engine.ts";
import { requireNode } from "./entry-query.ts";
import { recoverLog } from "./recovery.ts";
import type { Recovery } from "./recovery.ts";
import { SessionView } from "./session-view.ts";
import { writeTitle } from "./title-write.ts";
import { EngineAccess, makeWatchable } from "./watched-session.ts";

/** Made by `openSession`, `createSession` and `memorySession`; see `live()` for its observables. */
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
      onCaughtUp: () => {
        leaf.onCaughtUp(engine.tailId);
        // A following leaf is at what others appended; a pinned one has not read it.
        if (leaf.following) engine.appender.marks.advanceReadCursor();
      },
      reading: (read) => access.reading(read),
      isClosed: () => this.#isClosed,
    });
  }

  /**
   * Appends one entry. Resolves once it is in the log. Its type is one of pi or omp, or has a
   * namespace, as `x:note`; with `allowUnknownType` it can be any.
   * @throws BranchlogError `ERR_UNSERIALIZABLE`, `ERR_INVALID_ARGUMENT`, `ERR_READ_ONLY`,
   * `ERR_CONFLICT`, `ERR_DIVERGED`, `ERR_DUPLICATE_ID`, `ERR_ENTRY_NOT_FOUND`, `ERR_LOCK_TIMEOUT`,
   * `ERR_LOG_GONE`, `ERR_APPEND_FAILED`, `ERR_APPEND_UNCERTAIN`, `ERR_MIGRATION`,
   * `ERR_VERSION_NEWER`, `ERR_CLOSED`, `ERR_QUEUE_FULL`, `ERR_DURABILITY_UNKNOWN`.
   */
  append(draft: EntryDraft, options?: AppendOptions): Promise<AppendResult>;
  append(draft: AnyDraft, options: AnyTypeOptions): Promise<AppendResult>;
  async append(draft: AnyDraft, options: AppendOptions = {}): Promise<AppendResult> {
    const { id, ...rest } = requireOptions(options, appendNames);
    const [result] = await this.#append([draft], { ...rest, ids: id === undefined ? id : [id] });
    if (result === undefined) throw new Error("an append without a result");
    return result;
  }

  /** Appends entries as one write, each the parent of the next, as {@link Session.append}. */
  appendAll(
    drafts: readonly EntryDraft[],
    options?: AppendAllOptions,
  ): Promise<readonly AppendResult[]>;
  appendAll(
    drafts: readonly AnyDraft[],
    options: AnyTypeOptions<AppendAllOptions>,
  ): Promise<readonly AppendResult[]>;
  async appendAll(
    drafts: readonly AnyDraft[],
    options: AppendAllOptions = {},
  ): Promise<readonly AppendResult[]> {
    return this.#append(drafts, requireOptions(options, appendAllNames));
  }

  /**
   * Names the session, in the title slot or else in an entry, which is returned; an empty name
   * clears it. Throws as {@link Session.append}.
   */
  async setName(
    name: string,
    options: Pick<AppendOptions, "signal"> = {},
  ): Promise<AppendResult | null> {
    const engine = this.#access.open();
    const title = normalizeName(requireText("The name", name));
    const { signal } = requireOptions(options, { signal: true });
    if (engine.log.state.titleSlot === undefined) {
      return this.append({ type: "session_info", name: title }, options);
    }
    await this.#queue.run(() => runAsync(writeTitle(engine, title, "user"), signal));
    // An empty slot leaves the naming to the entries.
    const isNamed = title === "" && engine.log.state.name !== undefined;
    return isNamed ? this.append({ type: "session_info", name: "" }, options) : null;
  }

  /**
   * Moves the leaf once earlier appends are done, in memory only; `persist` appends a `custom`
   * entry there, the leaf of programs that open the log later. Throws `ERR_ENTRY_NOT_FOUND`, also
   * for a damaged entry; `ERR_INVALID_ARGUMENT`.
   */
  async moveTo(id: string | null, options: { readonly persist?: boolean } = {}): Promise<void> {
    const engine = this.#access.open();
    const { persist = false } = requireOptions(options, { persist: true });
    await this.#queue.run(() => {
      if (id !== null) requireNode(engine, id);
      this.#leaf.pin(id);
      engine.appender.marks.advanceReadCursor();
    });
    if (!persist) return;
    await this.append({ type: "custom", customType: "branchlog.leaf" }, { parent: { id } });
  }

  /** Once earlier appends are done, makes the leaf follow the tail until an append or a move. */
  async follow(): Promise<void> {
    const engine = this.#access.open();
    await this.#queue.run(() => {
      this.#leaf.follow(engine.tailId);
      engine.appender.marks.advanceReadCursor();
    });
  }

  /** Reads what others appended; a following leaf moves to the new tail. */
  async refresh(): Promise<void> {
    const engine = this.#access.open();
    await this.#queue.run(async () => {
      await engine.refresh();
      this.#leaf.onCaughtUp(engine.tailId);
      engine.appender.marks.advanceReadCursor();
    });
  }

  /**
   * Writes back a deleted log, and entries that a failed sync left unsynced. Throws `ERR_LOG_GONE`
   * if the log is no longer open here; `ERR_DURABILITY_UNKNOWN` if the disk fails again.
   */
  async recover(): Promise<Recovery> {
    const engine = this.#access.open();
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

  #append(
    drafts: readonly AnyDraft[],
    options: AppendAllOptions,
  ): Promise<readonly AppendResult[]> {
    const request = requestOf(this.#access.open().appender, drafts, options);
    return this.#queue.append(request, options.signal);
  }
}
