/** Appends to an engine in one call, for tests of what an engine is made of. */
import type { AppendResult } from "@branchlog/core";
import { sampleTime } from "@branchlog/core/testing";
import type { Offer } from "@branchlog/core/testing";
import { encodeDraft } from "../../packages/core/src/entries/encode-entry.ts";
import { appendItem } from "../../packages/core/src/append/request.ts";
import type { Engine } from "../../packages/core/src/session/engine.ts";
import type { LeafCursor } from "../../packages/core/src/append/leaf-cursor.ts";
import { runSync } from "../../packages/core/src/store/steps.ts";

/** Appends the offers as one batch, blocking. */
export function appendSync(
  engine: Engine,
  leaf: LeafCursor,
  offers: readonly Offer[],
): readonly AppendResult[] {
  const items = offers.map(({ draft, id }) =>
    appendItem(encodeDraft(draft, sampleTime), undefined, id),
  );
  const request = { items, onDiverged: "branch", expectedTail: undefined } as const;
  return runSync(engine.appender.append(request, leaf), engine.settings.ports.clock);
}
