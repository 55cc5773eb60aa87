/** What a context holds: the behaviours that the tests of pi assert, on paths in small trees. */
import { describe, expect, it } from "vitest";
import { buildContext } from "../../../packages/core/src/projections/context.ts";
import { arrayPathView } from "../../../packages/core/src/projections/projection.ts";
import { countingView, pathToLast } from "./naive-tree.ts";
import { assistant, compaction, contextEdit, stored, textsOf, user } from "./sample-entries.ts";
import { runs } from "../../support/fault-seed.ts";

it("a context without entries is empty, with thinking off and without a model", () => {
  const context = buildContext(arrayPathView([]));
  expect(context).toEqual({ messages: [], thinkingLevel: "off", model: null });
});

describe("the cost of a context", () => {
  it("is that of the bodies for the model and of the settings", () => {
    const entries = [
      stored("thinking_level_change", "0", null, { thinkingLevel: "low" }),
      ...[1, 2, 3, 4, 5].map((n) => user(`${n}`, `${n - 1}`, "summarised")),
      compaction("6", "5", "older summary", "5"),
      assistant("7", "6", "kept"),
      stored("custom", "8", "7", { customType: "state", data: {} }),
      compaction("9", "8", "summary", "6"),
      stored("label", "10", "9", { targetId: "7", label: "here" }),
      contextEdit("11", "10", "7", { content: "edited" }),
    ];
    const { view, loaded } = countingView(pathToLast(entries));
    expect(textsOf(buildContext(view).messages)).toEqual(["summary", "edited"]);
    const [level, kept, last, edit] = [0, 7, 9, 11];
    expect(new Set(loaded)).toEqual(new Set([level, kept, last, edit]));
  });

  const count = runs(200_000, 1_000_000);

  it(`stays linear on a path of ${count} entries`, () => {
    const entries = Array.from({ length: count }, (_, i) =>
      i === 0.9 * count
        ? compaction(`${i}`, null, "summary", `${count / 2}`)
        : user(`${i}`, null, "text"),
    );
    const { messages, truncatedAt } = buildContext(arrayPathView(entries, "lost"));
    expect(messages).toHaveLength(count / 2);
    expect(messages[0]).toMatchObject({ role: "compactionSummary", summary: "summary" });
    expect(truncatedAt).toBe("lost");
  });
});
