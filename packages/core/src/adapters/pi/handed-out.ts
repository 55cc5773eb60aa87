/** Entries of an engine as a face hands them out: their bodies load when somebody looks at them. */
import { settledEntries } from "../../bodies/lazy-entry.ts";
import type { LazySource } from "../../bodies/lazy-entry.ts";
import type { SessionEntry } from "../../entries/entry-types.ts";
import type { Engine } from "../../session/engine.ts";

/**
 * Where lazy entries of the log as it is now load from. They outlive a migration, which keeps rows,
 * and a rewrite by another program as far as the new log has their ids.
 */
export function lazySource(engine: Engine): LazySource {
  const { index, log, settings } = engine;
  const { generation } = log;
  return {
    index,
    bodyOf: (row) =>
      log.generation === generation
        ? engine.bodies.entrySync(row)
        : engine.entrySync(index.idOf(row)),
    bodiesOf: (rows) => engine.bodies.entriesSync(rows),
    confirmAll: (rows) => engine.bodies.confirmAllSync(rows),
    freeze: settings.freezeBodies,
  };
}

/** The entries of the rows that are asked for, in their order, damaged ones left out. */
export function handOut(engine: Engine, rowsNow: () => ArrayLike<number>): SessionEntry[] {
  const entries = settledEntries(lazySource(engine), rowsNow);
  // What was read of bodies may be worth another checkpoint.
  engine.checkpoints.progressed();
  return entries.includes(undefined)
    ? entries.filter((entry) => entry !== undefined)
    : // Checked in the line above, without a copy of what may be a million entries.
      (entries as SessionEntry[]);
}
