/** Appends to an engine in one call, for tests of what an engine is made of. */
import type { AppendResult } from "@branchlog/core";
import { sampleTime } from "@branchlog/core/testing";
import type { AnyDraft } from "@branchlog/core/entries";
import { encodeDraft } from "@branchlog/core/rows";
import { runSync } from "@branchlog/streaming";
import type { Engine } from "@branchlog/core/engine";
import { appendItem } from "../../packages/core/src/append/request.ts";
import { LeafCursor } from "../../packages/core/src/append/leaf-cursor.ts";

/** A draft to append, with its id if it may be offered again. */
export interface Offer {
  readonly draft: AnyDraft;
  readonly id?: string;
}

/** Appends the offers as one batch, blocking, at a leaf; by default at one that follows the tail. */
export function appendSync(
  engine: Engine,
  offers: readonly Offer[],
  leaf: LeafCursor = new LeafCursor(true, engine.tailId),
): readonly AppendResult[] {
  const items = offers.map(({ draft, id }) =>
    appendItem(encodeDraft(draft, sampleTime), undefined, id),
  );
  const request = { items, onDiverged: "branch", expectedTail: undefined } as const;
  return runSync(engine.appender.append(request, leaf));
}
