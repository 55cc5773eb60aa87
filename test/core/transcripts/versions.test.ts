/**
 * Transcripts as three versions of each agent write them, against what is next to them. After a
 * change that is meant: `npx vitest run test/core/transcripts/versions.test.ts -u`, then read the
 * difference.
 */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findSessions, searchSessions } from "@branchlog/library";
import { openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { directoryState } from "../../support/directory-state.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, importedFile, spoken } from "../../tools/import/imported.ts";

const claude = "projects/-home-dev-shop";
const claudeId = "c1a0de21-0000-4000-8000-000000000001";

/** Where the agent keeps it, and what a search in it finds. */
const versions: readonly (readonly [name: string, place: string, query: string])[] = [
  ["claude-1.0", `${claude}/c1a0de01-0000-4000-8000-000000000001.jsonl`, "sleeps for 9 s"],
  ["claude-2.0", `${claude}/c1a0de20-0000-4000-8000-000000000001.jsonl`, "The tax is rounded"],
  ["claude-2.1", `${claude}/${claudeId}.jsonl`, "cart.ts and tax.ts call it"],
  ["claude-2.1-agent", `${claude}/${claudeId}/subagents/agent-a1675717a14cbb80d.jsonl`, "tax.ts:9"],
  [
    "codex-0.23",
    "sessions/2025/08/21/rollout-2025-08-21T12-00-00-3c4b3010-27c8-4c70-b6e4-46b99fdf0236.jsonl",
    "12 lines",
  ],
  [
    "codex-0.65",
    "sessions/2025/12/05/rollout-2025-12-05T09-00-00-019aed65-0000-7000-8000-000000000001.jsonl",
    "Added more.md",
  ],
  [
    "codex-0.154",
    "archived_sessions/rollout-2026-09-18T11-31-00-01a0b3da-c522-7af2-8a6d-2e1aed53b269.jsonl",
    "Added more.md",
  ],
];

/** A copy where the agent keeps it. */
function keptAs(name: string, place: string): { readonly root: string; readonly path: string } {
  const root = temporaryDirectory();
  const path = join(root, place);
  mkdirSync(join(path, ".."), { recursive: true });
  copyFileSync(fixturePath(`transcripts/versions/${name}.jsonl`), path);
  return { root, path };
}

async function contexts(session: Session): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const { id } of session.tips()) {
    found[id] = spoken((await session.context({ at: id })).messages);
  }
  return found;
}

async function projections(session: Session): Promise<object> {
  const entries: string[] = [];
  for await (const { id, parentId, type, ...rest } of session.entries()) {
    const { role } = ("message" in rest ? rest.message : undefined) ?? {};
    const what = [type, role, "customType" in rest ? rest.customType : undefined];
    const words = what.filter((word) => word !== undefined).join(" ");
    entries.push(`${id} below ${parentId ?? "nothing"}: ${words}`);
  }
  const { model, thinkingLevel } = session.settings;
  return {
    header: session.header,
    name: session.name ?? null,
    leaf: session.leaf,
    settings: { model, thinkingLevel },
    usage: (await session.usage).total,
    entries,
    contexts: await contexts(session),
    findings: session.diagnostics,
  };
}

describe.each(versions)("the transcript of %s", (name, place, query) => {
  it("has in place, and in lists, the projections beside it, and nothing is written", async () => {
    const { root, path } = keptAs(name, place);
    const before = directoryState(root);
    const session = await openSession(path);
    const found = await findSessions([root], { artifacts: true });
    const [listed] = found.sessions;
    const { name: title, summary, transcript, usage } = listed ?? {};
    const spent = { models: usage?.models, tokens: usage?.total.totalTokens };
    const seen = {
      ...(await projections(session)),
      listed: {
        name: title ?? null,
        ...summary,
        of: transcript?.of,
        ...spent,
        isSubagent: transcript?.isSubagent,
      },
    };
    const expected = fixturePath(`transcripts/versions/${name}.expected.json`);
    await expect(`${JSON.stringify(seen, null, 1)}\n`).toMatchFileSnapshot(expected);
    expect(listed?.path).toBe(path);
    expect(listed?.header).toEqual(session.header);
    expect(directoryState(root)).toEqual(before);
  });

  it("is searched, and hits can be opened", async () => {
    const { root, path } = keptAs(name, place);
    const session = await openSession(path);
    const hits = [];
    for await (const hit of searchSessions(root, query)) hits.push(hit);
    expect(hits.length).toBeGreaterThan(0);
    for (const { entryId, snippet, header } of hits) {
      expect(header).toEqual(session.header);
      const entry = JSON.stringify(await session.entry(entryId));
      expect(entry).toContain(snippet.text.slice(snippet.matchStart, snippet.matchEnd));
    }
  });

  it("has in place the entries of its import", async () => {
    const { path } = keptAs(name, place);
    const session = await openSession(path);
    const { session: imported, report } = await importedFile(path);
    expect(report.diagnostics).toEqual([]);
    const { id, cwd, timestamp } = session.header;
    expect(imported.header).toMatchObject({ id, cwd, timestamp });
    expect(imported.name).toBe(session.name);
    const said = async (of: Session): Promise<string[]> =>
      spoken((await of.context({ bridgeGaps: true })).messages);
    expect(await said(session)).toEqual(await said(imported));
  });
});
