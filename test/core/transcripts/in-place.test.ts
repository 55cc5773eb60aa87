/** Transcripts of other agents, opened where they are, against what importing them gives. */
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import type { AgentMessage } from "@branchlog/core/entries";
import { fixturePath, importedFile, spoken } from "../../tools/import/imported.ts";

const names = [
  "claude/conversation",
  "claude/branches",
  "claude/sidechains",
  "claude/compaction",
  "claude/damaged",
  "codex/conversation",
  "codex/rollback",
  "codex/compaction",
  "codex/damaged",
];

/** What is said on each branch and at the leaf, in some order. */
async function contexts(session: Session): Promise<string[]> {
  const found = [...session.tips().map(({ id }) => id), session.leaf].map(async (at) => {
    return spoken((await session.context({ at })).messages).join("\n");
  });
  const said = new Set(await Promise.all(found));
  return [...said].filter((text) => text !== "").toSorted((one, other) => (one < other ? -1 : 1));
}

/** Of summaries the time differs: that of their boundary; of rollouts the place of the usage. */
function comparable({ kind }: { kind: string }, messages: readonly AgentMessage[]): unknown[] {
  return messages.map((message) => {
    const { timestamp: _time, ...rest } = message;
    if (kind !== "codex" || message.role !== "assistant") return rest;
    const { usage: _usage, ...said } = message;
    return { ...said, timestamp: 0 };
  });
}

describe.each(names)("the transcript %s", (name) => {
  const path = fixturePath(`${name}.jsonl`);

  it("has in place the context that it has once it is imported", async () => {
    const session = await openSession(path);
    const { session: imported, report } = await importedFile(path);
    const { messages } = await session.context({ bridgeGaps: true });
    const expected = await imported.context();
    expect(comparable(report, messages)).toEqual(comparable(report, expected.messages));
    const { model, thinkingLevel } = session.settings;
    expect({ model, thinkingLevel }).toEqual(imported.settings);
  });

  it("has the header, the name, the usage and the branches that it has once it is imported", async () => {
    const session = await openSession(path);
    const { session: imported } = await importedFile(path);
    expect(session.name).toBe(imported.name);
    expect((await session.usage).total).toEqual((await imported.usage).total);
    expect(session.header).toEqual(imported.header);
    if (!name.endsWith("damaged"))
      expect(await contexts(session)).toEqual(await contexts(imported));
  });
});
