/** Rollouts that Codex compressed: lists and searches tell of them, and what opens them says how. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findSessions, searchSessions, deleteSession } from "@branchlog/library";
import { openSession } from "@branchlog/core";
import { planRepair, importDirectory, importSession } from "@branchlog/tools";
import { branchlog, jsonLines } from "../../cli/command-run.ts";
import { directoryState } from "../../support/directory-state.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const meta = { timestamp: "2026-05-01T10:00:00.000Z", type: "session_meta", payload: { id: "s" } };
const line = `${JSON.stringify(meta)}\n`;
/** That line, as `zstd` writes it. */
const compressed = Buffer.from(
  "KLUv/QRYVQIAQoURF5CnOqwcki52boPMlneFAVUkAc2uZwU4RFFYfT7I7XxQGRguD+NmKhwUUk31ORdbDxP+A/7772VQTgInAnPj80q4mgmtWwCwr2oA",
  "base64",
);

/** Two rollouts, one compressed; of a third, which Codex is compressing, both files. */
function codexHome(): { readonly root: string; readonly path: string } {
  const root = temporaryDirectory();
  const day = join(root, "sessions/2026/05/01");
  mkdirSync(day, { recursive: true });
  const path = join(day, "rollout-a.jsonl.zst");
  writeFileSync(path, compressed);
  writeFileSync(join(day, "rollout-b.jsonl"), line);
  writeFileSync(join(day, "rollout-c.jsonl"), line);
  writeFileSync(join(day, "rollout-c.jsonl.zst"), compressed);
  return { root, path };
}

const says: unknown = expect.stringContaining("zstd -d");
const refusal = { code: "ERR_NOT_A_SESSION", message: says };

it("lists and searches report a compressed rollout, unless it is there uncompressed", async () => {
  const { root, path } = codexHome();
  const before = directoryState(root);
  const { sessions, unlisted } = await findSessions([root]);
  expect(sessions).toHaveLength(2);
  expect(unlisted).toEqual([path]);
  for (const place of [root, path]) {
    const told: string[] = [];
    const hits = searchSessions(place, "x", { onUnlisted: (one) => told.push(one) });
    for await (const hit of hits) expect(hit).toBeUndefined();
    expect(told).toEqual([path]);
  }
  expect(directoryState(root)).toEqual(before);
});

it("the commands report them in one line, or as lines of JSON", async () => {
  const { root, path } = codexHome();
  const text = await branchlog(["list", root]);
  expect(text.err).toContain(`skipped: 1 compressed rollout, as ${path} (zstd -d FILE`);
  const json = await branchlog(["search", "x", root, "--json"]);
  expect(jsonLines(json.out)).toEqual([{ kind: "unlisted", path }]);
});

it("opening, importing, repairing or deleting one reports what it is, with advice", async () => {
  const { root, path } = codexHome();
  const before = directoryState(root);
  const target = join(temporaryDirectory(), "s.jsonl");
  await expect(openSession(path)).rejects.toMatchObject(refusal);
  await expect(importSession(path, target)).rejects.toMatchObject(refusal);
  await expect(planRepair(path)).rejects.toMatchObject(refusal);
  await expect(deleteSession(path)).rejects.toMatchObject(refusal);
  await expect(findSessions([path])).rejects.toMatchObject(refusal);
  const failed: unknown[] = [];
  for await (const step of importDirectory(root, temporaryDirectory())) {
    if (step.kind === "failed") failed.push(step);
  }
  // The two others are one session.
  expect(failed).toMatchObject([
    { error: { code: "ERR_LOG_EXISTS" }, done: 2 },
    { source: path, done: 3, total: 3 },
  ]);
  expect(directoryState(root)).toEqual(before);
});
