/** The archive as a store: its sessions are listed, searched and opened as those of any store. */
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { BranchlogError, StoredSession } from "@branchlog/core";
import {
  archiveSessions,
  archiveStore,
  archivedSessions,
  findSessions,
  restoreSession,
  searchSessions,
} from "@branchlog/library";
import { collected } from "../../support/collected.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath } from "../../tools/import/imported.ts";

const fixtures = {
  "pi.jsonl": "pi-branches.jsonl",
  "omp.jsonl": "omp-18.jsonl",
  "c1a0de30-0000-4000-8000-000000000001.jsonl": "claude/conversation.jsonl",
  "rollout-2026-01-05T12-00-00-3c4b3010-27c8-4c70-b6e4-46b99fdf0236.jsonl":
    "codex/conversation.jsonl",
  "agent.yaml": "connectonion-ideal.yaml",
};

interface Kept {
  readonly root: string;
  readonly dataDir: string;
  readonly paths: readonly string[];
}

function kept(names: readonly (keyof typeof fixtures)[]): Kept {
  const root = temporaryDirectory();
  const paths = names.map((name) => {
    const path = join(root, name);
    copyFileSync(fixturePath(fixtures[name]), path);
    return path;
  });
  return { root, dataDir: temporaryDirectory(), paths };
}

// Cast: the keys of a literal are those of its type.
const all = Object.keys(fixtures) as (keyof typeof fixtures)[];

async function said(place: string | StoredSession): Promise<unknown> {
  const session = await (typeof place === "string" ? openSession(place) : openSession(place));
  try {
    const entries = await collected(session.entries());
    return { header: session.header, name: session.name, entries };
  } finally {
    await session.close();
  }
}

describe("the archive as a store", () => {
  it("finds the same hits as a search of the files, under their paths", async () => {
    const { root, dataDir } = kept(all);
    const before = await collected(searchSessions([root], "the"));
    expect(new Set(before.map(({ path }) => path)).size).toBeGreaterThan(3);
    await archiveSessions([root], { dataDir, force: true });
    expect(readdirSync(root)).toEqual([]);
    const after = await collected(searchSessions({ store: archiveStore({ dataDir }) }, "the"));
    const sorted = (hits: typeof after): unknown[] =>
      hits.toSorted((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0));
    expect(sorted(after)).toEqual(sorted(before));
  });

  it("lists archived sessions without reading them", async () => {
    const { root, dataDir } = kept(all);
    const { sessions: before } = await findSessions([root], { catalog: "off" });
    await archiveSessions([root], { dataDir, force: true });
    rmSync(join(dataDir, "packs"), { recursive: true, force: true });
    const { sessions } = await findSessions({ store: archiveStore({ dataDir }) });
    const facts = (listed: typeof sessions): unknown =>
      listed
        .map(({ path, header, name, summary, transcript, dialect }) => ({
          ...summary,
          lastActivityMs: undefined,
          path,
          name,
          id: header.id,
          cwd: header.cwd,
          agent: transcript?.of ?? dialect,
        }))
        .toSorted((one, other) => (one.path < other.path ? -1 : 1));
    expect(facts(sessions)).toEqual(facts(before));
  });

  it("opens any archived session unchanged, and rejects appends", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.constantFrom(...all), { minLength: 1 }), async (names) => {
        const { root, dataDir, paths } = kept(names);
        const before = await Promise.all(paths.map((path) => said(path)));
        await archiveSessions([root], { dataDir, force: true });
        const store = archiveStore({ dataDir });
        for (const [at, id] of paths.entries()) {
          expect(await said({ store, id })).toEqual(before[at]);
        }
      }),
      { numRuns: 10 },
    );
    const { dataDir, paths } = kept(["pi.jsonl"]);
    await archiveSessions(paths, { dataDir, force: true });
    const session = await openSession({ store: archiveStore({ dataDir }), id: paths[0] ?? "" });
    const appended = session.append({ type: "custom", customType: "x:y" });
    await expect(appended).rejects.toThrow("branchlog restore");
    await session.close();
    await restoreSession(paths[0] ?? "", { dataDir });
    expect(readFileSync(paths[0] ?? "")).toEqual(readFileSync(fixturePath("pi-branches.jsonl")));
  });

  it("omits damaged sessions from a search, reports them, and finds the rest", async () => {
    const { dataDir, paths } = kept(["pi.jsonl", "omp.jsonl"]);
    for (const path of paths) await archiveSessions([path], { dataDir, force: true });
    const [first] = await archivedSessions({ dataDir });
    const packs = join(dataDir, "packs");
    const [damaged = ""] = readdirSync(packs);
    writeFileSync(join(packs, damaged), "not a pack");
    const problems: BranchlogError[] = [];
    const onProblem = (error: BranchlogError): number => problems.push(error);
    const store = archiveStore({ dataDir, onProblem });
    const hits = await collected(searchSessions({ store }, "the"));
    expect(problems.map(({ code }) => code)).toEqual(["ERR_ARCHIVE_DAMAGED"]);
    expect(new Set(hits.map(({ path }) => path)).size).toBe(1);
    expect(first).toBeDefined();
  });
});
