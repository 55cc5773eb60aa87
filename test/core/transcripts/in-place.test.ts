/** Transcripts of other agents, opened where they are, against their copies. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { forkSession, openSession } from "@branchlog/core";
import type { AgentMessage } from "@branchlog/core/entries";
import { importSession } from "@branchlog/tools";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, transcripts } from "../../tools/import/imported.ts";

/** The lines of the entries that were copied; a name that follows them has its own id. */
function copiedLines(path: string, count: number): string[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .slice(1, 1 + count);
}

/** In place, the tokens of Codex are separate entries. */
function said(message: AgentMessage): object {
  if (message.role !== "assistant") return message;
  const { usage: _usage, ...rest } = message;
  return rest;
}

describe.each(transcripts)("the transcript %s", (name) => {
  const source = fixturePath(`${name}.jsonl`);

  it("has in an import the entries that it has in a fork", async () => {
    const directory = temporaryDirectory();
    const [one, other] = [join(directory, "import.jsonl"), join(directory, "fork.jsonl")];
    const { entries } = await importSession(source, one);
    expect((await forkSession(source, { target: other })).entries).toBe(entries);
    expect(copiedLines(one, entries)).toEqual(copiedLines(other, entries));
  });

  it("has in place the name, the settings and the context of its copy", async () => {
    const target = join(temporaryDirectory(), "import.jsonl");
    await importSession(source, target);
    const [session, copy] = [await openSession(source), await openSession(target)];
    const inPlace = await session.context({ bridgeGaps: true });
    const copied = await copy.context();
    expect(copied.messages.map(said)).toEqual(inPlace.messages.map(said));
    expect([copied.model, copied.thinkingLevel]).toEqual([inPlace.model, inPlace.thinkingLevel]);
    expect(copy.name).toBe(session.name);
    expect(copy.diagnostics).toEqual([]);
  });
});
