/** The one system message that a compaction stores. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "@branchlog/core";
import type { SystemTool } from "@branchlog/agents/pi";
import { buildContext } from "../../../packages/core/src/projections/context.ts";
import { arrayPathView } from "../../../packages/core/src/projections/projection.ts";
import { computeSystemMessage } from "../../../packages/agents/src/pi/system-message.ts";
import { arbitraryStoredEntries } from "../../core/projections/arbitrary-stored.ts";
import { readFixture } from "../../core/projections/fixture-session.ts";
import { userMessage } from "../../core/projections/sample-entries.ts";

const system = (content: string, rest: object = {}): AgentMessage => ({
  role: "system",
  content,
  ...rest,
  timestamp: 1,
});
const tool = (name: string, description = name): SystemTool => ({
  name,
  description,
  parameters: {},
});

describe("the folded system message", () => {
  it("is absent without system messages", () => {
    expect(computeSystemMessage([], 9)).toBeUndefined();
    expect(computeSystemMessage([userMessage("hello")], 9)).toBeUndefined();
  });

  it("has the given time, and no key without a value", () => {
    const folded = computeSystemMessage([system("")], 9);
    expect(JSON.stringify(folded)).toBe('{"role":"system","content":"","timestamp":9}');
  });

  it("joins texts by a blank line, blocks by a line break, without empty ones", () => {
    const blocks: AgentMessage = {
      role: "system",
      content: [
        { type: "text", text: "two" },
        { type: "text", text: "three" },
      ],
      timestamp: 1,
    };
    const folded = computeSystemMessage([system("one"), system(""), blocks], 9);
    expect(folded?.content).toBe("one\n\ntwo\nthree");
  });

  it("replaces sections by name in their old place, and drops those set to null", () => {
    const folded = computeSystemMessage(
      [
        system("", { sections: { a: "1", b: "2", c: "3" } }),
        system("", { sections: { c: "4", a: "5", b: null, d: null } }),
      ],
      9,
    );
    expect(JSON.stringify(folded?.sections)).toBe('{"a":"5","c":"4"}');
  });

  it("lists the remaining tools, with removals before additions", () => {
    const folded = computeSystemMessage(
      [
        system("", { toolsAdded: [tool("read"), tool("bash")] }),
        system("", { toolsRemoved: [{ name: "read" }, { name: "nothing" }] }),
        system("", { toolsRemoved: [{ name: "bash" }], toolsAdded: [tool("bash", "newer")] }),
      ],
      9,
    );
    expect(folded?.toolsAdded).toEqual([tool("bash", "newer")]);
    expect(folded).not.toHaveProperty("toolsRemoved");
  });

  it("is what pi stored in the compaction of the fixture", () => {
    const { entries, expected, path } = readFixture("pi-system-messages");
    const before = expected.contexts.find((context) => context.leaf === "f6070007");
    const stored = entries.find((entry) => entry.type === "compaction");
    if (before === undefined || stored?.type !== "compaction") throw new Error("fixture changed");
    const { messages } = buildContext(path(before));
    const folded = computeSystemMessage(messages, Date.parse(stored.timestamp));
    expect(JSON.stringify(folded)).toBe(JSON.stringify(stored.systemMessage));
  });

  it("stays the same when it is folded again, and never throws, whatever is stored", () => {
    fc.assert(
      fc.property(arbitraryStoredEntries, (entries) => {
        const { messages } = buildContext(arrayPathView(entries));
        const once = computeSystemMessage(messages, 9);
        if (once === undefined) return;
        expect(computeSystemMessage([once], 9)).toEqual(once);
      }),
      { numRuns: 300 },
    );
  });
});
