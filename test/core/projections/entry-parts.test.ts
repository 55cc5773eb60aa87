/** What entries say, part by part. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entryParts, messageParts, textOfParts } from "@branchlog/core/entries";

const envelope = { id: "a", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };

describe("the parts of an entry", () => {
  it("are the blocks of an answer in their order, then its error", () => {
    const call = { type: "toolCall", id: "c", name: "read", arguments: { path: "a" } };
    const content = [
      { type: "thinking", thinking: "Hm." },
      { type: "text", text: "Reading." },
      call,
      { type: "image", mimeType: "image/png", data: "AAAA" },
      { type: "audio", data: "x" },
    ];
    const message = { role: "assistant", model: "m", content, errorMessage: "cut off" };
    const entry = { type: "message", ...envelope, message };
    const said = entryParts(entry);
    expect(said?.speaker).toMatchObject({ role: "assistant", model: "m", isError: false });
    expect(said?.parts).toEqual([
      { kind: "thinking", text: "Hm." },
      { kind: "text", text: "Reading." },
      { kind: "call", id: "c", tool: "read", arguments: { path: "a" }, block: call, place: 2 },
      { kind: "image", mimeType: "image/png", data: "AAAA" },
      { kind: "data", type: "audio", value: content[4] },
      { kind: "error", text: "cut off" },
    ]);
  });

  it.each([
    [{ type: "compaction", summary: "All done." }, "compactionSummary", "summary", "All done."],
    [{ type: "branch_summary", summary: "Left." }, "branchSummary", "summary", "Left."],
    [{ type: "custom_message", customType: "x", content: "Hi" }, "custom", "text", "Hi"],
    [{ type: "session_info", name: "Work" }, "name", "name", "Work"],
    [{ type: "title_change", title: "Work" }, "name", "name", "Work"],
    [{ type: "label", targetId: "b", label: "here" }, "label", "label", "here"],
  ])("are the text of %j", (entry, role, kind, text) => {
    const said = entryParts({ ...envelope, ...entry });
    expect(said).toMatchObject({ speaker: { role }, parts: [{ kind, text }] });
  });

  it("are absent when an entry has no text", () => {
    expect(entryParts({ type: "model_change", ...envelope })).toBeUndefined();
    expect(entryParts({ type: "custom", ...envelope })).toBeUndefined();
  });

  it("have every text of the content once, whatever else is stored. Law", () => {
    const block = fc.oneof(
      fc.record({ type: fc.constant("text"), text: fc.string() }),
      fc.record({ type: fc.string(), text: fc.anything() }),
      fc.anything(),
    );
    const content = fc.oneof(fc.string(), fc.array(block), fc.anything());
    fc.assert(
      fc.property(fc.string(), content, (role, stored) => {
        const { parts } = messageParts({ role, content: stored });
        if (role === "bashExecution" || role.endsWith("Summary")) return;
        const blocks: readonly unknown[] = Array.isArray(stored) ? stored : [];
        expect(parts).toHaveLength(typeof stored === "string" ? 1 : blocks.length);
        const texts = typeof stored === "string" ? [stored] : blocks.flatMap(textIn);
        expect(textOfParts(parts, "\u0000")).toBe(texts.join("\u0000"));
      }),
    );
  });

  it("are data when the message is not an object", () => {
    for (const message of [undefined, null, "text", 7, [1]]) {
      const { speaker, parts } = messageParts(message);
      expect(speaker.role).toBeUndefined();
      expect(parts).toEqual([{ kind: "data", type: "message", value: message }]);
    }
  });
});

/** The text of a block, read plainly. */
function textIn(block: unknown): readonly string[] {
  if (typeof block !== "object" || block === null || Array.isArray(block)) return [];
  const fields = Object.entries(block);
  const text: unknown = fields.find(([key]) => key === "text")?.[1];
  const isText = fields.some(([key, value]) => key === "type" && value === "text");
  return isText && typeof text === "string" ? [text] : [];
}
