/** What deleted sessions left behind: ignored, and removed when its directory is seen again. */
import { existsSync, mkdirSync, readdirSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { removeOrphans } from "../../../packages/library/src/catalog/orphaned-sidecars.ts";
import { list } from "./saved-directory.ts";
import { header, user, writeLines } from "./session-lines.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** A session with a checkpoint, next to another session. */
async function withCheckpoint(): Promise<{ directory: string; path: string; checkpoint: string }> {
  const directory = temporaryDirectory();
  writeLines(directory, "other.jsonl", [header({ id: "other" }), user("x")]);
  const path = writeLines(directory, "s.jsonl", [header(), user("x")]);
  const session = await openSession(path, { checkpointEveryBytes: 1 });
  await session.close();
  return { directory, path, checkpoint: `${path}.ckpt` };
}

describe("the checkpoint of a manually deleted session", () => {
  it("is removed when its directory is listed, unlike that of an existing session", async () => {
    const { directory, path, checkpoint } = await withCheckpoint();
    expect(await list(directory)).toHaveLength(2);
    expect(existsSync(checkpoint)).toBe(true);
    unlinkSync(path);
    expect(await list(directory)).toHaveLength(1);
    expect(readdirSync(directory)).toEqual(["other.jsonl"]);
  });

  it("is kept when lists write nothing", async () => {
    const { directory, path, checkpoint } = await withCheckpoint();
    unlinkSync(path);
    for (const saved of ["read", "off"] as const) {
      expect(await list(directory, { saved })).toHaveLength(1);
    }
    expect(existsSync(checkpoint)).toBe(true);
  });

  it("is not used for a new session of that name (Verifies: P21)", async () => {
    const { path, checkpoint, directory } = await withCheckpoint();
    unlinkSync(path);
    writeLines(directory, "s.jsonl", [header({ id: "new" }), user("new"), user("newer")]);
    const session = await openSession(path);
    expect([session.header.id, session.revision]).toEqual(["new", 2]);
    expect(existsSync(checkpoint)).toBe(true);
  });
});

describe("a file that only resembles a sidecar", () => {
  it("is kept: foreign files, non-empty directories, held locks", async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "a.jsonl.ckpt"), "somebody else's");
    writeFileSync(join(directory, "b.jsonl.v1-original"), "original");
    writeFileSync(join(directory, "c.jsonl.salvage"), "salvage");
    writeFileSync(join(directory, "d.ckpt"), "BLCKPT");
    mkdirSync(join(directory, "e.jsonl.ckpt", "in"), { recursive: true });
    mkdirSync(join(directory, "f.jsonl.branchlog-lock"));
    const before = readdirSync(directory);
    await removeOrphans(directory);
    expect(readdirSync(directory)).toEqual(before);
    const long = new Date(Date.now() - 60_000);
    utimesSync(join(directory, "f.jsonl.branchlog-lock"), long, long);
    await removeOrphans(directory);
    expect(readdirSync(directory)).toEqual(before.slice(0, -1));
    await removeOrphans(join(directory, "missing"));
  });
});
