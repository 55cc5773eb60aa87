/**
 * A session: one open log and a leaf in it. What it can be asked is its view; it appends and moves;
 * here it can be watched, what it does itself and what other processes do alike.
 */
import type { Observable } from "@branchlog/streaming";
import type { SessionHeader } from "../entries/entry-types.ts";
import type { Diagnostic } from "../index-table/diagnostics.ts";
import type { Labels } from "../projections/labels.ts";
import type { Projection } from "../projections/projection.ts";
import type { PathSettings } from "../projections/settings.ts";
import type { SessionSummary } from "../projections/summary.ts";
import type { Envelope } from "../projections/tree.ts";
import type { SessionTurn } from "../projections/turns.ts";
import type { SessionUsage } from "../projections/usage.ts";
import type { Engine } from "../session/engine.ts";
import { LeafCursor } from "../append/leaf-cursor.ts";
import { SessionWriter } from "../session/session-writer.ts";
import type { EntryEvent, EntryEventOptions } from "./entry-events.ts";
import type { ListView } from "./list-view.ts";
import type { LiveContext } from "./live-context.ts";
import type { LiveTree } from "./live-tree.ts";
import type { Live } from "./live-value.ts";
import { endLive, live } from "./live.ts";
import type { LiveViews } from "./live-views.ts";
import type { LiveStatus } from "./log-watch.ts";
import type { SessionSnapshot } from "./session-snapshot.ts";
import type { WaitTarget, WaitOptions } from "./wait-for.ts";
import { makeWatchable } from "./watched-session.ts";

/**
 * See the file comment. Made by `openSession`, `createSession` and `memorySession`.
 *
 * What ends in `$` is an observable. Values are hot: the current one at once, then one for each
 * batch of changes that made it another; each says the revision that it is of. While somebody
 * subscribes, the file is watched and the process stays alive. All complete when the session is
 * closed; who subscribes later gets the last value and the end. `entries$` has no last value, and
 * fails with `ERR_CLOSED` then.
 */
export class Session extends SessionWriter {
  #isClosed = false;

  /** @internal Sessions are opened, not constructed. */
  constructor(engine: Engine, { follow = true }: { readonly follow?: boolean } = {}) {
    const { changes } = engine;
    const leaf = new LeafCursor(follow, engine.tailId, changes.notify);
    super(engine, leaf);
    const refresh = (): void => {
      engine.refreshSync();
      leaf.sawTail(engine.tailId);
      // A leaf that follows stands on what others appended; a pinned one has not looked.
      if (leaf.following) engine.appender.markSeen();
    };
    const isClosed = (): boolean => this.#isClosed;
    makeWatchable(this, {
      engine,
      leaf,
      changes,
      refresh,
      get isClosed() {
        return isClosed();
      },
    });
  }

  get #live(): LiveViews {
    return live(this);
  }

  /** Where the session stands: the id of an entry, or null before the first. */
  get leaf$(): Observable<Live<string | null>> {
    return this.#live.leaf$;
  }

  /** The entries without children, in file order. */
  get tips$(): Observable<Live<ListView<Envelope>>> {
    return this.#live.tips$;
  }

  /** The tree, with what changed in it. A change costs what changed, not what the tree is. */
  get tree$(): Observable<Live<LiveTree>> {
    return this.#live.tree$;
  }

  /** The labels in force, by the id of their target, first labelled first. */
  get labels$(): Observable<Live<Labels>> {
    return this.#live.labels$;
  }

  /** The name of the session, or undefined. */
  get name$(): Observable<Live<string | undefined>> {
    return this.#live.name$;
  }

  /** Model and thinking level at the leaf. */
  get settings$(): Observable<Live<PathSettings>> {
    return this.#live.settings$;
  }

  /** The header as stored. */
  get header$(): Observable<Live<SessionHeader>> {
    return this.#live.header$;
  }

  /** What was found wrong with the log. */
  get diagnostics$(): Observable<Live<readonly Diagnostic[]>> {
    return this.#live.diagnostics$;
  }

  /** How what is shown stands to the file; errors that may pass are here. */
  get status$(): Observable<Live<LiveStatus>> {
    return this.#live.status$;
  }

  /** What the model gets at the leaf. Its bodies are read when the first subscribes. */
  get context$(): Observable<Live<LiveContext>> {
    return this.#live.context$;
  }

  /** The turns on the path to the leaf. An append costs what it adds. */
  get turns$(): Observable<Live<ListView<SessionTurn>>> {
    return this.#live.turns$;
  }

  /** Token and cost totals of the log. One pass over its bodies when the first subscribes. */
  get usage$(): Observable<Live<SessionUsage>> {
    return this.#live.usage$;
  }

  /** Message count, first message, last activity; one pass, as for `usage$`. */
  get summary$(): Observable<Live<SessionSummary>> {
    return this.#live.summary$;
  }

  /**
   * Every entry from a revision on, once and in order, then those that come, of whatever process;
   * no gap and no duplicate. An observable pushes: what a subscriber does not take at once, it has
   * to keep. To read much, use {@link Session.events}.
   */
  entries$(options: Omit<EntryEventOptions, "signal"> = {}): Observable<EntryEvent> {
    return this.#live.entries$(options);
  }

  /**
   * As {@link Session.entries$}, pulled: nothing is read that nobody asked for.
   * @throws BranchlogError `ERR_CLOSED` if the session was closed before the first was asked for.
   */
  events(options: EntryEventOptions = {}): AsyncGenerator<EntryEvent, void, undefined> {
    return this.#live.events(options);
  }

  /** The state of a fold of your own over all entries. One pass over the bodies that it names. */
  project<S>(projection: Projection<S>): Promise<S> {
    return this.#live.project(projection);
  }

  /**
   * The same, kept up to date for all who subscribe to what this returns: only what is new is read.
   * Another call folds anew.
   */
  project$<S>(
    projection: Projection<S>,
    isSame?: (one: S, other: S) => boolean,
  ): Observable<Live<S>> {
    return this.#live.project$(projection, isSame);
  }

  /** What a function makes of the session, whenever that is another; it must not change it. */
  select<T>(
    read: (session: this) => T,
    isSame?: (one: T, other: T) => boolean,
  ): Observable<Live<T>> {
    return this.#live.select(() => this.reading(() => read(this)), isSame);
  }

  /** What the index answers, all of the same moment. */
  snapshot(): SessionSnapshot {
    return this.#live.snapshot();
  }

  /**
   * Resolves once the log holds so many entries, or an entry with that id, whoever appends it.
   * @throws BranchlogError `ERR_WAIT_TIMEOUT`; `ERR_CLOSED` if the session is closed before. The
   * signal's reason.
   */
  async waitFor(what: WaitTarget, options: WaitOptions = {}): Promise<void> {
    await this.#live.waitFor(what, options);
  }

  override async close(): Promise<void> {
    try {
      await super.close();
    } finally {
      this.#isClosed = true;
      endLive(this);
    }
  }
}
