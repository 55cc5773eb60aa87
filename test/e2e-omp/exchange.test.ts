/** Files that the real omp and our face exchange, both on Bun. (Verifies: P20) */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { installOmp, runOnBun } from "./support/omp-program.ts";
import type { Side } from "./support/omp-program.ts";

interface Described {
  readonly name: string | null;
  readonly leaf: string;
  readonly entries: readonly { readonly type: string }[];
  readonly context: { readonly messages: readonly unknown[]; readonly models: unknown };
  readonly listed: readonly { readonly id: string; readonly title: string | null }[];
}

beforeAll(() => installOmp());

/** Both sides of a file that lies in a separate directory. */
function described(file: string): Record<Side, Described> {
  const of = (side: Side): Described => {
    const directory = temporaryDirectory();
    const copy = join(directory, "session.jsonl");
    cpSync(file, copy);
    // What the program printed has this form.
    return runOnBun(side, directory, "describe.mjs", copy, directory) as Described;
  };
  return { omp: of("omp"), ours: of("ours") };
}

function begun(side: Side, directory: string, file = ""): string {
  const args = [directory, directory, ...(file === "" ? [] : [file])];
  const { file: path } = runOnBun(side, directory, "converse.mjs", ...args) as { file: string };
  return path;
}

describe("a session", () => {
  // omp 18 reads names from the title slot and in the header, which is written once; as a name it
  // lists what its first compaction says in few words where it finds none.
  const withoutName = ({ name: _name, listed, ...rest }: Described): unknown => ({
    ...rest,
    listed: listed.map(({ id }) => id),
  });

  it.each([
    ["begun by us", "ours", undefined],
    ["begun by omp", "omp", undefined],
    ["begun by us and continued by omp", "ours", "omp"],
    ["begun by omp and continued by us", "omp", "ours"],
  ] as const)("%s reads the same on both sides", (_how, first, second) => {
    const directory = temporaryDirectory();
    const file = begun(first, directory);
    if (second !== undefined) begun(second, directory, file);
    const { omp, ours } = described(file);
    if (first === "ours" && second === undefined) {
      expect(withoutName(ours)).toEqual(withoutName(omp));
    } else {
      expect(ours).toEqual(omp);
    }
    expect(omp.context.messages.length).toBeGreaterThanOrEqual(4);
    expect(omp.listed).toHaveLength(1);
    expect(ours.name).toBe(`${second === undefined ? "begun" : "continued"} with a name`);
  });

  it.each(["seed-omp", "omp-jan", "omp-18"])("from the fixture %s reads the same", (name) => {
    const { omp, ours } = described(
      fileURLToPath(new URL(`../../fixtures/${name}.jsonl`, import.meta.url)),
    );
    expect(ours.entries).toEqual(omp.entries);
    expect(ours.leaf).toBe(omp.leaf);
    expect(ours.name).toBe(omp.name);
    expect(ours.context).toEqual(omp.context);
  });
});

it("the example of the format's document prints the expected output for our file", () => {
  const directory = temporaryDirectory();
  const file = begun("ours", directory);
  const lines = runOnBun("ours", directory, "parsing-example.mjs", file) as string[];
  const ids = readFileSync(file, "utf8").matchAll(/"id":"([^"]*)","parentId"/g);
  const named = lines.map((line) => line.replace(/^Session v3: .*/, "Session v3: S"));
  let text = named.join("\n");
  for (const [at, [, id = ""]] of [...ids].entries()) text = text.replaceAll(id, `#${at + 1}`);
  expect(text.split("\n")).toEqual([
    "Session v3: S",
    "[#1] Model: anthropic/claude-sonnet-4-5 (default)",
    "[#2] Thinking: high",
    '[#3] user: "begun by a user"',
    '[#4] assistant: [{"type":"text","text":"begun by an assistant"}]',
    "[#6] Model: openai/gpt-4o (smol)",
    "[#7] Custom message (ext): begun by an extension",
    "[#8] TTSR rules: rule when begun",
    '[#9] Label "begun here" on #3',
    "[#10] Branch from #3",
    '[#11] assistant: [{"type":"text","text":"begun on a branch"}]',
    "[#12] Compaction: 100 tokens summarized",
    '[#13] user: "begun after a compaction"',
    '[#14] assistant: [{"type":"text","text":"begun and answered"}]',
  ]);
});
