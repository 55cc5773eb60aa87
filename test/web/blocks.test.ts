/** Entries as blocks: every stored value gives blocks, and nothing is more than it may be. */
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  entryBlocks,
  gistOf,
  isErrorEntry,
  messageBlocks,
  tokensOf,
  toolsOf,
} from "../../packages/web/src/blocks.ts";

const places = { resultRow: () => 7, callRow: () => 3 };
const options = { unitsMax: 100, places };

function message(fields: object): object {
  return { type: "message", id: "a", parentId: null, timestamp: "t", message: fields };
}

describe("blocks", () => {
  it("are text, thinking, calls and images of an answer", () => {
    const content = [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "Done." },
      { type: "toolCall", id: "c1", name: "edit", arguments: { path: "a.ts" } },
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ];
    const entry = message({ role: "assistant", content });
    expect(entryBlocks(entry, options)).toEqual([
      { kind: "thinking", text: "hm", cut: 0 },
      { kind: "text", text: "Done.", cut: 0 },
      {
        kind: "call",
        id: "c1",
        tool: "edit",
        use: { kind: "other", fields: [["path", "a.ts"]] },
        input: '{\n  "path": "a.ts"\n}',
        cut: 0,
        resultRow: 7,
      },
      { kind: "image", source: "data:image/png;base64,aGk=", sizeBytes: 3 },
    ]);
    expect(toolsOf(entry)).toEqual(["edit"]);
    expect(gistOf(entry)).toBe("Done. path: a.ts (image)");
    const call = { type: "toolCall", id: "c", name: "bash", arguments: { command: "ls\n-la" } };
    expect(gistOf(message({ role: "assistant", content: [call] }))).toBe("ls -la");
    const setting = {
      type: "thinking_level_change",
      id: "a",
      parentId: null,
      thinkingLevel: "low",
    };
    expect(gistOf(setting)).toBe("low");
  });

  it("are the result of a call, with its row", () => {
    const content = [{ type: "text", text: "no such file" }];
    const fields = {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "read",
      content,
      isError: true,
    };
    const entry = message(fields);
    expect(entryBlocks(entry, options)).toEqual([
      {
        kind: "result",
        id: "c1",
        tool: "read",
        text: "no such file",
        cut: 0,
        isError: true,
        callRow: 3,
      },
    ]);
    expect([toolsOf(entry), isErrorEntry(entry)]).toEqual([["read"], true]);
  });

  it("leave out what is too long, and say how much", () => {
    const [block] = messageBlocks({ role: "user", content: "x".repeat(150) }, options);
    expect(block).toEqual({ kind: "text", text: "x".repeat(100), cut: 50 });
    expect(tokensOf(block === undefined ? [] : [block])).toBe(38);
  });

  it("show no image of another type, and none that is not base64", () => {
    for (const image of [
      { type: "image", data: "PHN2Zz4=", mimeType: "image/svg+xml" },
      { type: "image", data: '" onerror="alert(1)', mimeType: "image/png" },
      { type: "image", data: "aGk=", mimeType: "text/html" },
    ]) {
      const [block] = messageBlocks({ role: "user", content: [image] }, options);
      expect(block).toMatchObject({ kind: "image", source: "" });
    }
  });

  it("come of any stored value, without an error", () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom("message", "compaction", "custom"),
        (value, type) => {
          for (const entry of [
            value,
            { type, message: value },
            message({ role: "user", content: value }),
          ]) {
            for (const block of entryBlocks(entry, options)) {
              const texts = Object.values(block).filter((one) => typeof one === "string");
              for (const text of texts) expect(text.length).toBeLessThanOrEqual(1000);
            }
            expect(gistOf(entry).length).toBeLessThanOrEqual(240);
            expect(gistOf(entry)).not.toContain("\n");
          }
        },
      ),
    );
  });

  it("come of every entry of the fixtures", () => {
    const folder = fileURLToPath(new URL("../../fixtures/", import.meta.url));
    let count = 0;
    for (const name of readdirSync(folder).filter((one) => one.endsWith(".jsonl"))) {
      for (const line of readFileSync(join(folder, name), "utf8").split("\n")) {
        let entry: unknown;
        try {
          entry = JSON.parse(line);
        } catch {
          continue;
        }
        count += entryBlocks(entry, options).length;
      }
    }
    expect(count).toBeGreaterThan(300);
  });
});
