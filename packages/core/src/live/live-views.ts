/**
 * The observables of one session. Values are hot: the current one at once, then one for each batch
 * of own or foreign changes that made it another, with its revision. `entries$` is cold: every
 * entry once. Without subscribers nothing is watched, read or kept up to date; with one, the
 * process stays alive. All complete when the session is closed; a later subscriber gets the last
 * value and the completion, one of `entries$` fails with `ERR_CLOSED`.
 */
import { isDeepStrictEqual } from "node:util";
import type { Observable } from "rxjs";
import { requireOptions } from "../argument-checks.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import type { Diagnostic } from "../index-table/diagnostics.ts";
import type { Labels } from "../projections/labels.ts";
import type { Projection } from "../projections/projection.ts";
import { settingsOfPath } from "../projections/settings.ts";
import type { PathSettings } from "../projections/settings.ts";
import { summary } from "../projections/summary.ts";
import type { SessionSummary } from "../projections/summary.ts";
import type { Envelope } from "../projections/tree.ts";
import type { SessionUsage } from "../projections/usage.ts";
import { BodyFold, usageFold } from "../session/body-fold.ts";
import { SettingsMemo } from "../session/path-fold.ts";
import { sessionClosed } from "../session/watched-session.ts";
import {
  EndableGenerator,
  entryEventNames,
  entryEvents,
  pushedEventNames,
} from "./entry-events.ts";
import type { EntryEvent, EntryEventOptions } from "./entry-events.ts";
import type { ListView } from "./list-view.ts";
import { LiveContexts, isSameContext, isSameSettings } from "./live-context.ts";
import type { LiveContext } from "./live-context.ts";
import type { LiveHub } from "./live-hub.ts";
import { LiveLabels } from "./live-labels.ts";
import { TreeViews } from "./live-tree.ts";
import type { LiveTree } from "./live-tree.ts";
import { observableOf } from "./live-value.ts";
import type { Live } from "./live-value.ts";
import type { LiveStatus } from "./log-watch.ts";
import { waitFor } from "./wait-for.ts";
import type { WaitOptions, WaitTarget } from "./wait-for.ts";

/** The observables of one session; `live(session)` returns them. */
export class LiveViews {
  /** The id of an entry, or null before the first. */
  readonly leaf$: Observable<Live<string | null>>;
  /** The entries without children, in file order. */
  readonly tips$: Observable<Live<ListView<Envelope>>>;
  readonly tree$: Observable<Live<LiveTree>>;
  /** Labels in force, by the id of their target. */
  readonly labels$: Observable<Live<Labels>>;
  readonly name$: Observable<Live<string | undefined>>;
  readonly settings$: Observable<Live<PathSettings>>;
  readonly header$: Observable<Live<SessionHeader>>;
  /** Damage that was found in the log. */
  readonly diagnostics$: Observable<Live<readonly Diagnostic[]>>;
  /** How current the values are; transient errors are here. */
  readonly status$: Observable<Live<LiveStatus>>;
  /** The context of the model at the leaf. Bodies are read when the first subscribes. */
  readonly context$: Observable<Live<LiveContext>>;
  /** Token and cost totals of the log. One pass over its bodies when the first subscribes. */
  readonly usage$: Observable<Live<SessionUsage>>;
  /** Message count, first message, last activity; as {@link LiveViews.usage$}. */
  readonly summary$: Observable<Live<SessionSummary>>;
  readonly #hub: LiveHub;

  /** @internal Of a `Session`, or by `live`. */
  constructor(hub: LiveHub) {
    this.#hub = hub;
    const tree = new TreeViews(() => hub.engine.index);
    const labels = new LiveLabels();
    const contexts = new LiveContexts();
    const folded = (): LiveHub["engine"]["log"]["state"]["folded"] => hub.engine.log.state.folded;
    this.leaf$ = hub.value(() => hub.leaf.id);
    this.tips$ = hub.value(() => tree.tips());
    this.tree$ = hub.value(() => tree.tree());
    this.labels$ = hub.value(() => labels.read(folded()));
    this.name$ = hub.value(() => hub.engine.log.state.name);
    this.header$ = hub.value(() => hub.engine.header, isDeepStrictEqual);
    this.diagnostics$ = hub.value(() => hub.engine.diagnostics, isSameList);
    this.status$ = hub.value(() => hub.status);
    const settings = new SettingsMemo();
    const settingsNow = (): PathSettings => settings.at(hub.engine, hub.leaf.id);
    this.settings$ = hub.value(settingsNow, isSameSettings);
    const context = (): Promise<LiveContext> => contexts.at(hub.engine, hub.leaf.id);
    this.context$ = hub.computation(context, isSameContext);
    const usage = (): Promise<SessionUsage> => usageFold(hub.engine).value();
    this.usage$ = hub.computation(usage, isDeepStrictEqual);
    this.summary$ = this.project$(summary, isDeepStrictEqual);
  }

  /**
   * Every entry from a revision on, once and in order, then new ones, of any process. Entries that
   * a subscriber does not take at once are buffered; to read much, use {@link LiveViews.events}.
   */
  entries$(options: Omit<EntryEventOptions, "signal"> = {}): Observable<EntryEvent> {
    const checked = requireOptions(options, pushedEventNames);
    return observableOf((signal) => this.events({ ...checked, signal }));
  }

  /** As {@link LiveViews.entries$}, pulled: nothing is read before it is asked for. */
  events(options: EntryEventOptions = {}): AsyncGenerator<EntryEvent, void, undefined> {
    const ending = new AbortController();
    const { signal } = requireOptions(options, entryEventNames);
    const either = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
    const events = this.#events({ ...options, signal: either }, () => signal?.aborted !== true);
    return new EndableGenerator(events, () => ending.abort());
  }

  /** The state of a custom fold over all entries. One pass over the bodies that it names. */
  project<S>(projection: Projection<S>): Promise<S> {
    return new BodyFold(this.#hub.engine, projection).value();
  }

  /**
   * The same, kept up to date for all subscribers of the returned observable by reading only new
   * entries. Another call folds again.
   */
  project$<S>(
    projection: Projection<S>,
    isSame?: (one: S, other: S) => boolean,
  ): Observable<Live<S>> {
    let fold: BodyFold<S> | undefined;
    let engine = this.#hub.engine;
    const compute = (): Promise<S> => {
      if (fold === undefined || engine !== this.#hub.engine) {
        engine = this.#hub.engine;
        fold = new BodyFold(engine, projection);
      }
      return fold.value();
    };
    return this.#hub.computation(compute, isSame);
  }

  /**
   * The value that a function derives from the session, whenever it differs; it must not change the
   * session.
   */
  select<T>(read: () => T, isSame?: (one: T, other: T) => boolean): Observable<Live<T>> {
    return this.#hub.value(() => this.#hub.reading(read), isSame);
  }

  /** Values of the index, all at the same moment. */
  snapshot(): SessionSnapshot {
    const { engine } = this.#hub;
    const leaf = this.#hub.leaf.id;
    const { log, header, tailId, index } = engine;
    const { revision, folded, name } = log.state;
    const isThere = leaf !== null && index.rowOfId(leaf) >= 0;
    return {
      generation: log.generation,
      revision,
      sizeBytes: log.size,
      header,
      leaf,
      tail: tailId,
      name,
      labels: new Map(folded.labels),
      settings: settingsOfPath(engine.pathView(isThere ? leaf : null)),
    };
  }

  /**
   * Resolves once the log holds so many entries, or an entry with that id, of any process.
   * @throws BranchlogError `ERR_WAIT_TIMEOUT`; `ERR_CLOSED` if the session is closed before. The
   * signal's reason.
   */
  waitFor(what: WaitTarget, options: WaitOptions = {}): Promise<void> {
    return waitFor(this.#hub, what, options);
  }

  /** @param isOwnEnd Whether an error is only the end of the generator itself. */
  async *#events(
    options: EntryEventOptions,
    isOwnEnd: () => boolean,
  ): AsyncGenerator<EntryEvent, void, undefined> {
    // Generators that run when it is closed end by themselves, after all existing entries.
    if (this.#hub.isClosed) throw sessionClosed(this.#hub.engine.path);
    const watching = options.live === false ? undefined : this.#hub.changes$.subscribe();
    try {
      yield* entryEvents(this.#hub, options);
    } catch (error) {
      if (options.signal?.aborted !== true || !isOwnEnd()) throw error;
    } finally {
      watching?.unsubscribe();
    }
  }
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one === other || (one.length === 0 && other.length === 0);
}

/** It does not change with the session. */
export interface SessionSnapshot {
  /** Counts from 1; one more each time the log was replaced. */
  readonly generation: number;
  /** Entries in this generation of the log. */
  readonly revision: number;
  readonly sizeBytes: number;
  readonly header: SessionHeader;
  readonly leaf: string | null;
  /** The id of the last entry of the log, or null. */
  readonly tail: string | null;
  readonly name: string | undefined;
  readonly labels: Labels;
  /** At the leaf. */
  readonly settings: PathSettings;
}
