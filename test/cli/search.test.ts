/** `branchlog search`: hits as people and as programs read them. */
import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { createSession } from "@branchlog/core";
import { searchSessions } from "@branchlog/library";
import type { SearchedKind } from "@branchlog/library";
import { searchedKinds } from "../../packages/cli/src/session-filter.ts";
import { createStyle } from "../../packages/cli/src/style.ts";
import { hitLine } from "../../packages/cli/src/text/entry-lines.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, jsonLines, onTerminal } from "./command-run.ts";

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
