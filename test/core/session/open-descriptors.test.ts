/** How long files stay open: while a session uses them, and not after the last. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, forkSession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import {
  applyRepair,
  migrateSession,
  planRepair,
  convertSession,
  exportLinear,
  exportMarkdown,
} from "@branchlog/tools";
import { openFiles, tellsOpenFiles } from "../../support/open-files.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

async function session(directory: string): Promise<Session> {
  const made = await createSession(join(directory, "s.jsonl"));
  await made.append({ type: "custom", customType: "x" });
  return made;
}

describe.runIf(tellsOpenFiles)("the files of a session", () => {
  it("are open while it is, and closed with it", async () => {
    const directory = temporaryDirectory();
    const one = await session(directory);
    await one.context();
    expect(openFiles(directory)).not.toEqual([]);
    await one.close();
    expect(openFiles(directory)).toEqual([]);
  });

  it("stay open for another session of the same log, and are closed with the last", async () => {
    const directory = temporaryDirectory();
    const one = await session(directory);
    const other = await openSession(one.path);
    await one.close();
    expect(openFiles(directory)).not.toEqual([]);
    await other.append({ type: "custom", customType: "y" });
    await other.close();
    expect(openFiles(directory)).toEqual([]);
  });

  it("are not left open by a session that cannot be opened", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "s.jsonl");
    writeFileSync(path, '{"type":"no session"}\n');
    await expect(openSession(path)).rejects.toMatchObject({ code: "ERR_NOT_A_SESSION" });
    expect(openFiles(directory)).toEqual([]);
  });

  it("are not left open by functions that take a path", async () => {
    const directory = temporaryDirectory();
    const made = await session(directory);
    const { path } = made;
    await made.close();
    const beside = (name: string): string => join(directory, name);
    await forkSession(path, { target: beside("fork.jsonl") });
    await convertSession(path, { to: "omp", target: beside("omp.jsonl") });
    await exportMarkdown(path, beside("s.md"));
    await exportLinear(path, beside("export.jsonl"));
    await migrateSession(path);
    writeFileSync(path, "no json\n", { flag: "a" });
    await applyRepair(await planRepair(path));
    expect(openFiles(directory)).toEqual([]);
  });
});
