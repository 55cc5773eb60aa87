/** Transcripts of other agents, given to every command that works on sessions. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandNames } from "../../packages/cli/src/commands.ts";
import { runs } from "../support/fault-seed.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines, MemoryOutput } from "./command-run.ts";
import { samplesOf } from "./command-samples.ts";

const transcripts = [
  ["a transcript of Claude Code", "claude/conversation.jsonl"],
  ["a transcript of Claude Code", "claude/branches.jsonl"],
  ["a transcript of Claude Code", "claude/damaged.jsonl"],
  ["a rollout of Codex", "codex/conversation.jsonl"],
  ["a rollout of Codex", "codex/damaged.jsonl"],
] as const;
type Outcome = "reads" | "ERR_READ_ONLY" | "ERR_NOT_A_SESSION";
/** What each command does with a file that only its agent writes to. */
const outcomes: Readonly<Record<string, Outcome>> = {
  info: "reads",
  list: "reads",
  resume: "reads",
  tree: "reads",
  context: "reads",
  turns: "reads",
  entries: "reads",
  tail: "reads",
  verify: "reads",
  diff: "reads",
  stats: "reads",
  export: "reads",
  search: "reads",
  index: "reads",
  fork: "reads",
  migrate: "reads",
  append: "ERR_READ_ONLY",
  name: "ERR_READ_ONLY",
  label: "ERR_READ_ONLY",
  watch: "ERR_NOT_A_SESSION",
  repair: "ERR_NOT_A_SESSION",
  convert: "ERR_NOT_A_SESSION",
  delete: "ERR_NOT_A_SESSION",
};
const refusals: Readonly<Record<Exclude<Outcome, "reads">, readonly string[]>> = {
  ERR_READ_ONLY: ["which only that agent writes to"],
  ERR_NOT_A_SESSION: ["not a session"],
};
/** What takes a session away does so with all that belongs to it. */
const advices: Readonly<Record<string, string>> = {
  delete: "branchlog archive",
  watch: "Give the directory of the sessions.",
};
/** They read none, need a server, or work on sessions of every agent, as separate tests show. */
const left = [
  "import",
  "pi",
  "doctor",
  "create",
  "store",
  "archive",
  "restore",
  "prune",
  "mv",
  "undo",
  "ops",
  "serve",
  "mcp",
];
const others = commandNames.filter((name) => !left.includes(name));

/** `name` without a name shows it. */
function outcomeOf(command: string, words: readonly string[]): Outcome {
  const outcome = outcomes[command];
  if (outcome === undefined) throw new Error(`say what ${command} does with a transcript`);
  return command === "name" && words.length === 1 ? "reads" : outcome;
}

/** All in a soak run; else every third one, by turns over the transcripts. */
function othersFor(name: string): readonly string[] {
  const turn = transcripts.findIndex(([, one]) => one === name);
  return others.filter((_, n) => (n + turn) % runs(3, 1) === 0);
}

describe.each(transcripts)("%s (%s)", (agent, name) => {
  it.each(othersFor(name))("is read or rejected by %s, and not changed", async (command) => {
    const directory = temporaryDirectory();
    const output = temporaryDirectory();
    // A name that says nothing: the content tells.
    const file = join(directory, "session.jsonl");
    copyFileSync(fixture(name), file);
    const [entryId = ""] = (await branchlog(["entries", file])).out.split("\t", 1);
    for (const words of samplesOf(command, { file, output, entryId })) {
      const outcome = outcomeOf(command, words);
      const text = await branchlog([command, ...words]);
      if (outcome === "reads") {
        // A damaged file has a separate code, as a session has.
        const found = name.includes("damaged") && ["info", "verify"].includes(command);
        const differs = command === "diff" && text.out !== "";
        expect(text.code, text.err).toBe(found || differs ? 1 : 0);
        expect(text.err).not.toContain("ERR_");
        continue;
      }
      expect(text.code, words.join(" ")).toBe(1);
      expect(text.out).toBe("");
      expect(text.err).toContain(`${file} is ${agent}, `);
      for (const part of refusals[outcome]) expect(text.err).toContain(part);
      expect(text.err).toContain(advices[command] ?? "branchlog import");
      expect(text.err).not.toContain("branchlog repair");

      const json = await branchlog([command, ...words, "--json"]);
      expect(json.code).toBe(1);
      expect(jsonLines(json.err)).toMatchObject([{ error: { code: outcome, path: file } }]);
    }
    expect(readFileSync(file).equals(readFileSync(fixture(name)))).toBe(true);
    expect(readdirSync(directory)).toEqual(["session.jsonl"]);
    if (outcomes[command] !== "reads") expect(readdirSync(output)).toEqual([]);
  });

  it("a transcript is imported as a session", async () => {
    const output = join(temporaryDirectory(), "session.jsonl");
    expect((await branchlog(["import", fixture(name), "-o", output])).code).toBe(0);
    expect((await branchlog(["verify", output])).code).toBe(0);
  });
});

it("a damaged session without a header is still offered a repair", async () => {
  const file = join(temporaryDirectory(), "session.jsonl");
  const [, ...entries] = readFileSync(fixture("pi-linear.jsonl"), "utf8").split("\n");
  writeFileSync(file, `{"type":"sess\n${entries.join("\n")}`);
  expect((await branchlog(["info", file])).err).toContain("branchlog repair");
  expect((await branchlog(["repair", file, "--apply"])).code).toBe(0);
});

describe("a tree on a terminal", () => {
  it("has short ids, and lines that fit, but full ids in a pipe", async () => {
    const file = fixture("claude/conversation.jsonl");
    const out = new MemoryOutput({ isTerminal: true, columns: 80 });
    await branchlog(["tree", file, "--all"], { out });
    const lines = out.text.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(10);
    // Two parts of one record begin alike, and need their whole ids.
    const short = lines.filter((line) => !line.includes("a1000099"));
    for (const line of short) expect(line.length).toBeLessThanOrEqual(80);
    expect(out.text).toContain("a1000011");
    expect(out.text).not.toContain("a1000011-0000-4000-8000-000000000001");
    const { out: piped } = await branchlog(["tree", file, "--all"]);
    expect(piped).toContain("a1000011-0000-4000-8000-000000000001");
  });
});
