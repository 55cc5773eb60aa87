/** Every way in which a file is not the session that was requested, and what the command says. */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openSession } from "@branchlog/core";
import { sampleHeader } from "@branchlog/core/testing";
import { describeFailure, failureHint } from "../../packages/cli/src/failure.ts";
import { temporaryDirectory, temporaryFile } from "../support/temporary-directory.ts";
import { program } from "./command-process.ts";
import { branchlog, fixture, jsonLines } from "./command-run.ts";

const header = JSON.stringify(sampleHeader({ timestamp: "2026-01-01T00:00:00Z", cwd: "/" }));
const entry =
  '{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-01T00:00:01Z",' +
  '"message":{"role":"user","content":"hi","timestamp":1}}';
const readers = ["info", "tree", "context", "entries", "verify", "name"];

it("reports that the working directory no longer exists, with advice", () => {
  const directory = join(temporaryDirectory(), "gone");
  mkdirSync(directory);
  const script = 'rmdir "$PWD"; "$@"; printf %s $?';
  const words = [process.execPath, program, "list"];
  const { stdout, stderr } = spawnSync("sh", ["-c", script, "sh", ...words], {
    cwd: directory,
    encoding: "utf8",
  });
  expect(stdout).toBe("1");
  expect(stderr).toBe(
    "error: The working directory of this command no longer exists: it was deleted or moved. " +
      "Change to another one, for example with cd ~, and try again.\n",
  );
});

describe.each(readers)("%s", (name) => {
  const cases: readonly (readonly [string, () => string, string])[] = [
    ["of a file that is not there", () => "/no/such/file.jsonl", "ERR_LOG_MISSING"],
    ["of an empty file", () => temporaryFile(""), "ERR_LOG_EMPTY"],
    ["of a foreign file", () => temporaryFile("hello\n"), "ERR_NOT_A_SESSION"],
    [
      "of entries without a header",
      () => temporaryFile(`{broken\n${entry}\n`),
      "ERR_HEADER_DAMAGED",
    ],
    ["of a directory", () => temporaryDirectory(), "ERR_LOG_UNREADABLE"],
  ];
  // A directory is all that is below it.
  const own = cases.filter(([what]) => name !== "verify" || what !== "of a directory");
  it.each(own)("%s fails with 1, the code and no stack", async (_what, path, code) => {
    const file = path();
    const text = await branchlog([name, file]);
    expect(text.code).toBe(1);
    expect(text.out).toBe("");
    expect(text.err).toMatch(/^error: /);
    expect(text.err).toContain(file);
    expect(text.err).toContain(code);
    expect(text.err).not.toMatch(/^ +at /m);

    const json = await branchlog([name, file, "--json"]);
    expect(json.code).toBe(1);
    const [failure] = jsonLines(json.err);
    expect(failure).toMatchObject({ error: { code, path: file } });
    expect(failure).toHaveProperty("error.message");
  });

  it("reads a session of a newer version", async () => {
    const file = temporaryFile(`${header.replace('"version":3', '"version":9')}\n${entry}\n`);
    expect((await branchlog([name, file])).code).toBe(0);
  });

  it("changes no byte", async () => {
    const file = temporaryFile(
      Buffer.concat([readFileSync(fixture("pi-v1.jsonl")), Buffer.from("{")]),
    );
    const before = readFileSync(file);
    await branchlog([name, file]);
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

it("verify reports a line that changed since a checkpoint, and exits with 1 (Verifies: P13)", async () => {
  const file = temporaryFile(`${header}\n${entry}\n`);
  await (await openSession(file, { checkpointEveryBytes: 1 })).close();
  expect((await branchlog(["verify", file])).out).toContain("checksums: 1 entry compared\n");
  // One bit, and a line after what the checkpoint saw.
  writeFileSync(file, `${header}\n${entry.replace("hi", "hk")}\n${entry.replace("a1", "a2")}\n`);
  const { code, out } = await branchlog(["verify", file]);
  expect(code).toBe(1);
  expect(out).toContain("checksums: 1 entry compared, 1 not in a checkpoint yet\n");
  const changed = "1 changed line, or lines: they differ from a checkpoint\n";
  expect(out).toContain(`${changed}  a1 in line 2 at byte 85\n`);
  const [report] = jsonLines((await branchlog(["verify", file, "--json"])).out);
  expect(report).toMatchObject({ ok: false, changedLines: [{ id: "a1", line: 2, offset: 85 }] });
  writeFileSync(file, `${header}\n`);
  const saw = Buffer.byteLength(`${header}\n${entry}\n`);
  const gone = `${changed}  line 1 at byte 0, ${saw} bytes\n`;
  expect((await branchlog(["verify", file])).out).toContain(gone);
  const other = `${entry.replace("hi", "something longer")}\n`;
  writeFileSync(file, `${header}\n${entry}\n${entry}\n${entry}\n${entry}\n`);
  rmSync(`${file}.ckpt`);
  await (await openSession(file, { checkpointEveryBytes: 1 })).close();
  writeFileSync(file, `${header}\n${other}${other}${other}${other}`);
  expect((await branchlog(["verify", file])).out).toContain("rewritten since");
});

it("a failure shows a stack only while debugging", async () => {
  const { err } = await branchlog(["info", "/no/such/file"], { isDebugging: true });
  expect(err).toMatch(/^ +at /m);
});

it("a failure that is not a BranchlogError has its message and the code of the system", () => {
  const error = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
  expect(describeFailure(error)).toEqual({
    code: "EACCES",
    message: "EACCES: permission denied",
  });
  expect(describeFailure("odd")).toEqual({ code: "ERR_UNKNOWN", message: "odd" });
  expect(describeFailure(new RangeError(""))).toMatchObject({ code: "ERR_UNKNOWN" });
});

it("a failure about an unknown id names the command that lists ids, quoted for a shell", () => {
  const failure = { code: "ERR_ENTRY_NOT_FOUND", message: "" };
  expect(failureHint({ ...failure, path: "/a/b.jsonl" })).toBe(
    "branchlog entries /a/b.jsonl lists the ids.",
  );
  expect(failureHint({ ...failure, path: "/it's here" })).toBe(
    String.raw`branchlog entries '/it'\''s here' lists the ids.`,
  );
  expect(failureHint({ code: "ERR_LOG_EMPTY", message: "", path: "/a" })).toBeUndefined();
});

describe("verify", () => {
  const damaged = `${header}\n${entry}\n{"type":"mess\n\n[1]\n${entry.replace("a1", "a2")}\n`;

  it("verify lists every damaged line with its position and reason, and exits with 1", async () => {
    const { code, out } = await branchlog(["verify", temporaryFile(damaged)]);
    expect(code).toBe(1);
    const line = (number: number, offset: number, length: number, reason: string): string =>
      `  line ${number} at byte ${offset}, ${length} bytes: ${reason}\n`;
    const start = header.length + entry.length + 2;
    expect(out).toContain(`2 damaged lines: 1 torn, 1 not-object\n${line(3, start, 13, "torn")}`);
    expect(out).toContain(line(5, start + 15, 3, "not-object"));
    expect(out).toMatch(/\ndamaged: torn 1, not-object 1\n$/);
  });

  it.each([
    ["a fragment", '{"type":"message","id":"b', "an unfinished line"],
    ["a record without its newline", entry.replace("a1", "b1"), "a complete record"],
  ])("reports %s at the end as pending, not as damage", async (_what, end, words) => {
    const file = temporaryFile(`${header}\n${entry}\n${end}`);
    // However long this takes, the file changed just now.
    const changed = new Date(Date.now() + 3_600_000);
    utimesSync(file, changed, changed);
    const { code, out } = await branchlog(["verify", file]);
    expect(code).toBe(0);
    expect(out).toContain(`the end: ${words}`);
    expect(out).toMatch(/\nno damage\n$/);
  });

  it("verify checks each file below a directory once when links lead in circles", async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "a/dir.jsonl"), { recursive: true });
    copyFileSync(fixture("pi-linear.jsonl"), join(directory, "a/dir.jsonl/fine.jsonl"));
    for (const name of ["up", "again"]) symlinkSync("../..", join(directory, "a/dir.jsonl", name));
    const { code, out } = await branchlog(["verify", directory]);
    const path = join(directory, "a/dir.jsonl/fine.jsonl");
    expect([code, out]).toEqual([0, `fine      ${path}\n1 session, 0 damaged\n`]);
  });

  it("verify counts undamaged agent files that are not sessions", async () => {
    const home = temporaryDirectory();
    vi.stubEnv("CLAUDE_CONFIG_DIR", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const project = join(home, "projects/-home-dev-shop");
    mkdirSync(project, { recursive: true });
    writeFileSync(join(home, "history.jsonl"), '{"display":"hi","timestamp":1}\n');
    const titles = join(project, "titles.jsonl");
    copyFileSync(fixture("transcripts/field/titles-only.jsonl"), titles);
    copyFileSync(fixture("claude/conversation.jsonl"), join(project, "whole.jsonl"));
    const workflow = join(project, "whole/subagents/workflows/wf_1");
    mkdirSync(workflow, { recursive: true });
    writeFileSync(join(workflow, "journal.jsonl"), '{"type":"started","agentId":"a1"}\n');
    const { code, out } = await branchlog(["verify", home]);
    expect([code, out.split("\n").at(-2)]).toEqual([
      0,
      "1 session, 0 damaged; 3 other agent files",
    ]);
    writeFileSync(titles, `${readFileSync(titles, "utf8")}{"type":"user","uu`);
    expect(await branchlog(["verify", home])).toMatchObject({ code: 1 });
    writeFileSync(titles, '{"type":"summary","summary":"x"}\n{"kind":"user"}\n');
    expect(await branchlog(["verify", home])).toMatchObject({ code: 1 });
    rmSync(titles);
    expect(await branchlog(["verify", home])).toMatchObject({ code: 0 });
    writeFileSync(join(home, "history.jsonl"), Buffer.alloc(2_000));
    expect(await branchlog(["verify", home])).toMatchObject({ code: 1 });
    expect(await branchlog(["verify", join(home, "history.jsonl")])).toMatchObject({ code: 1 });
  });

  it("verify checks several sessions and a directory recursively, one line each", async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "deep"));
    const fine = join(directory, "deep", "fine.jsonl");
    copyFileSync(fixture("pi-linear.jsonl"), fine);
    const bad = join(directory, "bad.jsonl");
    copyFileSync(fixture("pi-cycles.jsonl"), bad);
    writeFileSync(join(directory, "other.jsonl"), '{"no":"session"}\n');
    const { code, out, err } = await branchlog(["verify", directory]);
    expect([code, err]).toEqual([1, ""]);
    const [first, second, third, ...rest] = out.split("\n");
    expect(first).toMatch(/^damaged {3}.*bad\.jsonl: .*cycle/);
    expect(second).toMatch(/^fine {6}.*fine\.jsonl$/);
    expect(third).toMatch(/^not read {2}.*other\.jsonl: .*not a session/);
    expect(rest).toEqual(["3 sessions, 1 damaged, 1 not read", ""]);
    expect(await branchlog(["verify", fine, fine])).toMatchObject({ code: 0 });
    const json = await branchlog(["verify", fine, bad, join(directory, "gone.jsonl"), "--json"]);
    expect([json.code, json.err]).toEqual([1, ""]);
    expect(jsonLines(json.out)).toMatchObject([
      { path: fine, ok: true },
      { path: bad, ok: false },
      { error: { code: "ERR_LOG_MISSING" } },
    ]);
  });
});
