/**
 * Folds projections over bodies: one streaming pass on first demand, then only new entries. A new
 * generation starts over. The usage is folded once for all callers, and saved with the checkpoint.
 */
import { Fold } from "../projections/folded.ts";
import type { Projection } from "../projections/projection.ts";
import { usage } from "../projections/usage.ts";
import type { SessionUsage } from "../projections/usage.ts";
import type { Engine } from "./engine.ts";

export class BodyFold<S> {
  readonly #engine: Engine;
  readonly #projection: Projection<S>;
  readonly #foldNow: () => Fold<S>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    engine: Engine,
    projection: Projection<S>,
    foldNow: () => Fold<S> = foldOfGeneration(engine, projection),
  ) {
    this.#engine = engine;
    this.#projection = projection;
    this.#foldNow = foldNow;
  }

  /** The state up to the last entry known at the call. Passes follow one another. */
  value(): Promise<S> {
    const pass = this.#last.then(() => this.#foldOn());
    // The next pass continues where a failed one stopped; the failure is reported to its caller.
    this.#last = pass.then(
      () => undefined,
      () => undefined,
    );
    return pass;
  }

  valueSync(): S {
    const { fold, rows, upTo } = this.#rest();
    const { bodies } = this.#engine;
    for (const { row, entry } of bodies.entriesSync(rows)) fold.apply(row, entry);
    return this.#done(fold, upTo);
  }

  async #foldOn(): Promise<S> {
    const { fold, rows, upTo } = this.#rest();
    const { bodies } = this.#engine;
    for await (const { row, entry } of bodies.entries(rows)) fold.apply(row, entry);
    return this.#done(fold, upTo);
  }

  #rest(): { readonly fold: Fold<S>; readonly rows: Iterable<number>; readonly upTo: number } {
    const fold = this.#foldNow();
    const upTo = this.#engine.log.state.revision;
    return { fold, rows: rowsFor(this.#engine, this.#projection, fold.rows, upTo), upTo };
  }

  #done(fold: Fold<S>, upTo: number): S {
    fold.reached(upTo);
    // The bodies read may justify another checkpoint.
    this.#engine.checkpoints.progressed();
    return fold.value;
  }
}

export function usageFold(engine: Engine): BodyFold<SessionUsage> {
  return new BodyFold(engine, usage, () => engine.log.state.folded.usage);
}

function foldOfGeneration<S>(engine: Engine, projection: Projection<S>): () => Fold<S> {
  let { generation } = engine.log;
  let fold = new Fold(projection);
  return () => {
    if (generation !== engine.log.generation) fold = new Fold(projection);
    ({ generation } = engine.log);
    return fold;
  };
}

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
    if (customTypes !== undefined && customType !== undefined) {
      if (!customTypes.includes(customType)) continue;
    }
    yield row;
  }
}
