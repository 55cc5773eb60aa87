/** Laws of imports, over random sources of both kinds. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { claudeSource } from "./arbitrary-claude.ts";
import type { ModelledSource } from "./arbitrary-claude.ts";
import { codexSource } from "./arbitrary-codex.ts";
import { importedLines, skippedCount } from "./imported.ts";
import type { Imported } from "./imported.ts";

const kinds: readonly (readonly [string, fc.Arbitrary<ModelledSource>])[] = [
  ["Claude Code", claudeSource],
  ["Codex", codexSource],
];

/** The texts in a JSON, in their order. */
function textsIn(json: string): string[] {
  return json.match(/<\d+>/g) ?? [];
}

/** The entries on the path to the leaf of the new log. */
async function pathOf({ session }: Imported): Promise<string[]> {
  const texts: string[] = [];
  for await (const entry of session.entries({ on: "branch" })) {
    // A signature repeats what it signs.
    const json = JSON.stringify(entry, (key, value: unknown) =>
      key === "thinkingSignature" ? undefined : value,
    );
    texts.push(...textsIn(json));
  }
  return texts;
}

describe.each(kinds)("any source of %s", (_name, source) => {
  it("is accounted for line by line", async () => {
    await fc.assert(
      fc.asyncProperty(source, async ({ lines }) => {
        const { report } = await importedLines(lines);
        expect(report.lines).toBe(lines.length);
        expect(report.imported + skippedCount(report)).toBe(lines.length);
      }),
      { numRuns: 60 },
    );
  });

  it("gives a log with every text of the path in one entry, and with every parent", async () => {
    await fc.assert(
      fc.asyncProperty(source, async ({ lines, path }) => {
        const { entries, session } = await importedLines(lines);
        const known = new Set<string | null>([null]);
        const found = new Map<string, number>();
        for (const entry of entries) {
          expect(known).toContain(entry.parentId);
          known.add(entry.id);
          for (const text of new Set(textsIn(JSON.stringify(entry)))) {
            found.set(text, (found.get(text) ?? 0) + 1);
          }
        }
        expect(session.diagnostics).toEqual([]);
        expect([...found.keys()]).toEqual(expect.arrayContaining([...path]));
        expect([...found.values()].every((count) => count === 1)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it("ends where the source does, with all messages of the path", async () => {
    await fc.assert(
      fc.asyncProperty(source, async ({ lines, path, beside }) => {
        const imported = await importedLines(lines);
        const said = await pathOf(imported);
        const titles = new Set(titlesOf(imported));
        const expected = path.filter((text) => said.includes(text));
        expect(expected).toEqual(path);
        const more = said.filter((text) => !path.includes(text));
        expect(more.filter((text) => !beside.has(text) && !titles.has(text))).toEqual([]);
        expect(said.filter((text) => path.includes(text))).toEqual(path);
      }),
      { numRuns: 60 },
    );
  });
});

function titlesOf({ entries }: Imported): string[] {
  const named = entries.filter(({ type }) => type === "session_info");
  return named.flatMap((entry) => textsIn(JSON.stringify(entry)));
}
