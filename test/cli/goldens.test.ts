/** What the commands print for small sessions, as text and as JSON, against stored outputs. */
import { expect, it } from "vitest";
import { branchlog, fixture, onTerminal } from "./command-run.ts";

const sessions = [
  "pi-branches",
  "pi-compaction-boundaries",
  "pi-context-edits",
  "pi-cycles",
  "pi-duplicate-ids",
  "pi-labels-and-names",
  "pi-linear",
  "pi-malformed-bodies",
  "pi-missing-parents",
  "pi-side-entries",
  "pi-v1",
];

const sessionsAsJson = ["pi-branches", "pi-labels-and-names", "pi-missing-parents", "pi-v1"];

/** A bar stands for a pipe; all others run on a terminal. */
const commands: readonly (readonly string[])[] = [
  ["info"],
  ["info", "|"],
  ["tree"],
  ["tree", "--all"],
  ["tree", "|"],
  ["context", "|"],
  ["context", "--full", "|"],
  ["entries"],
  ["entries", "|"],
  ["verify"],
];

/** Where the fixtures lie, and what opening cost, differ from one machine to the next. */
function settled(text: string): string {
  return text
    .replaceAll(fixture(""), "/fixtures/")
    .replaceAll(/^opened in .*$/gm, "opened in  …")
    .replaceAll(/"opening":\{[^}]*\}/g, '"opening":{}');
}

it.each(sessions)("for %s the commands print the expected text", async (session) => {
  const texts: string[] = [];
  for (const [name = "", ...rest] of commands) {
    const options = rest.filter((word) => word !== "|");
    const runs = rest.includes("|") ? branchlog : onTerminal;
    const { code, out, err } = await runs([name, fixture(`${session}.jsonl`), ...options]);
    const words = ["branchlog", name, `${session}.jsonl`, ...rest].join(" ");
    texts.push(`$ ${words}\n${out}${err}[${code}]\n`);
  }
  await expect(settled(texts.join("\n"))).toMatchFileSnapshot(`golden/${session}.txt`);
});

it.each(sessionsAsJson)("for %s the commands print the expected JSON", async (session) => {
  const texts: string[] = [];
  for (const name of ["info", "tree", "context", "entries", "verify"]) {
    const { code, out, err } = await branchlog([name, fixture(`${session}.jsonl`), "--json"]);
    const lines = out.split("\n").filter((line) => line !== "");
    const pretty = lines.map((line) => JSON.stringify(JSON.parse(line), null, 1)).join("\n");
    texts.push(`$ branchlog ${name} ${session}.jsonl --json\n${pretty}\n${err}[${code}]\n`);
  }
  await expect(settledJson(texts.join("\n"))).toMatchFileSnapshot(`golden/${session}.json.txt`);
});

function settledJson(text: string): string {
  return settled(text).replaceAll(/"opening": \{[^}]*\}/g, '"opening": {}');
}
