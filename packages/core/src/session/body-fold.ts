/**
 * Folds projections over bodies: one streaming pass on first demand, then only what is new. A
 * projection that names its types never has others read. A new generation starts over.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import type { Projection } from "../projections/projection.ts";
import type { Engine } from "./engine.ts";

/** The state of one projection and how far it has been folded. */
export class BodyFold<S> {
  readonly #engine: Engine;
  readonly #projection: Projection<S>;
  #state: S;
  #generation: number;
  #rows = 0;
  /** What was handed out last, while no other record was folded. */
  #snapshot: { readonly state: S } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(engine: Engine, projection: Projection<S>) {
    this.#engine = engine;
    this.#projection = projection;
    this.#state = projection.initial();
    this.#generation = engine.log.generation;
  }

  /** The state up to the last entry known at the call. Passes follow one another. */
  value(signal?: AbortSignal): Promise<S> {
    const pass = this.#last.then(() => this.#foldOn(signal));
    // The next pass goes on where a failed one stopped; the failure is its caller's.
    this.#last = pass.then(
      () => undefined,
      () => undefined,
    );
    return pass;
  }

  /** As {@link BodyFold.value}, blocking. */
  valueSync(): S {
    const { rows, upTo } = this.#rest();
    const { bodies } = this.#engine;
    for (const { row, entry } of bodies.entriesSync(rows)) this.#apply(row, entry);
    return this.#done(upTo);
  }

  async #foldOn(signal: AbortSignal | undefined): Promise<S> {
    const { rows, upTo } = this.#rest();
    const { bodies } = this.#engine;
    for await (const { row, entry } of bodies.entries(rows, signal)) this.#apply(row, entry);
    return this.#done(upTo);
  }

  /** What was not folded yet, of the generation that the log has now. */
  #rest(): { readonly rows: Iterable<number>; readonly upTo: number } {
    const { generation, state } = this.#engine.log;
    if (generation !== this.#generation) {
      this.#state = this.#projection.initial();
      this.#rows = 0;
      this.#generation = generation;
      this.#snapshot = undefined;
    }
    const upTo = state.revision;
    const rows = rowsFor(this.#engine, this.#projection, this.#rows, upTo);
    return { rows, upTo };
  }

  #done(upTo: number): S {
    this.#rows = Math.max(this.#rows, upTo);
    this.#snapshot ??= { state: this.#projection.snapshot?.(this.#state) ?? this.#state };
    return this.#snapshot.state;
  }

  #apply(row: number, entry: SessionEntry): void {
    // Folded meanwhile by somebody who could not wait.
    if (row < this.#rows) return;
    this.#state = this.#projection.apply(this.#state, { revision: row + 1, entry });
    this.#rows = row + 1;
    this.#snapshot = undefined;
  }
}

/** Rows [from, to) that matter to a projection, answered by the index. */
function* rowsFor<S>(
  engine: Engine,
  { types, customTypes }: Projection<S>,
  from: number,
  to: number,
): Generator<number> {
  const { index } = engine;
  for (let row = from; row < to; row += 1) {
    const { type, customType } = index.kindOf(row);
    if (types !== null && !types.includes(type)) continue;
    if (customTypes !== undefined && !isAmong(customTypes, customType)) continue;
    yield row;
  }
}

/** Whether a kind is that of an extension in the list, or of none. */
function isAmong(customTypes: readonly string[], customType: string | undefined): boolean {
  return customType === undefined || customTypes.includes(customType);
}
