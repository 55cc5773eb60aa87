/** Searching by the index finds what reading all files finds. */
import { appendFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { truncateSync, utimesSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { filter, firstValueFrom, lastValueFrom, map, share, take, toArray } from "rxjs";
import { BranchlogError } from "@branchlog/core";
import { search$ } from "@branchlog/library/live";
import {
  archiveSessions,
  archiveStore,
  dataDirectory,
  checkSearchIndex,
  dropSearchIndex,
  searchIndexState,
  searchSessions,
  updateSearchIndex,
} from "@branchlog/library";
import type { SearchHit } from "@branchlog/library";
import { collected } from "../../support/collected.ts";
import { openFiles, tellsOpenFiles } from "../../support/open-files.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { assistant, entry, header, name, user, writeLines } from "../catalog/session-lines.ts";
import { search, searchBoth, writeLong } from "./searched-both.ts";

const indexingProcess = fileURLToPath(
  new URL("../../support/indexing-process.mjs", import.meta.url),
);
const fixtures = fileURLToPath(new URL("../../../fixtures", import.meta.url));

beforeEach(() => {
  vi.stubEnv("BRANCHLOG_CACHE_DIR", temporaryDirectory());
});

afterEach(() => {
  vi.unstubAllEnvs();
});

function unterminatedBytes(directory: string): number {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const sessions = names.filter((one) => one.endsWith(".jsonl")).map((one) => join(directory, one));
  return sessions.reduce((sum, path) => {
    const bytes = readFileSync(path);
    const whole = bytes.lastIndexOf("\n") + 1;
    const rest = bytes.length - whole;
    return sum + (whole > 0 && rest >= whole / 4 ? rest : 0);
  }, 0);
}

async function databasePath(): Promise<string> {
  return (await searchIndexState()).path;
}

describe("the search index", () => {
  it("is not there before an update, holds no text, and is private to its user", async () => {
    const directory = temporaryDirectory();
    const secret = "Zanzibar";
    writeLines(directory, "s.jsonl", [header(), user(`Go to ${secret} at once, please.`)]);
    expect((await searchIndexState()).index).toBeUndefined();
    expect((await search(directory, secret)).unindexedBytes).toBeGreaterThan(0);
    const update = await updateSearchIndex({ places: [directory] });
    expect(update).toMatchObject({ files: 1, removed: 0 });
    const found = await searchBoth(directory, secret);
    expect([found.hits.length, found.unindexedBytes]).toEqual([1, 0]);
    const { path, index } = await searchIndexState();
    expect(index).toMatchObject({ files: 1, lines: 1 });
    expect(readFileSync(path).includes("at once, please")).toBe(false);
    expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    expect((await updateSearchIndex({ places: [directory] })).bytes).toBe(0);
    // Of another release.
    writeFileSync(join(dirname(path), "index-native-0123abcd.db"), "");
    expect(await dropSearchIndex()).toBe(true);
    expect(readdirSync(dirname(path)).filter((one) => one.endsWith(".db"))).toEqual([]);
    expect((await searchIndexState()).index).toBeUndefined();
  });

  it("finds parts of words, separate words, quoted words, other letters and names with gaps", async () => {
    const directory = temporaryDirectory();
    writeLong(directory, "s.jsonl", [
      user("The getUserName2 of parser_test.ts fails: ECONNREFUSED 127.0.0.1:8080."),
      assistant([{ type: "text", text: "Größe und ΣΊΣΥΦΟΣ, 会話を分岐する。" }]),
      user(`${"x".repeat(80)} is long, ${"7".repeat(90)} too`),
      user("İ before ΟΔΟΣ, Straße, 300 \u212a and ſharp: 50 µm"),
      name("Repair the build"),
      name("修理 123"),
      entry("label", { targetId: "00000001", label: "red build" }),
    ]);
    await updateSearchIndex({ places: [directory] });
    const queries = [
      "username",
      "serNam",
      "e2",
      "127.0.0.1",
      "8080 econn",
      '"fails: econn"',
      "fails econn",
      "größe",
      "ÖS",
      "σίσυφος",
      "分岐",
      "会",
      "る。",
      "xxxx",
      "77",
      "οδοσ",
      "ΟΔΟΣ",
      "οδος",
      "i̇",
      "strasse",
      "STRAßE",
      "300 k",
      "sharp",
      "50 μm",
      "修12",
      "13",
      "rprbld",
      "rzb",
      "build",
      "the build",
      "nothing of it",
      '"',
      "_",
    ];
    const counts = new Map<string, number>();
    for (const query of queries) {
      const { hits, unindexedBytes } = await searchBoth(directory, query);
      counts.set(query, hits.length);
      expect(unindexedBytes).toBe(0);
    }
    expect(counts.get("username")).toBe(1);
    expect(counts.get("8080 econn")).toBe(1);
    expect(counts.get('"fails: econn"')).toBe(1);
    expect(counts.get("分岐")).toBe(1);
    expect(counts.get("rprbld")).toBe(1);
    expect(counts.get("nothing of it")).toBe(0);
    for (const kinds of [["name"], ["message"], ["label"]] as const) {
      await searchBoth(directory, "build", { kinds });
    }
    await searchBoth(directory, "fails: ECONN", { exact: true });
    for (const query of [
      "fail[s]: econ+",
      "οδοσ",
      "300 k",
      "sharp",
      "50 μm",
      "\\x66ails",
      "修.12",
    ]) {
      await searchBoth(directory, query, { regex: true });
    }
  });

  it("gives the same results as reading for every agent's sessions", async () => {
    await updateSearchIndex({ places: [fixtures] });
    const queries = [
      "one",
      "error",
      "the file",
      "tool",
      "ession",
      "compact",
      "claude",
      "red build",
    ];
    for (const query of queries) await searchBoth(fixtures, query);
    const { unindexedBytes } = await search(fixtures, "qqqzzz");
    // What an update would read: the beginnings of lines that are long compared with their
    // transcripts.
    expect(unindexedBytes).toBe(unterminatedBytes(fixtures));
  });

  it("reads only appended data, and searches it before it is indexed", async () => {
    const directory = temporaryDirectory();
    const path = writeLines(directory, "s.jsonl", [header(), user("first wombat")]);
    await updateSearchIndex({ places: [directory] });
    const { size } = statSync(path);
    const added = `${JSON.stringify(user("second wombat"))}\n`;
    appendFileSync(path, added);
    const before = await searchBoth(directory, "wombat");
    expect([before.hits.length, before.unindexedBytes]).toEqual([2, added.length]);
    expect((await updateSearchIndex({ places: [directory] })).bytes).toBe(added.length);
    const after = await searchBoth(directory, "wombat");
    expect([after.hits.length, after.unindexedBytes]).toEqual([2, 0]);
    expect(statSync(path).size).toBe(size + added.length);
  });

  it("indexes only complete lines", async () => {
    const directory = temporaryDirectory();
    const path = writeLines(directory, "s.jsonl", [header(), user("whole")]);
    const line = JSON.stringify(user("torn wombat"));
    appendFileSync(path, line.slice(0, -9));
    await updateSearchIndex({ places: [directory] });
    appendFileSync(path, `${line.slice(-9)}\n`);
    expect((await searchBoth(directory, "wombat")).hits.length).toBe(1);
  });

  it("drops removed sessions, and reads rewritten ones again", async () => {
    const directory = temporaryDirectory();
    const one = writeLines(directory, "1.jsonl", [header(), user("wombat one")]);
    const two = writeLines(directory, "2.jsonl", [header(), user("wombat two")]);
    await updateSearchIndex({ places: [directory] });
    rmSync(one);
    writeFileSync(two, readFileSync(two, "utf8").replace("wombat two", "badger two"));
    utimesSync(two, 1, 1);
    expect((await searchBoth(directory, "wombat")).hits).toEqual([]);
    expect((await searchBoth(directory, "badger")).hits.length).toBe(1);
    expect(await updateSearchIndex({ places: [directory] })).toMatchObject({ removed: 1 });
    expect((await searchIndexState()).index?.files).toBe(1);
    expect((await searchBoth(directory, "badger")).hits.length).toBe(1);
  });
});

describe("an unusable search index", () => {
  const damages: readonly [string, (path: string) => void][] = [
    ["no database", (path) => writeFileSync(path, "not a database, but a long text\n".repeat(400))],
    ["truncated", (path) => truncateSync(path, statSync(path).size - 9000)],
    ["empty", (path) => truncateSync(path, 0)],
    [
      "of another version",
      (path) => {
        const bytes = readFileSync(path);
        bytes.writeUInt32BE(99, 60);
        writeFileSync(path, bytes);
      },
    ],
  ];
  it.each(damages)("is ignored if it is %s, and rebuilt", async (_name, damage) => {
    const directory = temporaryDirectory();
    for (const n of Array.from({ length: 30 }).keys()) {
      writeLines(directory, `${n}.jsonl`, [
        header(),
        user(`wombat ${n} ${"words of it ".repeat(99)}`),
      ]);
    }
    await updateSearchIndex({ places: [directory] });
    const path = await databasePath();
    damage(path);
    const { hits, unread } = await search(directory, "wombat");
    expect(hits.length).toBe(30);
    for (const reason of unread) expect(reason).toBeInstanceOf(BranchlogError);
    if (tellsOpenFiles) expect(openFiles(path)).toEqual([]);
    await dropSearchIndex();
    await updateSearchIndex({ places: [directory] });
    await checkSearchIndex();
    expect((await searchBoth(directory, "wombat")).unindexedBytes).toBe(0);
  });

  it("is reported by a check", async () => {
    const directory = temporaryDirectory();
    writeLines(directory, "s.jsonl", [header(), user("wombat")]);
    await updateSearchIndex({ places: [directory] });
    await checkSearchIndex();
    writeFileSync(await databasePath(), "no database\n".repeat(2000));
    await expect(checkSearchIndex()).rejects.toMatchObject({ code: "ERR_INDEX_FAILED" });
  });

  it("does not prevent an interrupted update from being continued by the next one", async () => {
    const directory = temporaryDirectory();
    for (const n of Array.from({ length: 40 }).keys()) {
      writeLines(directory, `${n}.jsonl`, [header(), user(`wombat ${"word ".repeat(100_000)}`)]);
    }
    const stop = new AbortController();
    const reason = new Error("interrupted");
    const interrupted = updateSearchIndex({
      places: [directory],
      signal: stop.signal,
      onProgress: () => stop.abort(reason),
    });
    await expect(interrupted).rejects.toBe(reason);
    const { index } = await searchIndexState();
    expect(index?.files).toBeGreaterThan(0);
    expect(index?.files).toBeLessThan(40);
    await searchBoth(directory, "wombat");
    const { bytes } = await updateSearchIndex({ places: [directory] });
    expect(bytes).toBeLessThan(40 * 500_000);
    expect((await searchBoth(directory, "wombat")).unindexedBytes).toBe(0);
  });

  it("is not written when the cache is not writable", async () => {
    const directory = temporaryDirectory();
    writeLines(directory, "s.jsonl", [header(), user("wombat")]);
    const cache = temporaryDirectory();
    writeFileSync(join(cache, "file"), "");
    vi.stubEnv("BRANCHLOG_CACHE_DIR", join(cache, "file"));
    await expect(updateSearchIndex({ places: [directory] })).rejects.toMatchObject({
      code: "ERR_INDEX_FAILED",
    });
    const { hits } = await search(directory, "wombat");
    expect(hits.length).toBe(1);
  });
});

it("a live search has appended and created entries, each hit once", async () => {
  const directory = temporaryDirectory();
  const path = writeLines(directory, "s.jsonl", [header(), user("first wombat")]);
  await updateSearchIndex({ places: [directory] });
  const hits$ = search$([directory], "wombat", { follow: true }).pipe(share());
  const texts = lastValueFrom(
    hits$.pipe(
      map(({ snippet }) => snippet.text),
      take(3),
      toArray(),
    ),
  );
  await firstValueFrom(hits$);
  appendFileSync(path, `${JSON.stringify({ ...user("second wombat"), id: "0000000b" })}\n`);
  await firstValueFrom(hits$.pipe(filter(({ snippet }) => snippet.text === "second wombat")));
  writeLines(directory, "t.jsonl", [header(), user("third wombat")]);
  expect(await texts).toEqual(["first wombat", "second wombat", "third wombat"]);
});

it("archived sessions are found by the index, and only those with a hit are unpacked", async () => {
  const home = temporaryDirectory();
  vi.stubEnv("HOME", home);
  vi.stubEnv("BRANCHLOG_DATA_DIR", temporaryDirectory());
  const directory = temporaryDirectory();
  for (const word of ["wombat", "badger"]) {
    const path = writeLines(directory, `${word}.jsonl`, [header(), user(`a ${word}`)]);
    await archiveSessions([path], { force: true });
  }
  await updateSearchIndex();
  expect((await searchIndexState()).index?.files).toBe(2);
  const packs = join(dataDirectory(), "packs");
  const problems: unknown[] = [];
  const store = archiveStore({ onProblem: (problem) => problems.push(problem) });
  const searched = async (query: string, index: "auto" | "off"): Promise<SearchHit[]> =>
    collected(searchSessions({ store }, query, { index }));
  for (const query of ["wombat", "badger", "a", "none of it"]) {
    expect(await searched(query, "auto")).toEqual(await searched(query, "off"));
  }
  const [hit] = await searched("badger", "auto");
  expect(hit?.path).toContain("badger.jsonl");
  expect(problems).toEqual([]);
  for (const pack of readdirSync(packs)) truncateSync(join(packs, pack), 10);
  expect(await searched("none of it", "auto")).toEqual([]);
  expect(problems).toEqual([]);
  expect(await searched("none of it", "off")).toEqual([]);
  expect(problems.length).toBeGreaterThan(0);
});

it("searches during an update find the same as reading all files", async () => {
  const directory = temporaryDirectory();
  for (const n of Array.from({ length: 60 }).keys()) {
    writeLines(directory, `${n}.jsonl`, [header(), user(`wombat ${"word ".repeat(40_000)}`)]);
  }
  const state = { isUpdated: false };
  const update = updateSearchIndex({ places: [directory] }).finally(() => (state.isUpdated = true));
  await expect(updateSearchIndex({ places: [directory] })).rejects.toMatchObject({
    code: "ERR_LOCK_TIMEOUT",
    message: expect.stringContaining("is updating the search index") as unknown,
  });
  while (!state.isUpdated) await searchBoth(directory, "wombat");
  await update;
  expect((await searchBoth(directory, "wombat")).unindexedBytes).toBe(0);
  await checkSearchIndex();
});

it("a killed update is continued, and does not affect searches", async () => {
  const directory = temporaryDirectory();
  for (const n of Array.from({ length: 20 }).keys()) {
    writeLines(directory, `${n}.jsonl`, [header(), user(`wombat ${"word ".repeat(300_000)}`)]);
  }
  for (const batches of [1, 2]) {
    const child = spawn(process.execPath, [indexingProcess, directory], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let written = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      written += 1;
      if (line === "done" || written === batches) child.kill("SIGKILL");
    }
    await searchBoth(directory, "wombat");
  }
  await updateSearchIndex({ places: [directory] });
  await checkSearchIndex();
  expect((await searchBoth(directory, "wombat")).unindexedBytes).toBe(0);
});

it("a lock of a killed process is first ignored, and later removed", async () => {
  const directory = temporaryDirectory();
  writeLines(directory, "s.jsonl", [header(), user("wombat")]);
  await updateSearchIndex({ places: [directory] });
  const path = await databasePath();
  // Of SQLite in Node, the system releases the locks of a process that ends.
  if (!path.includes("wasm")) return;
  mkdirSync(`${path}.lock`);
  const locked = await search(directory, "wombat");
  expect([locked.hits.length, locked.unread.length]).toEqual([1, 1]);
  const { ino } = statSync(path);
  await expect(updateSearchIndex({ places: [directory] })).rejects.toMatchObject({
    code: "ERR_INDEX_FAILED",
    message: expect.stringContaining("try again") as unknown,
  });
  expect(statSync(path).ino).toBe(ino);
  utimesSync(`${path}.lock`, 1, 1);
  const free = await search(directory, "wombat");
  expect([free.hits.length, free.unread.length, free.unindexedBytes]).toEqual([1, 0, 0]);
});
