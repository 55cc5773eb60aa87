/** Laws that hold for every projection over a log: resuming, repeating, never throwing. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Projection } from "@branchlog/core";
import { labels } from "../../../packages/core/src/projections/labels.ts";
import { sessionName } from "../../../packages/core/src/projections/name.ts";
import { summary } from "../../../packages/core/src/projections/summary.ts";
import { usage } from "../../../packages/core/src/projections/usage.ts";
import { arbitraryStoredEntries } from "./arbitrary-stored.ts";
import { arbitraryTree } from "./arbitrary-tree.ts";
import { foldAll, resumeFold } from "./fold.ts";

const projections: readonly Projection<unknown>[] = [labels, sessionName, summary, usage];
const entryLists = fc.oneof(arbitraryTree, arbitraryStoredEntries);

/** Maps as lists, so that their order counts too. */
const shown = (state: unknown): string =>
  JSON.stringify(state, (_, value: unknown) => (value instanceof Map ? [...value] : value)) ?? "";

describe.each(projections.map((one) => [one.name, one] as const))("%s", (_, projection) => {
  it("folded in two parts equals folded in one, at every cut. Verifies: P15", () => {
    fc.assert(
      fc.property(entryLists, (entries) => {
        const whole = shown(foldAll(projection, entries));
        for (let cut = 0; cut <= entries.length; cut++) {
          const first = foldAll(projection, entries.slice(0, cut));
          const both = resumeFold(projection, first, entries.slice(cut), cut + 1);
          expect(shown(both)).toBe(whole);
        }
      }),
    );
  });

  it("resumed from a snapshot equals folded in one, whatever was folded in between", () => {
    fc.assert(
      fc.property(entryLists, entryLists, (entries, others) => {
        const first = foldAll(projection, entries);
        const taken = projection.snapshot === undefined ? first : projection.snapshot(first);
        const before = shown(taken);
        resumeFold(projection, first, others, entries.length + 1);
        expect(shown(taken)).toBe(before);
        expect(before).toBe(shown(foldAll(projection, entries)));
      }),
    );
  });

  it("folds the same whether or not it is shown entries of other types", () => {
    fc.assert(
      fc.property(entryLists, (entries) => {
        const all = resumeFold({ ...projection, types: null }, projection.initial(), entries, 1);
        expect(shown(all)).toBe(shown(foldAll(projection, entries)));
      }),
    );
  });
});
