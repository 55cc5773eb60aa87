/** Session files: when they appear, what opening does to them, what is refused. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager, loadEntriesFromFile } from "@branchlog/agents/pi";
import { fileError, sampleHeader } from "@branchlog/core/testing";
import { fixtureNames } from "../../core/projections/fixture-session.ts";
import { usageOf, user } from "../../core/projections/sample-entries.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { answer, directory, inMemoryFiles, linesIn, onDisk, say } from "./managers.ts";

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
  it("makes its directory at once and its file with the first user message", () => {
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
    const { managers, fs } = inMemoryFiles();
    const manager = managers.create("/work", directory);
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

  it("writes the lines that pi writes, byte for byte (Verifies: P20)", () => {
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
    manager.branchWithSummary(first, "left", undefined, true);
    manager.appendCompaction("summary", first, 10, { readFiles: [], modifiedFiles: [] });
    manager.appendCompaction("all", null, 20);
    expect(linesIn(fs, manager.getSessionFile())).toMatchInlineSnapshot(`
      [
        "{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/work","parentSession":"/p.jsonl"}",
        "{"type":"message","id":"c9369ce6","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"a \\"quoted\\" é ","timestamp":1}}",
        "{"type":"thinking_level_change","id":"d7789f06","parentId":"c9369ce6","timestamp":"2026-01-01T00:00:00.000Z","thinkingLevel":"high"}",
        "{"type":"model_change","id":"ad459f88","parentId":"d7789f06","timestamp":"2026-01-01T00:00:00.000Z","provider":"openai","modelId":"gpt"}",
        "{"type":"custom","customType":"x","data":{"n":1},"id":"8ce4464a","parentId":"ad459f88","timestamp":"2026-01-01T00:00:00.000Z"}",
        "{"type":"custom","customType":"bare","id":"5e3682c4","parentId":"8ce4464a","timestamp":"2026-01-01T00:00:00.000Z"}",
        "{"type":"custom_message","customType":"note","content":[{"type":"text","text":"t"}],"display":false,"id":"a246730d","parentId":"5e3682c4","timestamp":"2026-01-01T00:00:00.000Z"}",
        "{"type":"label","id":"d7779bb8","parentId":"a246730d","timestamp":"2026-01-01T00:00:00.000Z","targetId":"c9369ce6","label":"mark"}",
        "{"type":"label","id":"c874b429","parentId":"d7779bb8","timestamp":"2026-01-01T00:00:00.000Z","targetId":"c9369ce6"}",
        "{"type":"session_info","id":"680db946","parentId":"c874b429","timestamp":"2026-01-01T00:00:00.000Z","name":"name"}",
        "{"type":"context_edit","id":"3a90b304","parentId":"680db946","timestamp":"2026-01-01T00:00:00.000Z","targetId":"c9369ce6","replacement":null}",
        "{"type":"branch_summary","id":"300d6f22","parentId":"c9369ce6","timestamp":"2026-01-01T00:00:00.000Z","fromId":"3a90b304","summary":"left","fromHook":true}",
        "{"type":"compaction","id":"4430341e","parentId":"300d6f22","timestamp":"2026-01-01T00:00:00.000Z","summary":"summary","firstKeptEntryId":"c9369ce6","tokensBefore":10,"details":{"readFiles":[],"modifiedFiles":[]}}",
        "{"type":"compaction","id":"8821d65f","parentId":"4430341e","timestamp":"2026-01-01T00:00:00.000Z","summary":"all","firstKeptEntryId":"8821d65f","tokensBefore":20}",
      ]
    `);
  });

  it("refuses an id that is no file name", () => {
    expect(() => SessionManager.create("/work", temporaryDirectory(), { id: "a/b" })).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_SESSION_ID" }),
    );
    expect(() => SessionManager.inMemory("/work", { id: "" })).toThrow(/Session id must be/u);
  });

  it("takes a random id of version 7 if none is given", () => {
    const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;
    const sessions = temporaryDirectory();
    const ids = [{}, { parentSession: "/p" }, undefined].map((options) => {
      const manager = SessionManager.create("/work", sessions, options);
      expect(manager.getHeader()?.id).toBe(manager.getSessionId());
      return manager.getSessionId();
    });
    for (const id of ids) expect(id).toMatch(version7);
    expect(new Set(ids).size).toBe(3);
    expect(ids.toSorted()).toEqual(ids);
  });
});

describe("a draft that cannot be published", () => {
  it("because the path was taken says so, and stays usable", () => {
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

  it.each(Array.from({ length: 20 }, (_, i) => i + 1))(
    "because call %i of the file system fails loses nothing (Verifies: P12)",
    (failing) => {
      const { managers, fs } = inMemoryFiles();
      const manager = managers.create("/work", directory);
      const model = manager.appendModelChange("p", "m");
      let calls = 0;
      fs.onCall = () => {
        calls += 1;
        if (calls === failing) throw Object.assign(new Error("disk full"), { code: "ENOSPC" });
      };
      try {
        say(manager, "hello");
      } catch {
        fs.onCall = undefined;
        expect([manager.getLeafId(), manager.getEntryCount()]).toEqual([model, 1]);
        say(manager, "hello");
      }
      fs.onCall = undefined;
      expect(linesIn(fs, manager.getSessionFile())).toHaveLength(3);
      answer(manager, "goes on");
      expect(linesIn(fs, manager.getSessionFile())).toHaveLength(4);
    },
  );
});

describe("an append that fails", () => {
  it("changes nothing, and the next one works (Verifies: P12)", () => {
    const { managers, fs } = inMemoryFiles();
    const manager = managers.create("/work", directory);
    const first = say(manager, "1");
    fs.onCall = ({ name }) => {
      if (name === "writeSync") throw Object.assign(new Error("disk full"), { code: "ENOSPC" });
    };
    expect(() => say(manager, "2")).toThrow(expect.objectContaining({ code: "ERR_APPEND_FAILED" }));
    fs.onCall = undefined;
    expect([manager.getLeafId(), manager.getEntryCount()]).toEqual([first, 1]);
    expect(manager.getEntry(say(manager, "2"))?.parentId).toBe(first);
  });

  it("halfway loses neither entries nor the one that comes next, as pi does", () => {
    const { managers, fs } = inMemoryFiles();
    const manager = managers.create("/work", directory);
    say(manager, "1");
    let isShort = true;
    fs.onCall = ({ name }) => {
      if (name !== "writeSync") return undefined;
      if (!isShort) throw Object.assign(new Error("disk full"), { code: "ENOSPC" });
      isShort = false;
      return "short";
    };
    expect(() => say(manager, "2")).toThrow();
    fs.onCall = undefined;
    say(manager, "3");
    const again = managers.open(manager.getSessionFile() ?? "");
    expect(again.getEntries()).toEqual(manager.getEntries());
    expect(again.getBranch()).toHaveLength(2);
  });

  it("on a value that has no JSON form is reported by itself, before any file", () => {
    const manager = inMemoryFiles().managers.create("/work", directory);
    expect(() => manager.appendCustomEntry("x", 10n)).toThrow(
      expect.objectContaining({ code: "ERR_UNSERIALIZABLE" }),
    );
    expect(manager.getEntryCount()).toBe(0);
    say(manager, "still works");
  });

  it("on a file that was deleted does not create it anew", () => {
    const { managers, fs } = inMemoryFiles();
    const manager = managers.create("/work", directory);
    say(manager, "1");
    fs.unlinkSync(manager.getSessionFile() ?? "");
    expect(() => say(manager, "2")).toThrow(expect.objectContaining({ code: "ERR_LOG_GONE" }));
    expect(fs.listSync(directory)).toEqual([]);
    expect(manager.getEntryCount()).toBe(1);
  });

  it("on a file of a newer version changes nothing (Verifies: P24)", () => {
    const path = file(`${header.replace('"version":3', '"version":4')}\n${entry}\n`);
    const before = readFileSync(path);
    const manager = SessionManager.open(path);
    expect(manager.getEntries()).toHaveLength(1);
    expect(() => say(manager, "2")).toThrow(expect.objectContaining({ code: "ERR_VERSION_NEWER" }));
    expect(readFileSync(path)).toEqual(before);
  });
});

describe("opening", () => {
  const sha256 = (path: string): string =>
    createHash("sha256").update(readFileSync(path)).digest("hex");
  const fixtures = fixtureNames().map((name) => [
    name,
    readFileSync(new URL(`../../../fixtures/${name}.jsonl`, import.meta.url)),
  ]) as [string, Buffer][];

  it.each(fixtures)(
    "%s and reading everything changes no byte of it (Verifies: P8)",
    (_name, bytes) => {
      const path = join(temporaryDirectory(), "s.jsonl");
      writeFileSync(path, bytes);
      const before = [sha256(path), statSync(path).mtimeMs];
      chmodSync(path, 0o400);
      const manager = SessionManager.open(path);
      manager.getEntries().map((one) => JSON.stringify(one));
      manager.getTree();
      manager.buildSessionContext();
      expect([sha256(path), statSync(path).mtimeMs]).toEqual(before);
      expect(readdirSync(join(path, ".."))).toEqual(["s.jsonl"]);
    },
  );

  it("a file without its last newline leaves it so until the next append (Verifies: P8, P9)", () => {
    const path = file(`${header}\n${entry}`);
    const manager = SessionManager.open(path);
    expect(manager.getEntries()).toHaveLength(1);
    expect(readFileSync(path, "utf8")).toBe(`${header}\n${entry}`);
    say(manager, "next");
    expect(readFileSync(path, "utf8").split("\n")[1]).toBe(entry);
    expect(SessionManager.open(path).getBranch()).toHaveLength(2);
  });

  it("a file with a torn end skips it, and fences it off at the next append (Verifies: P9)", () => {
    const path = file(`${header}\n${entry}\n{"type":"mess`);
    const manager = SessionManager.open(path);
    say(manager, "next");
    const again = SessionManager.open(path);
    expect(again.getBranch()).toHaveLength(2);
    expect(again.getDiagnostics()).toMatchObject([{ kind: "bad-line", line: 3 }]);
  });

  it("a missing file is a new session for that path, in a directory made when it is needed", () => {
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
    ["JSON that is no session", '{"type":"session"}\n[]\n'],
  ])("a file with %s is refused, and stays as it is", (_what, content) => {
    const path = file(content, "some.log");
    // Since pi 0.80.3; before, it was overwritten with a new header.
    expect(() => SessionManager.open(path)).toThrow(
      `Session file is not a valid pi session: ${path}`,
    );
    const manager = SessionManager.inMemory();
    expect(() => manager.setSessionFile(path)).toThrow(/is not a valid pi session/u);
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  it("a directory says what Node says", () => {
    expect(() => SessionManager.open(temporaryDirectory())).toThrow(
      "EISDIR: illegal operation on a directory, read",
    );
  });

  it("tolerates blank and malformed lines, also before a long header, and a byte-order mark", () => {
    const long = header.replace("}", `,"x":"${"y".repeat(8192)}"}`);
    const path = file(`\uFEFF\n{broken\n${long}\n\n${entry}\nnull\n5\n{broken}\n`);
    const manager = SessionManager.open(path);
    expect(manager.getEntries()).toEqual([JSON.parse(entry)]);
    expect(manager.getEntryCount()).toBe(1);
    expect(manager.getSessionId()).toBe("s");
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

  it("knows its directory, its place and whether it is the default", () => {
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
    const { managers, fs } = inMemoryFiles();
    const manager = managers.create("/work", directory);
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

  it("setSessionFile opens another file, and a failure stays where it was", () => {
    const { managers, fs } = inMemoryFiles();
    const manager = managers.create("/work", directory);
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

  it("continueRecent opens the latest session of the directory, or starts one", () => {
    const sessions = temporaryDirectory();
    const [older, newer] = ["older", "newer"].map((id) => {
      const manager = SessionManager.create("/work", sessions, { id });
      say(manager, id);
      return manager.getSessionFile() ?? "";
    });
    utimesSync(older ?? "", 1, 1);
    expect(SessionManager.continueRecent("/work", sessions).getSessionFile()).toBe(newer);
    const other = SessionManager.continueRecent("/elsewhere", sessions);
    expect([other.getEntryCount(), other.getCwd()]).toEqual([0, "/elsewhere"]);
    expect(SessionManager.findById("/work", "older", sessions)).toBe(older);
  });
});

describe("two managers on one file", () => {
  it("lose nothing of each other, and see it with their next append", () => {
    const { managers } = inMemoryFiles();
    const one = managers.create("/work", directory);
    const first = say(one, "1");
    const two = managers.open(one.getSessionFile() ?? "");
    const [left, right] = [say(one, "left"), say(two, "right")];
    expect(two.getEntries()).toHaveLength(3);
    expect(two.getChildren(first).map(({ id }) => id)).toEqual([left, right]);
    const named = one.appendSessionInfo("name");
    expect(one.getEntry(named)?.parentId).toBe(right);
    expect(one.getLeafId()).toBe(left);
    expect(managers.open(one.getSessionFile() ?? "").getEntryCount()).toBe(4);
  });
});

describe("loadEntriesFromFile", () => {
  it.each([
    ["a missing file", undefined],
    ["an empty file", ""],
    ["a file without a header", `${entry}\n`],
    ["a file of malformed lines", "not json\n"],
  ])("gives nothing for %s", (_what, content) => {
    expect(loadEntriesFromFile(file(content))).toEqual([]);
  });

  it("gives the header and the entries, malformed lines left out", () => {
    expect(loadEntriesFromFile(file(`${header}\n{bad\n${entry}\n`))).toEqual([
      JSON.parse(header),
      JSON.parse(entry),
    ]);
  });

  it("fails for a directory as reading it fails", () => {
    const path = temporaryDirectory();
    mkdirSync(join(path, "x.jsonl"));
    expect(() => loadEntriesFromFile(join(path, "x.jsonl"))).toThrow(/EISDIR/u);
  });
});

describe("usage of what was stored", () => {
  it("survives a reload on results, compactions and summaries", () => {
    const { managers } = inMemoryFiles();
    const manager = managers.create("/work", directory);
    const usage = usageOf(1, 2);
    const first = say(manager, "1");
    const message = { role: "toolResult", toolCallId: "1", toolName: "t" } as const;
    const ids = [
      manager.appendMessage({ ...message, content: [], isError: false, timestamp: 1, usage }),
      manager.appendCompaction("s", first, 1, undefined, undefined, usage),
      manager.branchWithSummary(first, "s", undefined, undefined, usage),
    ];
    const again = managers.open(manager.getSessionFile() ?? "");
    expect(again.getEntry(ids[0] ?? "")).toMatchObject({ message: { usage } });
    for (const id of ids.slice(1)) expect(again.getEntry(id)).toMatchObject({ usage });
  });
});
