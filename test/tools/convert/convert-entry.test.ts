/** One line in the dialect of another agent: what changes, and that nothing else does. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "@branchlog/streaming";
import type { ConversionTarget } from "@branchlog/tools";
import {
  convertHeader,
  convertLine,
  withDialect,
} from "../../../packages/tools/src/convert/convert-entry.ts";
import { expectAnswers } from "../../support/answers.ts";

function convert(text: string, to: ConversionTarget, nameBefore?: string): string {
  const value = JSON.parse(text) as JsonObject;
  return convertLine(Buffer.from(text), value, to, { nameBefore }).toString();
}

const start = '"id":"1","parentId":null,"timestamp":"t"';

describe("a line for omp", () => {
  it("converts pi's form to omp's, and is unchanged when omp has no other form", async () => {
    const file = new URL("golden/for-omp.txt", import.meta.url);
    await expectAnswers(file, (line) => convert(line, "omp", "Old"));
  });

  it("keeps its end", () => {
    const line = `{"type":"branch_summary",${start},"summary":"s","fromHook":true,"n":1.0}\r`;
    expect(convert(line, "omp")).toBe(line.replace("Hook", "Extension"));
  });
});

it("a line for pi converts omp's form to pi's, and is unchanged when pi has no other form", async () => {
  const file = new URL("golden/for-pi.txt", import.meta.url);
  await expectAnswers(file, (line) => convert(line, "pi", "Old"));
});

describe("a header", () => {
  const head = '{"type":"session","version":3,"id":"s","cwd":"/w"';

  it("has the name for omp, the current version, and no title for pi", () => {
    const at = (line: string, to: ConversionTarget, version: number, name?: string): string =>
      convertHeader(Buffer.from(line), { version, to, name }).toString();
    expect(at(`${head}}`, "omp", 3, "N")).toBe(`${head},"title":"N"}`);
    expect(at(`${head},"title":"O","x":1}`, "omp", 3, "N")).toBe(`${head},"title":"N","x":1}`);
    expect(at(`${head},"title":"O","x":1}`, "pi", 3)).toBe(`${head},"x":1}`);
    expect(at(`${head},"title":5}`, "pi", 3)).toBe(`${head},"title":5}`);
    expect(at(`${head.replace("3", "2")}}`, "pi", 2)).toBe(`${head}}`);
    expect(at("[]", "pi", 3)).toBe("[]");
  });

  it("names the agent of the log only when everything else indicates the other agent", () => {
    const at = (line: string, to: ConversionTarget, ofEntries?: ConversionTarget): string =>
      withDialect(Buffer.from(line), to, { hasTitleSlot: false, ofEntries }).toString();
    expect(at(`${head}}`, "pi")).toBe(`${head}}`);
    expect(at(`${head}}`, "omp")).toBe(`${head},"branchlog.dialect":"omp"}`);
    expect(at(`${head}}`, "pi", "omp")).toBe(`${head},"branchlog.dialect":"pi"}`);
    expect(at(`${head},"titleSource":"user"}`, "pi", "pi")).toBe(
      `${head},"titleSource":"user","branchlog.dialect":"pi"}`,
    );
    expect(at(`${head},"branchlog.dialect":"omp","x":1}`, "pi", "pi")).toBe(`${head},"x":1}`);
    expect(at("[]", "pi")).toBe("[]");
  });
});

describe("there and back", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 6 });
  const flag = fc.constantFrom({}, { fromHook: true }, { fromHook: false });
  const entry = fc.oneof(
    fc
      .record({ provider: text, modelId: text })
      .map((model) => ({ type: "model_change", ...model })),
    text.map((name) => ({ type: "session_info", name })),
    text.map((thinkingLevel) => ({ type: "thinking_level_change", thinkingLevel })),
    flag.map((own) => ({ type: "compaction", summary: "s", firstKeptEntryId: "x", ...own })),
    flag.map((own) => ({ type: "branch_summary", ...own, summary: "s", odd: 1 })),
  );

  it("restores the same bytes of everything that pi writes (Verifies: P19)", () => {
    fc.assert(
      fc.property(entry, fc.option(text, { nil: undefined }), (value, before) => {
        const line = JSON.stringify({ id: "1", ...value, timestamp: "t" });
        expect(convert(convert(line, "omp", before), "pi", before)).toBe(line);
      }),
    );
  });

  it("changes nothing the second time", () => {
    fc.assert(
      fc.property(entry, fc.constantFrom("pi", "omp"), (value, to) => {
        const once = convert(JSON.stringify(value), to, "before");
        expect(convert(once, to, "before")).toBe(once);
      }),
    );
  });
});
