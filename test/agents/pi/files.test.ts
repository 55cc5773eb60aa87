/** Session files: when they appear, what opening does to them, what is refused. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager, loadEntriesFromFile } from "@branchlog/agents/pi";
import { fileError, sampleHeader } from "@branchlog/core/testing";
import { usageOf, user } from "../../core/projections/sample-entries.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { created, answer, directory, inMemoryFiles, linesIn, onDisk, say } from "./managers.ts";

const header = JSON.stringify(
  sampleHeader({ timestamp: "2026-01-01T00:00:00.000Z", cwd: "/work" }),
);
const entry = JSON.stringify(user("0000000a", null, "hello"));

function file(content: string | undefined, name = "s.jsonl"): string {
  const path = join(temporaryDirectory(), name);
  if (content !== undefined) writeFileSync(path, content);
  return path;
}

describe("a new session", () => {
  it("creates its directory at once and its file with the first user message", () => {
    const sessions = join(temporaryDirectory(), "deep", "sessions");
    const manager = onDisk().create("/work", sessions, { id: "my-id" });
    const path = join(sessions, "2026-01-01T00-00-00-000Z_my-id.jsonl");
    expect(manager.getSessionFile()).toBe(path);
    expect(statSync(sessions).mode & 0o777).toBe(0o700);
    manager.appendModelChange("p", "m");
    manager.appendMessage({ role: "system", content: "be brief", timestamp: 1 });
    manager.appendCustomMessageEntry("note", "n", true);
    expect(readdirSync(sessions)).toEqual([]);
    // Since pi 0.99; before, the file waited for the first answer.
    say(manager, "hello");
    expect(readdirSync(sessions)).toEqual(["2026-01-01T00-00-00-000Z_my-id.jsonl"]);
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(5);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("appears with an answer as well, whatever came before", () => {
    const manager = onDisk().create("/work", temporaryDirectory());
    manager.appendMessage({
      role: "toolResult",
      toolCallId: "1",
      toolName: "bash",
      content: [],
      isError: false,
      timestamp: 1,
    });
    expect(existsSync(manager.getSessionFile() ?? "")).toBe(false);
    answer(manager, "hi");
    expect(existsSync(manager.getSessionFile() ?? "")).toBe(true);
  });

  it("continues with the ids, the leaf and the entries of its draft", () => {
    const { managers, fs, manager } = created();
    const first = manager.appendModelChange("p", "m");
    manager.appendThinkingLevelChange("high");
    manager.branch(first);
    const early = manager.getEntries();
    const second = say(manager, "hello");
    expect(manager.getEntry(second)?.parentId).toBe(first);
    expect(manager.getLeafId()).toBe(second);
    expect(manager.getEntries().slice(0, 2)).toEqual(early);
    const third = answer(manager, "hi");
    expect(linesIn(fs, manager.getSessionFile())).toHaveLength(5);
    expect(managers.open(manager.getSessionFile() ?? "").getLeafId()).toBe(third);
  });

  it("writes the lines that pi writes, byte for byte (Verifies: P20)", async () => {
    const { managers, fs } = inMemoryFiles(7);
    const manager = managers.create("/work", directory, { id: "s", parentSession: "/p.jsonl" });
    const first = say(manager, 'a "quoted" é\u2028');
    manager.appendThinkingLevelChange("high");
    manager.appendModelChange("openai", "gpt");
    manager.appendCustomEntry("x", { n: 1 });
    manager.appendCustomEntry("bare");
    manager.appendCustomMessageEntry("note", [{ type: "text", text: "t" }], false);
    manager.appendLabelChange(first, "mark");
    manager.appendLabelChange(first, undefined);
    manager.appendSessionInfo("name");
    manager.appendContextEdit(first, null);
    manager.branchWithSummary(first, "left", undefined, true, usageOf(1, 2));
    manager.appendCompaction("summary", first, 10, { readFiles: [], modifiedFiles: [] });
    manager.appendCompaction("all", null, 20, undefined, undefined, usageOf(1, 2));
    const text = fs.readFileSync(manager.getSessionFile() ?? "").toString();
    await expect(text).toMatchFileSnapshot("golden/each-entry.jsonl");
  });

  it("gets a UUIDv7 when no id is given, also for a branch and a fork", () => {
    const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;
    const sessions = temporaryDirectory();
    const manager = SessionManager.create("/work", sessions);
    const others = [{ parentSession: "/p" }, undefined].map((options) =>
      SessionManager.create("/work", sessions, options),
    );
    const ids = [manager, ...others].map((one) => one.getSessionId());
    say(manager, "1");
    const fork = SessionManager.forkFrom(manager.getSessionFile() ?? "", "/other", sessions);
    ids.push(fork.getSessionId());
    manager.createBranchedSession(manager.getLeafId() ?? "");
    ids.push(manager.getSessionId());
    for (const id of ids) expect(id).toMatch(version7);
    expect(new Set(ids).size).toBe(5);
    expect(ids.toSorted()).toEqual(ids);
    for (const one of [manager, fork, ...others]) {
      expect(one.getHeader()?.id).toBe(one.getSessionId());
      expect(one.getSessionFile()).toContain(`_${one.getSessionId()}.jsonl`);
    }
  });

  it("recreates its directory when that was removed before the session had a file", () => {
    const sessions = join(temporaryDirectory(), "deep", "sessions");
    const manager = SessionManager.create("/work", sessions);
    rmSync(join(sessions, ".."), { recursive: true });
    const id = say(manager, "1");
    expect(SessionManager.open(manager.getSessionFile() ?? "").getLeafId()).toBe(id);
  });

  it("loses a move of its leaf with the manager, since the file does not have it", () => {
    const { managers, fs, manager } = created();
    const first = say(manager, "1");
    const last = answer(manager, "2");
    const before = linesIn(fs, manager.getSessionFile());
    manager.branch(first);
    manager.resetLeaf();
    expect(linesIn(fs, manager.getSessionFile())).toEqual(before);
    expect(managers.open(manager.getSessionFile() ?? "").getLeafId()).toBe(last);
  });
});

it("a draft that cannot be published because the path exists fails with that reason, and stays usable", () => {
  const { managers, fs } = inMemoryFiles();
  const [one, two] = [managers.open("/a/s.jsonl"), managers.open("/a/s.jsonl")];
  two.appendModelChange("p", "m");
  say(one, "first");
  const before = [two.getEntries(), two.getLeafId()];
  expect(() => say(two, "second")).toThrow(
    expect.objectContaining({ code: "ERR_LOG_EXISTS", path: "/a/s.jsonl" }),
  );
  expect([two.getEntries(), two.getLeafId()]).toEqual(before);
  two.appendThinkingLevelChange("high");
  expect(two.getEntryCount()).toBe(2);
  expect(linesIn(fs, "/a/s.jsonl")).toHaveLength(2);
  expect(fs.listSync("/a")).toEqual(["s.jsonl"]);
  two.setSessionFile("/a/s.jsonl");
  say(two, "second");
  expect(linesIn(fs, "/a/s.jsonl")).toHaveLength(3);
});

it("an append of a value that has no JSON form fails by itself, before any file", () => {
  const manager = inMemoryFiles().managers.create("/work", directory);
  expect(() => manager.appendCustomEntry("x", 10n)).toThrow(
    expect.objectContaining({ code: "ERR_UNSERIALIZABLE" }),
  );
  expect(manager.getEntryCount()).toBe(0);
  say(manager, "still works");
});

describe("opening", () => {
  it("a missing file is a new session for that path, in a directory created on demand", () => {
    const path = join(temporaryDirectory(), "not", "there", "s.jsonl");
    const manager = SessionManager.open(path);
    expect(manager.getSessionFile()).toBe(path);
    expect(manager.getSessionDir()).toBe(join(path, ".."));
    expect(existsSync(join(path, ".."))).toBe(false);
    say(manager, "hello");
    expect(SessionManager.open(path).getSessionId()).toBe(manager.getSessionId());
  });

  it("an empty file writes its header, once", () => {
    const path = file("");
    const manager = onDisk().open(path);
    const lines = readFileSync(path, "utf8");
    expect(lines).toBe(
      `{"type":"session","version":3,"id":"${manager.getSessionId()}","timestamp":"2026-01-01T00:00:00.000Z","cwd":${JSON.stringify(process.cwd())}}\n`,
    );
    expect(manager.getSessionFile()).toBe(path);
    expect(SessionManager.open(path).getSessionId()).toBe(manager.getSessionId());
    manager.appendModelChange("p", "m");
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(3);
    expect(readdirSync(join(path, ".."))).toEqual(["s.jsonl"]);
  });

  it("an empty file that cannot be written stays empty, and is a session later", () => {
    const { managers, fs } = inMemoryFiles();
    const path = `${directory}/s.jsonl`;
    fs.makeDirectorySync(directory);
    fs.writeFileSync(path, Buffer.alloc(0));
    fs.onCall = ({ name }) => {
      if (name === "writeSync") throw fileError("ENOSPC", "write");
    };
    expect(() => managers.open(path)).toThrow(
      /could not be made a session \(ENOSPC.*open it again/u,
    );
    expect(fs.readFileSync(path).toString()).toBe("");
    fs.onCall = undefined;
    expect(linesIn(fs, managers.open(path).getSessionFile())).toHaveLength(1);
  });

  it.each([
    ["no header", `${entry}\n`],
    ["another program's log", "INFO started\nINFO stopped\n"],
    ["white space", " \n\n"],
    ["JSON that is not a session", '{"type":"session"}\n[]\n'],
  ])("a file with %s is rejected, and not changed", (_what, content) => {
    const path = file(content, "some.log");
    // Since pi 0.80.3; before, it was overwritten with a new header.
    expect(() => SessionManager.open(path)).toThrow(
      `Session file is not a valid pi session: ${path}`,
    );
    const manager = SessionManager.inMemory();
    expect(() => manager.setSessionFile(path)).toThrow(/is not a valid pi session/u);
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  it("a directory fails with Node's error", () => {
    expect(() => SessionManager.open(temporaryDirectory())).toThrow(
      "EISDIR: illegal operation on a directory, read",
    );
  });

  it("tolerates more than 1 MiB of junk before the header, and a longer header", () => {
    const long = header.replace("}", `,"x":"${"y".repeat(1_100_000)}"}`);
    const path = file(`${`${"junk ".repeat(20_000)}\n`.repeat(12)}${long}\n${entry}\n`);
    expect(SessionManager.open(path).getCwd()).toBe("/work");
    expect(SessionManager.open(path, undefined, "/other").getCwd()).toBe("/other");
  });

  it("takes the working directory from the caller, the header, or the process", () => {
    const cwdOf = (stored: string, override?: string): string => {
      const head = header.replace('"/work"', stored);
      return SessionManager.open(file(`${head}\n${entry}\n`), undefined, override).getCwd();
    };
    expect(cwdOf('"/work"')).toBe("/work");
    expect(cwdOf('"/work"', "/over/ride/..")).toBe("/over");
    expect(cwdOf('""')).toBe(process.cwd());
    expect(cwdOf("null")).toBe(process.cwd());
    expect(cwdOf('"sub"')).toBe(join(process.cwd(), "sub"));
  });

  it("has its directory, its path and whether it is the default", () => {
    const path = file(`${header}\n${entry}\n`);
    const other = temporaryDirectory();
    const manager = SessionManager.open(relative(process.cwd(), path), other);
    expect([manager.getSessionFile(), manager.getSessionDir()]).toEqual([path, other]);
    expect([manager.isPersisted(), manager.usesDefaultSessionDir()]).toEqual([true, false]);
    manager.newSession();
    say(manager, "1");
    expect(readdirSync(other)).toHaveLength(1);
  });
});

describe("going to another session", () => {
  it("newSession forgets entries, labels and name, and writes nothing yet", () => {
    const { fs, manager } = created();
    const first = say(manager, "1");
    manager.appendLabelChange(first, "mark");
    manager.appendSessionInfo("name");
    const path = manager.newSession({ id: "second", parentSession: "/p.jsonl" });
    expect(path).toBe(`${directory}/2026-01-01T00-00-00-000Z_second.jsonl`);
    expect(manager.getHeader()).toMatchObject({ id: "second", parentSession: "/p.jsonl" });
    expect([manager.getEntries(), manager.getLeafId()]).toEqual([[], null]);
    expect([manager.getLabel(first), manager.getSessionName()]).toEqual([undefined, undefined]);
    expect(fs.listSync(directory)).toHaveLength(1);
    expect(() => manager.newSession({ id: "-" })).toThrow();
    expect(manager.getSessionId()).toBe("second");
  });

  it("setSessionFile opens another file, and a failure changes nothing", () => {
    const { fs, manager } = created();
    say(manager, "1");
    fs.writeFileSync("/other.jsonl", Buffer.from(`${header}\n${entry}\n`));
    fs.writeFileSync("/bad.jsonl", Buffer.from("bad\n"));
    manager.setSessionFile("/other.jsonl");
    expect([manager.getSessionId(), manager.getLeafId()]).toEqual(["s", "0000000a"]);
    expect(() => manager.setSessionFile("/bad.jsonl")).toThrow();
    expect(manager.getSessionFile()).toBe("/other.jsonl");
    manager.setSessionFile("/new.jsonl");
    expect([manager.getSessionFile(), manager.getEntryCount()]).toEqual(["/new.jsonl", 0]);
    expect(manager.getCwd()).toBe("/work");
  });
});

describe("loadEntriesFromFile", () => {
  it.each([
    ["a missing file", undefined],
    ["an empty file", ""],
    ["a file without a header", `${entry}\n`],
    ["a file of malformed lines", "not json\n"],
  ])("returns nothing for %s", (_what, content) => {
    expect(loadEntriesFromFile(file(content))).toEqual([]);
  });

  it("returns the header and the entries without malformed lines", () => {
    expect(loadEntriesFromFile(file(`${header}\n{bad\n${entry}\n`))).toEqual([
      JSON.parse(header),
      JSON.parse(entry),
    ]);
  });

  it("fails for a directory like reading it", () => {
    const path = temporaryDirectory();
    mkdirSync(join(path, "x.jsonl"));
    expect(() => loadEntriesFromFile(join(path, "x.jsonl"))).toThrow(/EISDIR/u);
  });
});
