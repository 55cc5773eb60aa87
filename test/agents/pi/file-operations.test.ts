/** Which files a stretch of a session touched. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "@branchlog/core";
import { fileOperations } from "@branchlog/agents/pi";
import { arbitraryStoredEntries } from "../../core/projections/arbitrary-stored.ts";
import { stored } from "../../core/projections/sample-entries.ts";

const call = (name: unknown, path: unknown) => ({
  type: "toolCall",
  id: "c",
  name,
  arguments: { path },
});
const calls = (...content: unknown[]): SessionEntry =>
  stored("message", "m", null, { message: { role: "assistant", content } });

describe("file operations", () => {
  it("are the sorted paths of read, write and edit calls", () => {
    const entries = [
      calls(call("read", "b.ts"), call("read", "a.ts"), { type: "text", text: "reading" }),
      calls(call("write", "d.ts"), call("edit", "c.ts"), call("edit", "c.ts")),
    ];
    expect(fileOperations(entries)).toEqual({
      readFiles: ["a.ts", "b.ts"],
      modifiedFiles: ["c.ts", "d.ts"],
    });
  });

  it("are those of a tool itself, and empty when these are malformed", () => {
    const result = (nestedCalls: unknown): SessionEntry =>
      stored("message", "m", null, { message: { role: "toolResult", nestedCalls } });
    expect(fileOperations([result({ calls: [call("read", "a.ts")] })])).toEqual({
      readFiles: ["a.ts"],
      modifiedFiles: [],
    });
    const malformed = [undefined, null, 5, {}, { calls: 5 }, { calls: [null, 5, {}] }];
    const halves = [{ name: "read" }, { arguments: { path: "b.ts" } }];
    const entries = [...malformed, { calls: halves }].map((nested) => result(nested));
    const nested = { calls: [call("read", "d.ts")] };
    entries.push(stored("message", "m", null, { message: null }));
    entries.push(stored("message", "m", null, { message: { role: "other", nestedCalls: nested } }));
    const user = { role: "user", content: [call("read", "c.ts")], nestedCalls: { calls: [] } };
    entries.push(stored("message", "m", null, { message: user }));
    expect(fileOperations(entries)).toEqual({ readFiles: [], modifiedFiles: [] });
  });

  it("ignore entries of other types, whatever their details", () => {
    const details = { readFiles: ["a.ts"], modifiedFiles: ["b.ts"] };
    const entries = [
      stored("custom", "c", null, { customType: "x", details }),
      stored("compaction", "d", null, { details: { other: 1 } }),
      stored("branch_summary", "e", null, { details: { readFiles: "a.ts" } }),
    ];
    expect(fileOperations(entries)).toEqual({ readFiles: [], modifiedFiles: [] });
  });

  it("list a file that was both read and changed as changed", () => {
    expect(fileOperations([calls(call("edit", "a.ts")), calls(call("read", "a.ts"))])).toEqual({
      readFiles: [],
      modifiedFiles: ["a.ts"],
    });
  });

  it("continue from the details of earlier summaries, but not of an extension's", () => {
    const details = { readFiles: ["a.ts", 5], modifiedFiles: ["b.ts"] };
    const foreign = { readFiles: ["x.ts"], modifiedFiles: ["y.ts"] };
    const entries = [
      stored("compaction", "c", null, { details }),
      stored("branch_summary", "b", null, { details: { readFiles: ["c.ts"] }, fromHook: false }),
      stored("compaction", "h", null, { details: foreign, fromHook: true }),
    ];
    expect(fileOperations(entries)).toEqual({
      readFiles: ["a.ts", "c.ts"],
      modifiedFiles: ["b.ts"],
    });
  });

  it("ignore other tools, and calls without a path", () => {
    const entry = calls(
      call("bash", "a.ts"),
      call("read", ""),
      call("read", 5),
      { type: "toolCall", name: "read", arguments: null },
      { type: "toolCall", name: "read" },
      { type: "text", name: "read", arguments: { path: "a.ts" } },
      null,
    );
    expect(fileOperations([entry])).toEqual({ readFiles: [], modifiedFiles: [] });
  });

  it("are sorted, without duplicates, and never throw, whatever is stored", () => {
    fc.assert(
      fc.property(arbitraryStoredEntries, (entries) => {
        const { readFiles, modifiedFiles } = fileOperations(entries);
        const all = [...readFiles, ...modifiedFiles];
        expect(new Set(all).size).toBe(all.length);
        expect([...readFiles].sort()).toEqual(readFiles);
        expect([...modifiedFiles].sort()).toEqual(modifiedFiles);
      }),
    );
  });
});
