/** `branchlog search`: hits as people and as programs read them. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createSession } from "@branchlog/core";
import type { EntryDraft } from "@branchlog/core";
import { searchSessions } from "@branchlog/library";
import type { SearchedKind } from "@branchlog/library";
import { searchedKinds } from "../../packages/cli/src/session-filter.ts";
import { createStyle } from "../../packages/cli/src/style.ts";
import { hitLine } from "../../packages/cli/src/text/entry-lines.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, jsonLines, onTerminal } from "./command-run.ts";

beforeEach(() => {
  // An index of this test alone.
  vi.stubEnv("BRANCHLOG_CACHE_DIR", temporaryDirectory());
});

afterEach(() => {
  vi.unstubAllEnvs();
});

async function newSession(path: string, content: string): Promise<string> {
  const session = await createSession(path, { cwd: "/w", id: "s" });
  const message = { role: "user" as const, content, timestamp: 1 };
  return (await session.append({ type: "message", message })).id;
}

it("--in takes exactly the kinds that the core searches", async () => {
  // A kind from a caller without types.
  const kinds = ["other" as SearchedKind];
  const hits = searchSessions(temporaryDirectory(), "x", { kinds });
  const all = searchedKinds.map((kind) => `"${kind}"`).join(", ");
  const named = all.replace(/, (?=[^,]*$)/, " or ");
  await expect(hits.next()).rejects.toMatchObject({
    message: `A kind must be ${named}, not "other"`,
  });
});

it("search shows each hit below its session", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "below"));
  const path = join(directory, "a.jsonl");
  const id = await newSession(path, "Why is the build red?");
  await newSession(join(directory, "below", "b.jsonl"), "Another build.");
  const { code, out } = await onTerminal(["search", "THE BUILD", directory]);
  expect([code, out.split("\n")[0]]).toEqual([0, path]);
  expect(out.split("\n")[1]).toMatch(new RegExp(`^${id} .* user {2}Why is the build red\\?$`));
  const all = await branchlog(["search", "build", directory, "--json"]);
  const hits = all.out.trimEnd().split("\n");
  expect(hits.length).toBe(2);
  expect(JSON.parse(hits.find((hit) => hit.includes(id)) ?? "")).toMatchObject({
    path,
    sessionId: "s",
    kind: "message",
    role: "user",
    entryId: id,
    snippet: { matchStart: 11, matchEnd: 16 },
  });
  const one = await branchlog(["search", "build", directory, "--limit", "1", "--json"]);
  expect(one.out.trimEnd().split("\n").length).toBe(1);
});

it("search reports when there are no hits, and fails when the directory is missing", async () => {
  const directory = temporaryDirectory();
  expect(await branchlog(["search", "x", directory])).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("nothing found") as unknown,
  });
  const missing = await branchlog(["search", "x", join(directory, "none")]);
  expect(missing.code).toBe(1);
  expect(missing.err).toContain("Check the path. (ERR_LOG_MISSING)");
});

it("search searches one session when given its file, and prints its absolute path", async () => {
  const directory = temporaryDirectory();
  const path = join(directory, "a.jsonl");
  await newSession(path, "Why is the build red?");
  await newSession(join(directory, "b.jsonl"), "Another build.");
  const words = ["search", "build", relative(process.cwd(), path), "--json"];
  const { code, out } = await branchlog(words);
  expect([code, jsonLines(out)]).toEqual([0, [expect.objectContaining({ path })]]);
});

it("search fits a hit on its line, and marks the match", () => {
  const text = `${"before ".repeat(20)}build\u001b[31m${" after".repeat(20)}`;
  const hit = {
    path: "/s.jsonl",
    header: { type: "session", version: 3, id: "s", timestamp: "", cwd: "" },
    transcriptOf: undefined,
    kind: "message",
    role: "assistant",
    entryId: "0000000a",
    timestamp: "2026-01-01T00:00:00.000Z",
    snippet: { text, matchStart: 140, matchEnd: 145 },
  } as const;
  for (const columns of [80, 100, 140]) {
    const line = hitLine(hit, { columns, style: createStyle(false), nowMs: undefined });
    expect(line.length).toBeLessThanOrEqual(columns + 1);
    expect(line).toContain("build");
    expect(line).not.toContain("\u001b");
    const painted = hitLine(hit, { columns, style: createStyle(true), nowMs: undefined });
    expect(painted).toContain("\u001b[33mbuild");
  }
});

it("search shows the best hit of each session, and all of them with --sort time", async () => {
  const directory = temporaryDirectory();
  const later = await createSession(join(directory, "b.jsonl"), { cwd: "/w/below", id: "later" });
  const said = (content: string): EntryDraft => {
    return { type: "message", message: { role: "user", content, timestamp: 1 } };
  };
  await later.append(said("The parser is in the limits of its rate."));
  await later.append(said("A rate, and a limit."));
  const best = await createSession(join(directory, "a.jsonl"), { cwd: "/w", id: "best" });
  const { id } = await best.append(said("Why is there a rate limit?"));
  utimesSync(join(directory, "a.jsonl"), 1, 1);
  const query = ["search", "rate limit", directory];
  const ranked = jsonLines((await branchlog([...query, "--json"])).out);
  expect(ranked).toMatchObject([
    { entryId: id, hitCount: 1 },
    { sessionId: "later", hitCount: 2 },
  ]);
  const { out } = await onTerminal([...query, "--limit", "1"]);
  expect(out).toContain("Why is there a rate limit?");
  expect(out).toContain("1 further session: --limit");
  expect((await onTerminal(query)).out).toContain("and 1 further hit (all with --sort time)");
  const all = jsonLines((await branchlog([...query, "--sort", "time", "--json"])).out);
  expect(all).toMatchObject([{ sessionId: "later" }, { sessionId: "later" }, { entryId: id }]);
  const exact = jsonLines((await branchlog([...query, "--exact", "--json"])).out);
  expect(exact).toMatchObject([{ entryId: id }]);
  const below = ["--project", "/w/below", "--json"];
  const inProject = jsonLines((await branchlog([...query, ...below])).out);
  expect(inProject).toMatchObject([{ sessionId: "later", hitCount: 2 }]);
  const ofOne = jsonLines((await branchlog(["search", "rate", later.path ?? "", "--json"])).out);
  expect(ofOne.length).toBe(2);
});

it("search takes linear time for any regular expression, and reports unsupported syntax", async () => {
  const directory = temporaryDirectory();
  await newSession(join(directory, "a.jsonl"), `${"a".repeat(50_000)}!`);
  const found = await branchlog(["search", "-E", "(a+)+$", directory]);
  expect(found.code).toBe(1);
  const refused = await branchlog(["search", "-E", "(?=x)", directory]);
  expect(refused.err).toContain("no lookaround");
});

it("search updates the index in the background after it read much without it", async () => {
  const directory = temporaryDirectory();
  const started: (readonly string[])[] = [];
  const runInBackground = (words: readonly string[]): void => void started.push(words);
  await newSession(join(directory, "a.jsonl"), "wombat");
  await branchlog(["search", "wombat", directory], { runInBackground });
  expect(started).toEqual([]);
  await newSession(join(directory, "b.jsonl"), "w".repeat(65 * 1024 * 1024));
  await branchlog(["search", "wombat", directory, "--no-index"], { runInBackground });
  expect(started).toEqual([]);
  await branchlog(["search", "wombat", directory], { runInBackground });
  expect(started).toEqual([["index", "update", "--", directory]]);
  const updated = await branchlog(["index", "update", directory]);
  expect(updated.out).toMatch(/^indexed 68\.\d MB of 2 files\n$/);
  await branchlog(["search", "wombat", directory], { runInBackground });
  expect(started.length).toBe(1);
});

it("search reports once that it ignores an unreadable index", async () => {
  const directory = temporaryDirectory();
  await newSession(join(directory, "a.jsonl"), "wombat");
  await branchlog(["index", "update", directory]);
  const { path } = JSON.parse((await branchlog(["index", "--json"])).out) as { path: string };
  writeFileSync(path, "no database\n".repeat(2000));
  const { code, err, out } = await branchlog(["search", "wombat", directory]);
  expect([code, out.split("\n").length]).toEqual([0, 2]);
  expect(err.match(/without the index/g)?.length).toBe(1);
  expect(err).toContain("branchlog index drop");
  expect((await branchlog(["index", "check"])).code).not.toBe(0);
  expect((await branchlog(["index", "drop"])).out).toBe("dropped\n");
});
