/** Threads of Codex that continue files: those of a thread that was reverted, and forks. */
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { basename, dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { SessionEntry } from "@branchlog/core";
import {
  archiveSessions,
  archiveStore,
  findSessions,
  moveSessions,
  resolveSession,
  restoreSession,
  searchSessions,
  undoOperation,
} from "@branchlog/library";
import { usageStatistics } from "@branchlog/tools";
import { collected } from "../../support/collected.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, spoken } from "../../tools/import/imported.ts";

const thread = "019f1000-0000-7000-8000-0000000000b0";
const fork = "019f1000-0000-7000-8000-0000000000c0";

const names = {
  first: `rollout-2026-11-19T09-00-00-${thread}.jsonl`,
  reverted: `rollout-2026-11-19T10-00-00-${thread}_019f1000-0000-7000-8000-0000000000b1.jsonl`,
  last: `rollout-2026-11-19T11-00-00-${thread}_019f1000-0000-7000-8000-0000000000b2.jsonl`,
  fork: `rollout-2026-11-19T12-00-00-${fork}.jsonl`,
};

type Part = keyof typeof names;

const all = ["first", "reverted", "last", "fork"] as const;

/** A home of Codex; the last file of the thread is in the directory of another day. */
function homeWith(...parts: readonly Part[]): string {
  const home = temporaryDirectory();
  for (const part of parts) {
    const path = pathIn(home, part);
    mkdirSync(dirname(path), { recursive: true });
    copyFileSync(fixturePath(`transcripts/field/codex-parts/${part}.jsonl`), path);
  }
  return home;
}

function pathIn(home: string, part: Part): string {
  return join(home, "sessions/2026/11", part === "last" ? "20" : "19", names[part]);
}

const first = ["user: How is the basket summed?", "assistant: By a loop over its lines."];
const second = ["user: Write it without a loop.", "assistant: Done, with a fold."];
const third = ["user: Add a test for rounding.", "assistant: Added."];
const fourth = ["user: Run it.", "assistant: It passes."];
const forked = ["user: Explain the loop instead.", "assistant: It adds price times count."];

async function contextOf(path: string): Promise<readonly string[]> {
  const session = await openSession(path, { access: "read" });
  const { messages } = await session.context();
  await session.close();
  return spoken(messages);
}

async function said(path: string): Promise<readonly string[]> {
  const session = await openSession(path, { access: "read" });
  const entries: SessionEntry[] = await collected(session.entries());
  await session.close();
  return spoken(entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : [])));
}

describe("a thread of Codex in several files", () => {
  it("is one session with the context of its last file, and reverted entries are a branch", async () => {
    const home = homeWith("first", "reverted", "last");
    const { sessions } = await findSessions([home]);
    expect(sessions.map(({ path }) => path)).toEqual([pathIn(home, "last")]);
    const found = await resolveSession(thread, [home]);
    expect(found.path).toBe(pathIn(home, "last"));
    expect(found.usage?.total.totalTokens).toBe(9350);
    expect(await contextOf(found.path)).toEqual([...first, ...third, ...fourth]);
    expect(await said(found.path)).toEqual([...first, ...second, ...third, ...fourth]);
    const { total } = await usageStatistics([home]);
    expect(total).toMatchObject({ requests: 4, turns: 4, input: 8500, output: 850 });
  });

  it("has its canonical path, however it is opened", async () => {
    const path = pathIn(homeWith("first", "reverted", "last"), "last");
    const session = await openSession(relative(process.cwd(), path), { access: "read" });
    expect(session.path).toBe(path);
    await session.close();
  });

  it("is the session of the file that is given, as it was before the next one", async () => {
    const home = homeWith("first", "reverted", "last");
    expect(await contextOf(pathIn(home, "first"))).toEqual([...first, ...second]);
    expect(await contextOf(pathIn(home, "reverted"))).toEqual([...first, ...third]);
  });

  it("is found once by a search, in entries that the session has", async () => {
    const home = homeWith("first", "reverted", "last");
    const session = await openSession(pathIn(home, "last"));
    for (const text of ["summed", "without a loop", "rounding", "passes"]) {
      const [hit, ...others] = await collected(searchSessions([home], text));
      expect(others).toEqual([]);
      expect(hit?.path).toBe(pathIn(home, "last"));
      expect(JSON.stringify(await session.entry(hit?.entryId ?? ""))).toContain(text);
    }
    await session.close();
  });

  it.each<readonly [string, (path: string) => void]>([
    ["a link to nothing", (path) => symlinkSync("/nonexistent", path)],
    ["a directory", (path) => mkdirSync(path)],
    ["a pipe", (path) => execFileSync("/usr/bin/env", ["mkfifo", path])],
  ])("keeps the remaining entries when a file is %s", async (_what, make) => {
    const home = homeWith("first", "reverted", "last");
    const path = pathIn(home, "first");
    rmSync(path);
    make(path);
    const { sessions } = await findSessions([home]);
    expect(sessions.map((one) => one.path)).toEqual([pathIn(home, "last")]);
    expect(await contextOf(pathIn(home, "last"))).toEqual([...third, ...fourth]);
    const hits = await collected(searchSessions([home], "passes"));
    expect(hits.map(({ path: at }) => at)).toEqual([pathIn(home, "last")]);
  });

  it("counts a file copied to the archived sessions once", async () => {
    const home = homeWith("first", "reverted", "last");
    const copy = join(home, "archived_sessions", names.first);
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(pathIn(home, "first"), copy);
    expect(await said(pathIn(home, "last"))).toHaveLength(8);
  });

  it("is archived as a whole if an earlier file is named", async () => {
    const home = homeWith("first", "reverted", "last");
    const options = { dataDir: temporaryDirectory(), force: true };
    const { removed } = await archiveSessions([pathIn(home, "first")], options);
    expect([removed, filesIn(home)]).toEqual([[pathIn(home, "last")], {}]);
  });

  it("is followed while its last file grows", async () => {
    const home = homeWith("first", "reverted", "last");
    const session = await openSession(pathIn(home, "last"));
    const { revision } = session;
    const item = { type: "message", role: "user", content: [{ type: "input_text", text: "Next" }] };
    const record = { timestamp: "2026-11-19T11:01:00.000Z", type: "response_item", payload: item };
    appendFileSync(session.path, `${JSON.stringify(record)}\n`);
    await session.refresh();
    expect(session.revision).toBe(revision + 1);
    const { messages } = await session.context();
    expect(spoken(messages)).toEqual([...first, ...third, ...fourth, "user: Next"]);
    await session.close();
    expect(await contextOf(session.path)).toEqual(spoken(messages));
  });

  it("is archived, searched there and restored with all of its files", async () => {
    const home = homeWith("first", "reverted", "last");
    const before = filesIn(home);
    const dataDir = temporaryDirectory();
    const { removed, failures } = await archiveSessions([home], { dataDir, force: true });
    expect(failures).toEqual([]);
    expect(removed).toEqual([pathIn(home, "last")]);
    expect(filesIn(home)).toEqual({});
    const store = archiveStore({ dataDir });
    const archived = await openSession({ store, id: thread, access: "read" });
    const { messages } = await archived.context();
    expect(spoken(messages)).toEqual([...first, ...third, ...fourth]);
    await archived.close();
    const hits = await collected(searchSessions({ store }, "rounding"));
    expect(hits.map(({ entryId }) => entryId)).toEqual(["line:19"]);
    await restoreSession(thread, { dataDir });
    expect(filesIn(home)).toEqual(before);
  });

  it("moves with all of its files, and a fork still continues it where it did", async () => {
    const home = homeWith(...all);
    const before = filesIn(home);
    const target = temporaryDirectory();
    const places = [home];
    const dataDir = temporaryDirectory();
    const options = { places, dataDir, force: true };
    const { moved, operation } = await moveSessions("/home/dev/shop", target, options);
    expect(moved.map(({ from }) => from).toSorted()).toEqual([
      pathIn(home, "fork"),
      pathIn(home, "last"),
    ]);
    for (const text of Object.values(filesIn(home))) {
      const [meta = ""] = text.split("\n");
      expect(meta).toContain(`"cwd":${JSON.stringify(target)}`);
    }
    expect(await contextOf(pathIn(home, "last"))).toEqual([...first, ...third, ...fourth]);
    expect(await contextOf(pathIn(home, "fork"))).toEqual([...first, ...forked]);
    await undoOperation(operation ?? "", { dataDir });
    expect(filesIn(home)).toEqual(before);
  });
});

describe("a fork of Codex without the records that it continues", () => {
  it("has the context of both, and only its own usage", async () => {
    const home = homeWith(...all);
    expect(await contextOf(pathIn(home, "fork"))).toEqual([...first, ...forked]);
    const { sessions } = await findSessions([home]);
    const found = sessions.map(({ header, usage }) => [header.id, usage?.total.totalTokens]);
    expect(found).toEqual([
      [fork, 880],
      [thread, 9350],
    ]);
    expect(sessions[0]?.header.parentSession).toBe(thread);
    const { total } = await usageStatistics([home]);
    expect(total).toMatchObject({ requests: 5, turns: 5, input: 9300, output: 930 });
  });

  it("gives only its own hits: those of its origin count there", async () => {
    const home = homeWith(...all);
    const hits = await collected(searchSessions([home], "loop"));
    const places = hits.map(({ path, entryId }) => `${basename(path)} ${entryId}`);
    expect(places).toEqual([
      `${names.fork} line:13`,
      `${names.last} line:6`,
      `${names.last} line:11`,
    ]);
  });

  it("is searched with its origin when it is given itself", async () => {
    const path = pathIn(homeWith(...all), "fork");
    const hits = await collected(searchSessions(path, "loop"));
    expect(hits.map(({ entryId }) => entryId)).toEqual(["line:6", "line:13"]);
  });

  it("starts with its own records when its origin is missing, and reports it", async () => {
    const home = homeWith("fork");
    const session = await openSession(pathIn(home, "fork"));
    const { messages, truncatedAt } = await session.context();
    expect(spoken(messages)).toEqual(forked);
    expect(truncatedAt).toBe(`file:${thread}`);
    await session.close();
    const later = homeWith("reverted", "last");
    expect(await contextOf(pathIn(later, "last"))).toEqual([...third, ...fourth]);
  });

  it.each(["1.5", "1e300", "-3", '"x"'])(
    "is cut at its ordinal when its offset is %s",
    async (at) => {
      const home = homeWith(...all);
      const path = pathIn(home, "fork");
      const text = readFileSync(path, "utf8");
      writeFileSync(path, text.replace(/"end_byte_offset":\d+/, `"end_byte_offset":${at}`));
      expect(await contextOf(path)).toEqual([...first, ...forked]);
      expect(await collected(searchSessions([home], "loop"))).toHaveLength(3);
    },
  );

  it("begins when its own first record was written", async () => {
    const home = homeWith(...all);
    const session = await openSession(pathIn(home, "fork"));
    expect(session.header.timestamp).toBe("2026-11-19T12:00:00.000Z");
    await session.close();
  });

  it("ends where files continue each other", async () => {
    const home = homeWith("first", "fork");
    const path = pathIn(home, "first");
    const base = { thread_id: fork, end_ordinal_exclusive: 100, end_byte_offset: 9_999 };
    const text = readFileSync(path, "utf8");
    const key = '"history_mode"';
    writeFileSync(path, text.replace(key, `"history_base":${JSON.stringify(base)},${key}`));
    expect(await contextOf(pathIn(home, "fork"))).toEqual([...first, ...forked]);
  });

  it("continues the same in the directory of archived sessions, and with a torn end", async () => {
    const home = homeWith(...all);
    const archived = join(home, "archived_sessions", names.first);
    mkdirSync(dirname(archived), { recursive: true });
    renameSync(pathIn(home, "first"), archived);
    appendFileSync(archived, '{"timestamp":"2026-11-19T09:0');
    expect(await contextOf(pathIn(home, "fork"))).toEqual([...first, ...forked]);
    expect(await contextOf(pathIn(home, "last"))).toEqual([...first, ...third, ...fourth]);
    rmSync(archived);
    expect(await contextOf(pathIn(home, "last"))).toEqual([...third, ...fourth]);
  });
});

function filesIn(home: string): Readonly<Record<string, string>> {
  const below = readdirSync(home, { withFileTypes: true, recursive: true });
  const files = below.filter((place) => place.isFile() && place.name.endsWith(".jsonl"));
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, "utf8")]));
}
