/** Entries as blocks: every stored value gives blocks, and nothing is more than it may be. */
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentMessage, SessionEntry } from "@branchlog/core";
import type { PlacedEntry } from "@branchlog/library/catalogs";
import {
  contextMessage,
  entryBlocks,
  gistOf,
  isErrorEntry,
  toolsOf,
} from "../../packages/web/src/blocks.ts";
import type { TurnBlock } from "../../packages/web/src/api.ts";

const alone = { results: [], isFull: false };

// Decoding boundary: as it could be stored.
function message(fields: unknown): SessionEntry {
  const entry = { type: "message", id: "a", parentId: null, timestamp: "t", message: fields };
  return entry as unknown as SessionEntry;
}

const blocksOf = (entry: SessionEntry): TurnBlock[] => entryBlocks(0, entry, alone);

describe("blocks", () => {
  it("are text, thinking, calls and images of an answer", () => {
    const content = [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "Done." },
      { type: "toolCall", id: "c1", name: "edit", arguments: { path: "a.ts" } },
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ];
    const entry = message({ role: "assistant", content });
    expect(blocksOf(entry)).toEqual([
      { kind: "thinking", row: 0, text: "hm", cut: 0 },
      { kind: "answer", row: 0, text: "Done.", cut: 0 },
      {
        kind: "call",
        row: 0,
        tool: "edit",
        use: { kind: "other", fields: [["path", "a.ts"]] },
        line: "path: a.ts",
        result: null,
      },
      { kind: "image", row: 0, source: "data:image/png;base64,aGk=", sizeBytes: 3 },
    ]);
    expect(toolsOf(entry)).toEqual(["edit"]);
    expect(gistOf(entry)).toBe("Done. path: a.ts (image)");
    const call = { type: "toolCall", id: "c", name: "bash", arguments: { command: "ls\n-la" } };
    expect(gistOf(message({ role: "assistant", content: [call] }))).toBe("ls -la");
    const thought = { type: "thinking", thinking: "Hm." };
    expect(gistOf(message({ role: "assistant", content: [thought] }))).toBe("(thinking) Hm.");
    const setting = {
      type: "thinking_level_change",
      id: "a",
      parentId: null,
      thinkingLevel: "low",
      timestamp: "t",
    } as const;
    expect(gistOf(setting)).toBe("low");
  });

  it("are a call with its result if there is one, and a result alone", () => {
    const content = [{ type: "text", text: "no such file" }];
    const given = {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "read",
      content,
      isError: true,
    };
    const entry = message(given);
    expect(blocksOf(entry)).toEqual([
      {
        kind: "note",
        row: 0,
        title: "result of read",
        text: "no such file",
        cut: 0,
        isError: true,
        isOutput: true,
      },
    ]);
    expect([toolsOf(entry), isErrorEntry(entry)]).toEqual([["read"], true]);
    const call = { type: "toolCall", id: "c1", name: "read", arguments: { path: "a.ts" } };
    const results: PlacedEntry[] = [
      { row: 4, timeMs: 0, type: "message", role: "toolResult", entry },
    ];
    const made = message({ role: "assistant", content: [call] });
    expect(entryBlocks(1, made, { results, isFull: false })).toMatchObject([
      { kind: "call", row: 1, result: { row: 4, text: "no such file", isError: true } },
    ]);
  });

  it("omit long parts, and report how much", () => {
    const content = "x".repeat(64 * 1024 + 50);
    expect(blocksOf(message({ role: "user", content }))).toMatchObject([{ cut: 50 }]);
    const whole = entryBlocks(0, message({ role: "user", content }), { ...alone, isFull: true });
    expect(whole).toMatchObject([{ cut: 0 }]);
    const said = { role: "user", content, timestamp: 1 } satisfies AgentMessage;
    expect(contextMessage(said)).toMatchObject({ role: "user", tokens: 16_397 });
  });

  it("show no image of another type or that is not base64", () => {
    for (const image of [
      { type: "image", data: "PHN2Zz4=", mimeType: "image/svg+xml" },
      { type: "image", data: '" onerror="alert(1)', mimeType: "image/png" },
      { type: "image", data: "aGk=", mimeType: "text/html" },
    ]) {
      const [block] = blocksOf(message({ role: "user", content: [image] }));
      expect(block).toMatchObject({ kind: "image", source: "" });
    }
  });

  it("are built from any stored value, without an error", () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom("message", "compaction", "custom"),
        (value, type) => {
          for (const entry of [
            { ...message(value), type } as SessionEntry,
            message({ role: "user", content: value }),
          ]) {
            for (const block of blocksOf(entry)) {
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

  it("are built from every entry of the fixtures", () => {
    const folder = fileURLToPath(new URL("../../fixtures/", import.meta.url));
    let count = 0;
    for (const name of readdirSync(folder).filter((one) => one.endsWith(".jsonl"))) {
      for (const line of readFileSync(join(folder, name), "utf8").split("\n")) {
        let entry: SessionEntry;
        try {
          // Decoding boundary: some are of other forms.
          entry = JSON.parse(line) as SessionEntry;
        } catch {
          continue;
        }
        if (typeof entry === "object") count += blocksOf(entry).length;
      }
    }
    expect(count).toBeGreaterThan(300);
  });
});
