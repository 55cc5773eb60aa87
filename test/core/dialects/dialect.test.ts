/** Which dialect a log is in, and drafts in either. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionHeader } from "@branchlog/core";
import type { AnyDraft } from "@branchlog/core/entries";
import { encodeDraft, spliceDraft } from "@branchlog/core/rows";
import {
  dialectOfEntry,
  dialectOfLog,
  translationTo,
} from "../../../packages/core/src/dialects/dialect.ts";

const uuid = "01990000-0000-7000-8000-000000000001";
const nanoid = "V1StGXR8_Z5jdHi6B-myT";
const headerWith = (fields: object): SessionHeader =>
  Object.assign({ type: "session" as const, id: uuid, timestamp: "", cwd: "" }, fields);

describe("the dialect of a log", () => {
  it.each([
    ["pi", "an id of pi", {}, false, undefined],
    ["omp", "a title slot", {}, true, undefined],
    ["omp", "a title slot, though its entries are of pi", {}, true, "pi"],
    ["omp", "a title in its header", { title: "" }, false, "pi"],
    ["omp", "a key that omp's header has", { providerPromptCacheKey: "k" }, false, undefined],
    ["omp", "an entry of omp", {}, false, "omp"],
    ["omp", "an id of omp", { id: nanoid }, false, undefined],
    ["pi", "an id like omp's, and an entry of pi", { id: nanoid }, false, "pi"],
    ["pi", "a fork's header", { parentSession: "/a.jsonl" }, false, undefined],
  ] as const)("is %s's with %s", (dialect, _why, fields, hasTitleSlot, ofEntries) => {
    const header = headerWith(fields);
    expect(dialectOfLog({ hasTitleSlot, header, ofEntries })).toBe(dialect);
  });

  it.each([
    [{ type: "model_change", provider: "a", modelId: "b" }, "pi"],
    [{ type: "model_change", model: "a/b" }, "omp"],
    [{ type: "session_info", name: "n" }, "pi"],
    [{ type: "title_change", title: "n" }, "omp"],
    [{ type: "compaction", summary: "s" }, undefined],
    [{ type: "compaction", shortSummary: "s" }, "omp"],
    [{ type: "compaction", fromHook: true }, "pi"],
    [{ type: "branch_summary", fromExtension: false }, "omp"],
    [{ type: "message" }, undefined],
    [{ type: "label" }, undefined],
    [{ type: "toString" }, undefined],
  ])("is recognised by the entry %j: %s", (entry, dialect) => {
    expect(dialectOfEntry(entry)).toBe(dialect);
  });
});

describe("a draft", () => {
  const written = (draft: AnyDraft, dialect: "pi" | "omp"): string =>
    spliceDraft(encodeDraft(draft, "T", translationTo(dialect)), "i", "p").toString();
  const envelope = `"id":"i","parentId":"p","timestamp":"T"`;

  it.each([
    [
      { type: "model_change", provider: "a", modelId: "b/c" },
      `{"type":"model_change",${envelope},"model":"a/b/c"}\n`,
    ],
    [
      { type: "session_info", name: "n" },
      `{"type":"title_change",${envelope},"title":"n","source":"user"}\n`,
    ],
    [
      { type: "compaction", summary: "s", firstKeptEntryId: "k", tokensBefore: 1, fromHook: true },
      `{"type":"compaction",${envelope},"summary":"s","firstKeptEntryId":"k","tokensBefore":1,"fromExtension":true}\n`,
    ],
    [
      { type: "branch_summary", fromId: "f", summary: "s", fromHook: false },
      `{"type":"branch_summary",${envelope},"fromId":"f","summary":"s","fromExtension":false}\n`,
    ],
    [
      {
        type: "compaction",
        summary: "s",
        firstKeptEntryId: null,
        shortSummary: "t",
        tokensBefore: 1,
      },
      `{"type":"compaction",${envelope},"summary":"s","shortSummary":"t","firstKeptEntryId":"i","tokensBefore":1}\n`,
    ],
    [{ type: "context_edit", targetId: "t", replacement: null }, undefined],
  ] as const)("of pi, %j, is written in omp's form", (draft, line) => {
    expect(written(draft, "omp")).toBe(line ?? written(draft, "pi"));
  });

  it.each([
    [
      { type: "model_change", model: "a/b/c" },
      `{"type":"model_change",${envelope},"provider":"a","modelId":"b/c"}\n`,
    ],
    [
      { type: "model_change", model: "a/b", role: "smol" },
      `{"type":"custom","customType":"branchlog.role_model","data":{"model":"a/b","role":"smol"},${envelope}}\n`,
    ],
    [
      { type: "title_change", title: "n", source: "auto", previousTitle: "m" },
      `{"type":"session_info",${envelope},"name":"n"}\n`,
    ],
    [
      { type: "thinking_level_change", thinkingLevel: null },
      `{"type":"thinking_level_change",${envelope},"thinkingLevel":"off"}\n`,
    ],
    [
      { type: "branch_summary", fromId: "root", summary: "s", fromExtension: true },
      `{"type":"branch_summary",${envelope},"fromId":"root","summary":"s","fromHook":true}\n`,
    ],
    [{ type: "ttsr_injection", injectedRules: ["a"] }, undefined],
  ] as const)("of omp, %j, is written in pi's form", (draft, line) => {
    expect(written(draft, "pi")).toBe(line ?? written(draft, "omp"));
  });

  it("is equivalent in its own dialect, for any draft", () => {
    const anyDraft = fc.oneof(
      fc.record({ type: fc.constant("model_change"), provider: fc.string(), modelId: fc.string() }),
      fc.record({ type: fc.constant("session_info"), name: fc.string() }),
      fc.record({ type: fc.constant("custom"), customType: fc.string(), data: fc.json() }),
      fc.record({ type: fc.constant("label"), targetId: fc.string(), label: fc.string() }),
    );
    fc.assert(
      fc.property(anyDraft, (draft) => {
        const plain = spliceDraft(encodeDraft(draft, "T"), "i", "p").toString();
        expect(written(draft, "pi")).toBe(plain);
      }),
    );
  });

  it("keeps fields that its type does not have", () => {
    const draft = { type: "model_change", provider: "a", modelId: "b", why: "x" };
    expect(written(draft, "omp")).toBe(
      `{"type":"model_change",${envelope},"model":"a/b","why":"x"}\n`,
    );
  });
});
