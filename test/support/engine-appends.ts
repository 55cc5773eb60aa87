/** Appends to an engine in one call, and says in one text what a session of it means. */
import type { AnyDraft, AppendResult } from "@branchlog/core";
import { encodeDraft } from "../../packages/core/src/entries/encode-entry.ts";
import { tipRows } from "../../packages/core/src/index-table/tree-walk.ts";
import { appendItem } from "../../packages/core/src/append/request.ts";
import type { Engine } from "../../packages/core/src/session/engine.ts";
import type { LeafCursor } from "../../packages/core/src/append/leaf-cursor.ts";
import { runSync } from "../../packages/core/src/store/steps.ts";

/** A draft, with the id to give it if it may be offered again. */
export interface Offer {
  readonly draft: AnyDraft;
  readonly id?: string;
}

/** When every entry of these tests was written. */
export const appendTime = "2026-01-01T00:00:00.000Z";

/** Appends the offers as one batch, blocking. */
export function appendSync(
  engine: Engine,
  leaf: LeafCursor,
  offers: readonly Offer[],
): readonly AppendResult[] {
  const items = offers.map(({ draft, id }) =>
    appendItem(encodeDraft(draft, appendTime), undefined, id),
  );
  const request = { items, onDiverged: "branch", expectedTail: undefined } as const;
  return runSync(engine.appender.append(request, leaf), engine.settings.ports.clock);
}

/** Everything that a session of this engine would answer, as text to compare. */
export function meaning(engine: Engine, leafId: string | null): string {
  const { index, bodies, log } = engine;
  const rows = Array.from({ length: index.count }, (_, row) => row);
  return JSON.stringify({
    leafId,
    tailId: engine.tailId,
    generation: log.generation,
    revision: log.state.revision,
    entries: [...bodies.entriesSync(rows)].map(({ entry }) => entry),
    tips: tipRows(index).map((row) => index.idOf(row)),
    context: engine.context(leafId),
    name: log.state.folded.name,
    labels: [...log.state.folded.labels],
  });
}
