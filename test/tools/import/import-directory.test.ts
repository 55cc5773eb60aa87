/** Importing all transcripts below a directory: resumable, with a report. */
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { findSessions } from "@branchlog/library";
import { importDirectory, importSession } from "@branchlog/tools";
import type { DirectoryImportStep } from "@branchlog/tools";
import { branchlog, jsonLines } from "../../cli/command-run.ts";
import { writeDatabase } from "../../support/database-file.ts";
import { directoryState } from "../../support/directory-state.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const fixtures = join(import.meta.dirname, "../../../fixtures");
const names = ["claude/conversation", "claude/branches", "codex/conversation"] as const;

function transcripts(): string {
  const root = temporaryDirectory();
  for (const name of names) {
    mkdirSync(join(root, name), { recursive: true });
    copyFileSync(join(fixtures, `${name}.jsonl`), join(root, name, "t.jsonl"));
  }
  copyFileSync(join(fixtures, "pi-linear.jsonl"), join(root, "pi.jsonl"));
  return root;
}

async function steps(place: string, target: string, signal?: AbortSignal) {
  const all: DirectoryImportStep[] = [];
  for await (const step of importDirectory(place, target, { signal })) all.push(step);
  return all;
}

describe("an import of a directory", () => {
  it("creates the session of a single import from each transcript, only once", async () => {
    const [root, target] = [transcripts(), join(temporaryDirectory(), "sessions")];
    const before = directoryState(root);
    const first = await steps(root, target);
    expect(first.map(({ kind, done, total }) => [kind, done, total])).toEqual([
      ["imported", 1, 3],
      ["imported", 2, 3],
      ["imported", 3, 3],
    ]);
    for (const step of first) {
      if (step.kind !== "imported") continue;
      const alone = join(temporaryDirectory(), "alone.jsonl");
      await importSession(step.source, alone);
      const session = await openSession(step.report.path, { access: "read" });
      const other = await openSession(alone, { access: "read" });
      expect(await session.context()).toEqual(await other.context());
      expect([session.header, session.name]).toEqual([other.header, other.name]);
      expect(step.report.path).toContain(session.header.id);
    }
    expect((await steps(root, target)).map(({ kind }) => kind)).toEqual([
      "exists",
      "exists",
      "exists",
    ]);
    expect(directoryState(root)).toEqual(before);
    expect(readdirSync(target).filter((name) => name.endsWith(".jsonl"))).toHaveLength(3);
  });

  it("continues after an interruption", async () => {
    const [root, target] = [transcripts(), temporaryDirectory()];
    const ending = new AbortController();
    await expect(async () => {
      for await (const { done } of importDirectory(root, target, { signal: ending.signal })) {
        if (done === 1) ending.abort(new Error("enough"));
      }
    }).rejects.toThrow("enough");
    expect(readdirSync(target)).toHaveLength(1);
    const rest = await steps(root, target);
    expect(rest.map(({ kind }) => kind)).toEqual(["exists", "imported", "imported"]);
  });

  it("continues after a transcript that cannot be imported, and reports it", async () => {
    const [root, target] = [transcripts(), temporaryDirectory()];
    const meta = { type: "session_meta", payload: { id: "x".repeat(300), cwd: "/w" } };
    writeFileSync(join(root, "long.jsonl"), `${JSON.stringify(meta)}\n`);
    const all = await steps(root, target);
    expect(all.map(({ kind }) => kind).toSorted()).toEqual([
      "failed",
      "imported",
      "imported",
      "imported",
    ]);
    expect(all.find(({ kind }) => kind === "failed")).toMatchObject({
      source: join(root, "long.jsonl"),
      error: { code: "ERR_INVALID_SESSION_ID" },
    });
    const { code, err } = await branchlog(["import", root, "-o", target]);
    expect([code, err]).toEqual([1, expect.stringContaining("skipped: ")]);
  });

  it("imports the later of two transcripts of one session, and reports the other", async () => {
    const [root, target] = [temporaryDirectory(), temporaryDirectory()];
    const text = readFileSync(join(fixtures, "claude/conversation.jsonl"), "utf8");
    const parts = { a: text.slice(0, text.indexOf("\n", 2000) + 1), b: text };
    for (const [at, [name, part]] of Object.entries(parts).entries()) {
      const path = join(root, name, "s.jsonl");
      mkdirSync(join(root, name));
      writeFileSync(path, part);
      utimesSync(path, 1000 + at, 1000 + at);
    }
    expect(await steps(root, target)).toMatchObject([
      { kind: "imported", source: join(root, "b/s.jsonl") },
      { kind: "failed", source: join(root, "a/s.jsonl"), error: { code: "ERR_LOG_EXISTS" } },
    ]);
    expect(readdirSync(target)).toHaveLength(1);
  });

  it("has sessions of documents and databases, too", async () => {
    const [root, target] = [transcripts(), join(temporaryDirectory(), "sessions")];
    cpSync(join(fixtures, "cline"), join(root, "cline"), { recursive: true });
    const database = join(root, "opencode/opencode.db");
    const dump = readFileSync(join(fixtures, "opencode/opencode-1.18.33.sql"), "utf8");
    await writeDatabase(database, dump);
    const { sessions } = await findSessions([root], { artifacts: true, catalog: "off" });
    const foreign = sessions.filter(({ transcript }) => transcript !== undefined);
    const all = await steps(root, target);
    expect(all.map(({ source }) => source)).toEqual(foreign.map(({ path }) => path));
    expect(all.filter(({ kind }) => kind !== "imported")).toEqual([]);
    expect(all.some(({ source }) => source.startsWith(`${database}#`))).toBe(true);
    for (const { path: source, header } of foreign) {
      const [copy = ""] = readdirSync(target).filter((file) => file.includes(header.id));
      await using session = await openSession(join(target, copy), { access: "read" });
      await using original = await openSession(source, { access: "read" });
      const roles = (await original.context()).messages.map(({ role }) => role);
      expect((await session.context()).messages.map(({ role }) => role)).toEqual(roles);
    }
  });

  it("is a command that reports skipped files", async () => {
    const [root, target] = [transcripts(), join(temporaryDirectory(), "new")];
    const { code, out } = await branchlog(["import", root, "-o", target]);
    expect([code, out.split(";")[0]]).toEqual([0, "imported 3 sessions"]);
    const again = await branchlog(["import", root, "-o", target, "--json"]);
    expect(jsonLines(again.out).at(-1)).toMatchObject({ kind: "summary", exists: 3, imported: 0 });

    const other = join(temporaryDirectory(), "file");
    writeFileSync(other, "");
    expect(existsSync(other)).toBe(true);
    expect((await branchlog(["import", root, "-o", other])).code).toBe(1);
    const withFrom = await branchlog(["import", root, "-o", target, "--from", "claude"]);
    expect([withFrom.code, withFrom.err]).toEqual([2, expect.stringContaining("--from")]);
  });
});
