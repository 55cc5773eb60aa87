/** Exports of one path of a session of omp: a log in pi's words, as a conversion gives it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { convertSession, exportLinear } from "@branchlog/tools";
import type { LinearReport } from "@branchlog/tools";
import { encodeTitleSlot } from "@branchlog/core/testing";
import { fixtureFile } from "../../support/fixture.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fileOf, header, recordsIn, textLines } from "../../core/copies/session-files.ts";
import { stored, user } from "../../core/projections/sample-entries.ts";

const slot = encodeTitleSlot({ title: "In the slot", updatedAt: "2026-02-02T00:00:00.000Z" })
  .toString()
  .trimEnd();

function exported(source: string, at?: string, lineBytesMax = 10_000): Promise<LinearReport> {
  const target = join(temporaryDirectory(), "linear.jsonl");
  return exportLinear(source, target, { at, lineBytesMax });
}

async function convertedForPi(source: string): Promise<string> {
  const target = join(temporaryDirectory(), "pi.jsonl");
  return (await convertSession(source, { to: "pi", target })).path;
}

/** What pi's drop-in makes of a log that was opened as pi opens one. */
function inPi(path: string): object {
  const manager = SessionManager.open(path);
  const ids = manager.getEntries().map(({ id }) => id);
  const labels = ids.map((id) => manager.getLabel(id));
  return { context: manager.buildSessionContext(), name: manager.getSessionName(), labels };
}

/** The lines of a log but for an entry with the name, whose id is new each time. */
function linesBut({ path, addedName }: LinearReport): string[] {
  return textLines(path).slice(0, addedName ? -1 : undefined);
}

describe("a path of a session of omp", () => {
  it("is in the dialect of pi, and the report says what changed", async () => {
    const source = fileOf(
      slot,
      { ...header, title: "Old" },
      stored("model_change", "1", null, { model: "openai/m", role: "default" }),
      stored("model_change", "2", "1", { model: "openai/s", role: "smol" }),
      stored("thinking_level_change", "3", "2", { thinkingLevel: null }),
      user("4", "3", "a"),
      stored("title_change", "5", "4", { title: "Before", source: "auto" }),
      stored("compaction", "6", "5", {
        summary: "s",
        firstKeptEntryId: "4",
        tokensBefore: 1,
        fromExtension: true,
      }),
      user("7", "4", "on another branch"),
    );
    const { path, sizeBytes, ...changes } = await exported(source, "6");
    expect(sizeBytes).toBe(readFileSync(path).length);
    expect(changes).toEqual({
      converted: { model_change: 1, thinking_level_change: 1, title_change: 1, compaction: 1 },
      addedName: true,
      resets: 0,
    });
    const records = recordsIn(path);
    expect(records).toMatchObject([
      header,
      { type: "model_change", provider: "openai", modelId: "m" },
      { type: "model_change", model: "openai/s" },
      { type: "thinking_level_change", thinkingLevel: "off" },
      { type: "message", id: "4" },
      { type: "session_info", name: "Before", parentId: "4" },
      { type: "compaction", fromHook: true },
      { type: "session_info", name: "In the slot", parentId: "6" },
    ]);
    expect(records[0]).toEqual(header);
    expect(textLines(path).at(-1)).toMatch(/"id":"[0-9a-f]{8}"/);
    expect((await openSession(path)).dialect).toBe("pi");
  });

  it.each([
    ["renamed", "later", { type: "session_info", id: "2", name: "later" }],
    ["without its name", "", { type: "message" }],
  ])("is %s like its source, whose entry for that is elsewhere", async (_, title, last) => {
    const source = fileOf(
      { ...header, title: "first" },
      user("1", null, "a"),
      stored("title_change", "2", "1", { title, source: "user" }),
    );
    const { path, addedName } = await exported(source, "1");
    expect(addedName).toBe(false);
    expect((await openSession(path)).name).toBe((await openSession(source)).name);
    expect(recordsIn(path).at(-1)).toMatchObject(last);
  });

  it("is converted also when its lines are too long to be joined", async () => {
    const fields = { summary: "s".repeat(1_000_000), firstKeptEntryId: "1", fromExtension: true };
    const source = fileOf(header, user("1", null, "a"), stored("compaction", "2", "1", fields));
    const { path, converted } = await exported(source);
    expect(converted).toEqual({ compaction: 1 });
    expect(recordsIn(path)[2]).toMatchObject({ summary: fields.summary, fromHook: true });
  });

  it("is linked and converted when a damaged entry is omitted", async () => {
    const source = fileOf(
      header,
      user("1", null, "a"),
      JSON.stringify(user("2", "1", "b")).replace('"b"', "torn"),
      stored("title_change", "3", "2", { title: "T" }),
    );
    const { path, converted } = await exported(source);
    expect(converted).toEqual({ title_change: 1 });
    const last = { type: "session_info", id: "3", parentId: "1", name: "T" };
    expect(recordsIn(path)).toMatchObject([header, { id: "1" }, last]);
  });
});

describe.each(["omp-jan", "omp-18", "seed-omp", "mixed-dialects"])("a path of %s", (name) => {
  const source = fixtureFile(name);

  it("opens in pi, and equals an export of the converted session", async () => {
    const session = await openSession(source, { access: "read" });
    const forPi = await convertedForPi(source);
    for (const { id } of session.tips()) {
      const report = await exported(source, id);
      const wanted = await exported(forPi, id);
      expect(inPi(report.path)).toMatchObject(inPi(wanted.path));
      const again = await exported(report.path);
      expect([again.converted, again.addedName]).toEqual([{}, false]);
      expect(linesBut(again)).toEqual(textLines(report.path));
    }
  });
});

interface Words {
  readonly type: string;
  readonly fields: (text: string) => object;
}

const plain: Words = {
  type: "custom_message",
  fields: (text) => ({ customType: "c", content: text, display: true }),
};

/** Entries as only one of the two agents writes them, or both. */
const kinds: readonly Words[] = [
  plain,
  { type: "model_change", fields: (text) => ({ model: `openai/${text}`, role: "default" }) },
  { type: "model_change", fields: (text) => ({ model: `openai/${text}`, role: "smol" }) },
  { type: "model_change", fields: (text) => ({ provider: "openai", modelId: text }) },
  { type: "thinking_level_change", fields: () => ({ thinkingLevel: null }) },
  { type: "title_change", fields: (text) => ({ title: text, source: "user", previousTitle: "a" }) },
  { type: "session_info", fields: (text) => ({ name: text }) },
  {
    type: "branch_summary",
    fields: (text) => ({ fromId: "e0", summary: text, fromExtension: true }),
  },
];

const arbitraryEntry = fc.record({
  kind: fc.nat({ max: kinds.length - 1 }),
  back: fc.nat({ max: 3 }),
  text: fc.constantFrom("", "a", "b", " c "),
});

it("exporting a session of omp equals exporting its conversion (Verifies: P22)", async () => {
  const beginnings = fc.constantFrom<readonly (string | object)[]>(
    [header],
    [{ ...header, title: "T" }],
    [slot, header],
  );
  const entries = fc.array(arbitraryEntry, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(beginnings, entries, fc.nat(), async (beginning, drawn, chosen) => {
      const records = drawn.map(({ kind, back, text }, i) => {
        const { type, fields } = kinds[kind] ?? plain;
        const parentId = i === 0 ? null : `e${Math.max(0, i - 1 - back)}`;
        return stored(type, `e${i}`, parentId, fields(text));
      });
      const source = join(temporaryDirectory(), "source.jsonl");
      const texts = [...beginning, ...records].map((one) =>
        typeof one === "string" ? one : JSON.stringify(one),
      );
      writeFileSync(source, `${texts.join("\n")}\n`);
      const at = `e${chosen % drawn.length}`;
      const report = await exported(source, at);
      expect(inPi(report.path)).toMatchObject(
        inPi((await exported(await convertedForPi(source), at)).path),
      );
      expect((await openSession(report.path)).name).toBe((await openSession(source)).name);
    }),
    { numRuns: 40 },
  );
});
