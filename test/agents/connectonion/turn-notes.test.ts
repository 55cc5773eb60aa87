/** Notes about turns: what counts as one, and that nothing else stops the fold. */
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "@branchlog/core";
import { turnNotesIn } from "@branchlog/agents/connectonion";
import { stored } from "../../core/projections/sample-entries.ts";

const note = (data: unknown): SessionEntry =>
  stored("custom", "n", null, { customType: "branchlog.turn", data });

describe("notes about turns", () => {
  it("are only entries of their type, whatever others contain (Verifies: P10)", () => {
    const data = { targetId: "1", fields: { model: "a" } };
    const entries = [
      stored("custom", "n", null, { customType: "other", data }),
      stored("custom_message", "n", null, { customType: "branchlog.turn", data }),
      stored("message", "n", null, { customType: "branchlog.turn", data }),
    ];
    expect([...turnNotesIn(entries)]).toEqual([]);
  });

  it.each([
    undefined,
    null,
    5,
    "text",
    {},
    { targetId: "1" },
    { fields: {} },
    { targetId: 5, fields: {} },
    { targetId: "1", fields: null },
    { targetId: "1", fields: 5 },
  ])("are ignored with the data %j, and the fold continues (Verifies: P10)", (data) => {
    const entries = [note(data), note({ targetId: "2", fields: { model: "b" } })];
    expect([...turnNotesIn(entries)]).toEqual([["2", { model: "b" }]]);
  });
});
