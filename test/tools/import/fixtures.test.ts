/**
 * Every source of another agent among the fixtures, against the log and the projections that are
 * next to it. After an intended change: `npx vitest run test/tools/import/fixtures.test.ts
 * -u`, then read the difference.
 */
import { readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fixturePath, importedFile, skippedCount, spoken, transcripts } from "./imported.ts";
import type { Imported } from "./imported.ts";

/** What a reader of the new log sees, without what depends on the version of Node. */
async function projections({ report, session }: Imported): Promise<unknown> {
  const { kind, lines, imported, skipped, entries, diagnostics } = report;
  const paths: Record<string, string[]> = {};
  for (const { id } of session.tips()) {
    paths[id] = spoken((await session.context({ at: id })).messages);
  }
  const { model, thinkingLevel } = session.settings;
  return {
    report: { kind, lines, imported, skipped, entries },
    findings: diagnostics.map(({ kind: what, line }) => `line ${line ?? "?"}: ${what}`),
    header: { ...session.header, parentSession: "<source>" },
    name: session.name ?? null,
    leaf: session.leaf,
    settings: { model, thinkingLevel },
    usage: (await session.usage).total,
    contexts: paths,
  };
}

describe.each(transcripts)("the source %s", (name) => {
  const source = fixturePath(`${name}.jsonl`);

  it("becomes the expected log", async () => {
    const { text } = await importedFile(source);
    await expect(text).toMatchFileSnapshot(fixturePath(`${name}.log.jsonl`));
  });

  it("has the expected projections", async () => {
    const seen = await projections(await importedFile(source));
    const json = `${JSON.stringify(seen, null, 1)}\n`;
    await expect(json).toMatchFileSnapshot(fixturePath(`${name}.expected.json`));
  });

  it("is accounted for line by line, and gives a log without damage", async () => {
    const { report, session } = await importedFile(source);
    const lines = readFileSync(source).toString("latin1").split("\n");
    expect(report.lines).toBe(lines.length - (lines.at(-1) === "" ? 1 : 0));
    expect(report.imported + skippedCount(report)).toBe(report.lines);
    expect(session.diagnostics).toEqual([]);
    // A name of the source is an entry more.
    expect([0, 1]).toContain(session.revision - report.entries);
  });

  it("is not changed", async () => {
    const before = { bytes: readFileSync(source), mtime: statSync(source).mtimeMs };
    await importedFile(source);
    expect(readFileSync(source)).toEqual(before.bytes);
    expect(statSync(source).mtimeMs).toBe(before.mtime);
  });
});
