/** What each entry says to a model, and what malformed ones do: nothing, and that is reported. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { convertToLlm } from "@branchlog/core/entries";
import { sessionEntryToContextMessages as entryMessages } from "@branchlog/agents/pi";
import type { ContextProblem } from "@branchlog/agents/pi";
import {
  buildContext,
  projectContext,
  projectSelected,
} from "../../../packages/core/src/projections/context.ts";
import { arrayPathView } from "../../../packages/core/src/projections/projection.ts";
import { arbitraryStoredEntries } from "./arbitrary-stored.ts";
import { arbitraryTree } from "./arbitrary-tree.ts";
import { pathToLast } from "./naive-tree.ts";
import { compaction, message, stored, user, userMessage } from "./sample-entries.ts";

describe("the messages of an entry", () => {
  it("are the stored message itself", () => {
    const body = userMessage("hello");
    expect(entryMessages(message("1", null, body))[0]).toBe(body);
  });

  it("have empty content when a message has none, in a copy", () => {
    const withNull = { role: "user", content: null, timestamp: 1 };
    const read = entryMessages(stored("message", "1", null, { message: withNull }));
    expect(read).toEqual([{ role: "user", content: [], timestamp: 1 }]);
    expect(withNull.content).toBeNull();
  });

  it.each<{ timestamp: unknown }>([
    { timestamp: "yesterday" },
    { timestamp: "" },
    { timestamp: null },
    { timestamp: undefined },
    { timestamp: { toString: 1 } },
  ])("have no time if that of the entry is $timestamp", ({ timestamp }) => {
    const entry = stored("compaction", "1", null, { summary: "s", tokensBefore: 1, timestamp });
    expect(entryMessages(entry)[0]?.timestamp).toBeNaN();
  });

  it.each([
    "custom",
    "label",
    "session_info",
    "usage",
    "context_edit",
    "model_change",
    "thinking_level_change",
    "a_type_from_the_future",
  ])("are empty for an entry of type %s", (type) => {
    const entry = stored(type, "1", null, { message: userMessage("no"), replacement: null });
    expect(entryMessages(entry)).toEqual([]);
  });

  it.each([null, undefined, "text", 5, true, []])(
    "are empty, and reported, if the message is %j",
    (body) => {
      const problems: ContextProblem[] = [];
      const entry = stored("message", "1", null, { message: body });
      expect(entryMessages(entry, (problem) => problems.push(problem))).toEqual([]);
      expect(problems).toEqual([{ entryId: "1", reason: "no-message" }]);
      expect(entryMessages(entry)).toEqual([]);
    },
  );

  it("have only the summary, with a report, if the system message is not an object", () => {
    const problems: ContextProblem[] = [];
    const rest = { summary: "s", tokensBefore: 1, systemMessage: "rules" };
    const found = entryMessages(stored("compaction", "1", null, rest), (p) => problems.push(p));
    expect(found.map((one) => one.role)).toEqual(["compactionSummary"]);
    expect(problems).toEqual([{ entryId: "1", reason: "no-system-message" }]);
  });
});

describe("the projection of selected entries", () => {
  it("lists every entry, with no message for an older compaction", () => {
    const selected = [
      compaction("3", "2", "newer", "1"),
      user("1", null, "one"),
      compaction("2", "1", "older", "1"),
    ];
    const { entries, messages } = projectSelected(selected);
    expect(entries.map((entry) => entry.sourceEntry)).toEqual(selected);
    expect(entries.map((entry) => entry.messages.length)).toEqual([1, 1, 0]);
    expect(messages).toEqual(entries.flatMap((entry) => entry.messages));
  });

  it("has the same messages with and without its entries, on random trees", () => {
    fc.assert(
      fc.property(arbitraryTree, (entries) => {
        const view = pathToLast(entries);
        const { entries: parts, ...rest } = projectContext(view);
        expect(buildContext(view)).toEqual(rest);
        expect(parts.flatMap((part) => part.messages)).toEqual(rest.messages);
      }),
    );
  });

  it("never throws, whatever is stored", () => {
    fc.assert(
      fc.property(arbitraryStoredEntries, (entries) => {
        const view = arrayPathView(entries);
        const known = new Set(entries.map((entry) => entry.id));
        const { messages } = buildContext(view, ({ entryId }) => {
          expect(known).toContain(entryId);
        });
        for (const one of messages) expect(typeof one).toBe("object");
        convertToLlm(messages);
        projectContext(view);
      }),
      { numRuns: 500 },
    );
  });
});
