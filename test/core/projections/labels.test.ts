/** Labels: the latest for a target wins, on whatever branch it was set. */
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "@branchlog/core";
import { labels } from "../../../packages/core/src/projections/labels.ts";
import { foldAll } from "./fold.ts";
import { sampleTime, stored } from "./sample-entries.ts";

const label = (targetId: unknown, text: unknown, timestamp = sampleTime): SessionEntry =>
  stored("label", "l", null, { targetId, label: text, timestamp });
const textsOf = (entries: readonly SessionEntry[]): string[] =>
  [...foldAll(labels, entries)].map(([targetId, one]) => `${targetId}=${one.label}`);

describe("labels", () => {
  it.each([undefined, null, ""])("are cleared by %j", (text) => {
    expect(textsOf([label("a", "one"), label("b", "two"), label("a", text)])).toEqual(["b=two"]);
  });

  it("are last again after they were cleared", () => {
    const entries = [label("a", "one"), label("b", "two"), label("a", ""), label("a", "back")];
    expect(textsOf(entries)).toEqual(["b=two", "a=back"]);
  });

  it("can refer to a missing entry", () => {
    expect(textsOf([label("nowhere", "one")])).toEqual(["nowhere=one"]);
  });

  it("ignore entries without a target, or with a label that is not a string", () => {
    const odd = [label(undefined, "one"), label(5, "one"), label("a", 5), label("a", {})];
    expect(textsOf([label("a", "kept"), ...odd])).toEqual(["a=kept"]);
  });
});
