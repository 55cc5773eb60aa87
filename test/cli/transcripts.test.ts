/** Transcripts of other agents, given to every command that works on sessions. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandNames } from "../../packages/cli/src/commands.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines } from "./command-run.ts";
import { samplesOf } from "./command-samples.ts";

const transcripts = [
  ["a transcript of Claude Code", "claude/conversation.jsonl"],
  ["a transcript of Claude Code", "claude/branches.jsonl"],
  ["a transcript of Claude Code", "claude/damaged.jsonl"],
  ["a rollout of Codex", "codex/conversation.jsonl"],
  ["a rollout of Codex", "codex/damaged.jsonl"],
] as const;
/** The one command that reads them. */
const others = commandNames.filter((name) => name !== "import");

describe.each(transcripts)("%s (%s)", (agent, name) => {
  it.each(others)("is refused by %s, which names the agent and the import", async (command) => {
    const directory = temporaryDirectory();
    const output = temporaryDirectory();
    // A name that says nothing: the content tells.
    const file = join(directory, "session.jsonl");
    copyFileSync(fixture(name), file);
    for (const words of samplesOf(command, { file, output, entryId: "5b2e9d04" })) {
      const text = await branchlog([command, ...words]);
      expect(text.code, words.join(" ")).toBe(1);
      expect(text.out).toBe("");
      expect(text.err).toContain(`${file} is ${agent}, not a session`);
      expect(text.err).toContain("branchlog import");
      expect(text.err).not.toContain("branchlog repair");

      const json = await branchlog([command, ...words, "--json"]);
      // Exports to standard output have no JSON of their own.
      if (json.code === 2) continue;
      expect(json.code).toBe(1);
      expect(jsonLines(json.err)).toMatchObject([
        { error: { code: "ERR_NOT_A_SESSION", path: file } },
      ]);
    }
    expect(readFileSync(file).equals(readFileSync(fixture(name)))).toBe(true);
    expect(readdirSync(directory)).toEqual(["session.jsonl"]);
    expect(readdirSync(output)).toEqual([]);
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
