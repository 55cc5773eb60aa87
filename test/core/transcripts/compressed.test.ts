/** Rollouts that Codex compressed: read as they were before, in memory. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  archiveSessions,
  deleteSession,
  findSessions,
  restoreSession,
  searchSessions,
} from "@branchlog/library";
import { sharesFiles } from "@branchlog/library/catalogs";
import { openSession } from "@branchlog/core";
import { importDirectory, usageStatistics } from "@branchlog/tools";
import { branchlog } from "../../cli/command-run.ts";
import { collected } from "../../support/collected.ts";
import { directoryState } from "../../support/directory-state.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const fixtures = join(import.meta.dirname, "../../../fixtures");
const id = "019aed00-0000-7000-8000-000000000001";
const day = "sessions/2026/05/01";
const name = `rollout-2026-05-01T10-00-00-${id}.jsonl`;
const rollout = readFileSync(join(fixtures, "codex/conversation.jsonl"));
/** The same, as `zstd -3` writes it. */
const compressed = readFileSync(join(fixtures, "codex/conversation.jsonl.zst"));

/** A home of Codex with one rollout, and its path. */
function home(bytes: Buffer, end = ""): { readonly root: string; readonly path: string } {
  const root = temporaryDirectory();
  const path = join(root, day, `${name}${end}`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  writeFileSync(
    join(root, "session_index.jsonl"),
    `${JSON.stringify({ id, thread_name: "Serval pages", updated_at: "2026-05-01T10:00:00Z" })}\n`,
  );
  return { root, path };
}

const [plain, small] = [() => home(rollout), () => home(compressed, ".zst")];

/** What a reader has of it, without its path and size. */
async function facts({ root, path }: ReturnType<typeof home>): Promise<object> {
  await using session = await openSession(path, { access: "read" });
  const { sessions } = await findSessions([root], { catalog: "off" });
  const [listed] = sessions;
  const hits = await collected(searchSessions([root], "page"));
  const named = await collected(searchSessions([root], "serval"));
  return {
    listed: { ...listed, path: "", sizeBytes: 0, modifiedMs: 0 },
    header: session.header,
    name: session.name,
    leaf: session.leaf,
    entries: await collected(session.entries()),
    context: await session.context(),
    usage: await session.usage,
    total: (await usageStatistics([root])).total,
    hits: hits.map(({ entryId, kind }) => [entryId, kind]),
    named: named.map(({ entryId, kind }) => [entryId, kind]),
  };
}

describe("a rollout that Codex compressed", () => {
  it("has what it had before, in lists, searches, statistics and when it is opened", async () => {
    const [now, before] = [small(), plain()];
    const state = directoryState(now.root);
    expect(await facts(now)).toEqual(await facts(before));
    expect(directoryState(now.root)).toEqual(state);
  });

  it("is listed once while Codex has both files, and as one session before and after", async () => {
    const { root, path } = small();
    const listed = async () =>
      (await findSessions([root], { catalog: "off" })).sessions.map((one) => one.path);
    expect(await listed()).toEqual([path]);
    writeFileSync(join(root, day, name), rollout);
    expect(await listed()).toEqual([join(root, day, name)]);
    rmSync(path);
    expect(await listed()).toEqual([join(root, day, name)]);
  });

  it("is neither listed nor archived alone, if it is one of several files of its thread", async () => {
    const { root, path } = small();
    const later = `rollout-2026-05-01T11-00-00-${id}_${id.replace(/1$/, "2")}.jsonl`;
    expect(sharesFiles(path)).toBe(false);
    for (const end of ["", ".zst"]) {
      const other = join(root, "sessions/2026/05/02", `${later}${end}`);
      mkdirSync(dirname(other), { recursive: true });
      writeFileSync(other, end === "" ? rollout : compressed);
      const { sessions, unlisted } = await findSessions([root], { catalog: "off" });
      expect(sessions.map((one) => one.path)).toEqual(end === "" ? [other] : []);
      expect(unlisted.toSorted()).toEqual(end === "" ? [path] : [path, other]);
      // Also where a saved catalog has it as a session of its own.
      expect(sharesFiles(path)).toBe(true);
      const archiving = archiveSessions([path], { dataDir: temporaryDirectory(), force: true });
      await expect(archiving).rejects.toMatchObject({ code: "ERR_NOT_A_SESSION" });
      rmSync(other);
    }
  });

  it("is archived with the one that Codex decompressed", async () => {
    const { path } = small();
    const now = path.slice(0, -".zst".length);
    writeFileSync(now, rollout);
    const dataDir = temporaryDirectory();
    await archiveSessions([now], { dataDir, force: true });
    expect([existsSync(now), existsSync(path)]).toEqual([false, false]);
    await restoreSession(now, { dataDir });
    expect([readFileSync(now), readFileSync(path)]).toEqual([rollout, compressed]);
  });

  it("is found by its texts and by its name with an index", async () => {
    const { root } = small();
    const search = async (query: string) => (await branchlog(["search", query, root])).out;
    const before = [await search("page"), await search("serval"), await search("ocelot")];
    expect(before.map((out) => out !== "")).toEqual([true, true, false]);
    expect((await branchlog(["index", "update", root])).code).toBe(0);
    expect([await search("page"), await search("serval"), await search("ocelot")]).toEqual(before);
  });

  it("is imported, archived and restored, and neither repaired nor deleted", async () => {
    const { root, path } = small();
    const steps = await collected(importDirectory(root, temporaryDirectory()));
    expect(steps).toMatchObject([
      { kind: "imported", source: path, report: { lines: 24, imported: 24, skipped: {} } },
    ]);
    await expect(deleteSession(path)).rejects.toMatchObject({ code: "ERR_NOT_A_SESSION" });
    const { err } = await branchlog(["repair", path]);
    expect(err).toContain("is a rollout of Codex");
    const dataDir = temporaryDirectory();
    const { failures } = await archiveSessions([path], { dataDir, force: true });
    expect(failures).toEqual([]);
    await restoreSession(path, { dataDir });
    expect(readFileSync(path)).toEqual(compressed);
  });

  it("is reported when it is cut off or changed so that it cannot be read", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: compressed.length - 1 }),
        fc.option(fc.integer({ min: 1, max: 255 })),
        async (at, flip) => {
          const bytes = Buffer.from(compressed);
          if (flip !== null) bytes[at] = (bytes[at] ?? 0) ^ flip;
          const damaged = home(flip === null ? bytes.subarray(0, at) : bytes, ".zst");
          const { sessions, unlisted } = await findSessions([damaged.root], { catalog: "off" });
          // Without its first bytes, it may be any file; with others, a rollout of other records.
          const isAnyFile = at < 4;
          expect(sessions.length + unlisted.length).toBeLessThanOrEqual(1);
          if (!isAnyFile && flip === null) expect(unlisted).toEqual([damaged.path]);
        },
      ),
      { numRuns: 60 },
    );
    const { root, path } = home(compressed.subarray(0, 900), ".zst");
    const failure = { code: "ERR_DOCUMENT_DAMAGED" };
    await expect(openSession(path, { access: "read" })).rejects.toMatchObject(failure);
    const steps = await collected(importDirectory(root, temporaryDirectory()));
    expect(steps).toMatchObject([{ kind: "failed", source: path, error: failure }]);
  });
});
