/** Sessions made of a branch or of a whole file: entries once, links right, the same context. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SessionManager } from "@branchlog/agents/pi";
import type { SessionEntry } from "@branchlog/agents/pi";
import { temporaryDirectory, temporaryFile } from "../../support/temporary-directory.ts";
import { arbitraryTree } from "../../core/projections/arbitrary-tree.ts";
import { stored, user } from "../../core/projections/sample-entries.ts";
import {
  created,
  answer,
  directory,
  idsOf,
  inMemory,
  inMemoryFiles,
  linesIn,
  onDisk,
  say,
} from "./managers.ts";

const json = (value: unknown): string => JSON.stringify(value);
const header = { type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z" };

function write(...records: readonly unknown[]): string {
  const lines = records.map((record) => (typeof record === "string" ? record : json(record)));
  return temporaryFile(`${lines.join("\n")}\n`, "source.jsonl");
}

describe("createBranchedSession in memory", () => {
  it("keeps the labels of entries on the path, and no others", () => {
    const manager = inMemory();
    const first = say(manager, "1");
    const second = answer(manager, "2");
    manager.appendLabelChange(first, "start");
    manager.appendLabelChange(second, "old");
    manager.appendLabelChange(second, "end");
    manager.branch(first);
    const off = say(manager, "off the path");
    manager.appendLabelChange(off, "off");
    manager.createBranchedSession(second);
    expect([first, second, off].map((id) => manager.getLabel(id))).toEqual([
      "start",
      "end",
      undefined,
    ]);
    const labels = manager.getEntries().filter(({ type }) => type === "label");
    expect(labels).toHaveLength(2);
    expect(labels.map(({ parentId }) => parentId)).toEqual([second, labels[0]?.id]);
    expect(manager.getLeafId()).toBe(labels[1]?.id);
    expect(new Set(idsOf(manager.getEntries())).size).toBe(4);
  });

  it("keeps a name cleared that was cleared on another branch", () => {
    const names = ["old", 5, ""];
    const manager = inMemory(
      names.map((name, at) => stored("session_info", `${at}`, at ? `${at - 1}` : null, { name })),
    );
    manager.createBranchedSession("1");
    expect(manager.getSessionName()).toBeUndefined();
  });
});

describe("createBranchedSession in files", () => {
  it("writes a file at once when the branch has a message", () => {
    const { fs, manager } = created();
    const first = say(manager, "1");
    const source = manager.getSessionFile();
    const path = manager.createBranchedSession(first);
    expect(path).toBe(manager.getSessionFile());
    expect(path).not.toBe(source);
    const [head, ...rest] = linesIn(fs, path);
    expect(JSON.parse(head ?? "")).toMatchObject({ parentSession: source, cwd: "/work" });
    expect(rest).toEqual(linesIn(fs, source).slice(1));
    say(manager, "2");
    expect(linesIn(fs, path)).toHaveLength(3);
    expect(linesIn(fs, source)).toHaveLength(2);
  });

  it("delays the file without one, and then writes one header", () => {
    const { fs, manager } = created();
    const first = manager.appendModelChange("p", "m");
    const path = manager.createBranchedSession(first);
    expect(fs.statSync(path ?? "")).toBeNull();
    manager.appendCustomEntry("state");
    expect(fs.statSync(path ?? "")).toBeNull();
    say(manager, "1");
    answer(manager, "2");
    const lines = linesIn(fs, path).map((line) => JSON.parse(line) as SessionEntry);
    expect(lines.filter(({ type }) => (type as string) === "session")).toHaveLength(1);
    expect(new Set(idsOf(lines)).size).toBe(5);
  });

  it("copies metadata of the header, byte for byte, except its own fields (Verifies: P19)", () => {
    const source = write(
      '{"type":"session","version":3,"id":"s","metadata":{"n":1.50,"u":"\\u00e9"},"timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","branchedFrom":"/old","x":null}',
      user("1", null, "a"),
    );
    const manager = onDisk().open(source);
    const path = manager.createBranchedSession("1") ?? "";
    const [head] = readFileSync(path, "utf8").split("\n");
    expect(head).toBe(
      `{"type":"session","version":3,"id":"${manager.getSessionId()}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","parentSession":${json(source)},"metadata":{"n":1.50,"u":"\\u00e9"},"x":null}`,
    );
    // pi 1.5.2 drops them.
    expect(manager.getHeader()).toMatchObject({ metadata: { n: 1.5, u: "é" }, x: null });
  });

  it("copies bytes: number forms, escapes and unknown fields (Verifies: P19)", () => {
    const odd =
      '{"type":"message","id":"0000000b","parentId":"0000000c","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"\\u0061","timestamp":1.0e0},"extra":{"n":-0}}';
    const source = write(
      { ...header, cwd: "/w" },
      user("0000000a", null, "1"),
      stored("label", "0000000c", "0000000a", { targetId: "0000000a", label: "" }),
      odd,
      '{"type":"leaf","id":"0000000d","parentId":"0000000b","timestamp":"x","targetId":null,"n":1.10}',
    );
    const manager = onDisk().open(source);
    const path = manager.createBranchedSession("0000000d") ?? "";
    const lines = readFileSync(path, "utf8").split("\n");
    expect(lines[2]).toBe(odd.replace('"0000000c"', '"0000000a"'));
    expect(lines[3]).toBe(readFileSync(source, "utf8").split("\n")[4]);
  });
});

describe("the context of a branch extracted as a session", () => {
  const leafOf = (entries: readonly SessionEntry[], choice: number): string =>
    entries[choice % entries.length]?.id ?? "";

  it("is that of the source at the same leaf (Verifies: P22)", () => {
    fc.assert(
      fc.property(arbitraryTree, fc.nat(), (entries, choice) => {
        const leaf = leafOf(entries, choice);
        const source = inMemory(entries);
        source.branch(leaf);
        const wanted = source.buildSessionContext();
        const [labels, name] = [source.getLabel(leaf), source.getSessionName()];
        const path = source.getBranch().filter(({ type }) => type !== "label");
        source.createBranchedSession(leaf);
        expect(json(source.buildSessionContext())).toBe(json(wanted));
        expect(source.getSessionName()).toBe(name);
        if (path.at(-1)?.id === leaf) expect(source.getLabel(leaf)).toBe(labels);
        expect(idsOf(source.getEntries().slice(0, path.length))).toEqual(idsOf(path));
        expect(new Set(idsOf(source.getEntries())).size).toBe(source.getEntryCount());
        expect(source.getDiagnostics().map(({ kind }) => kind)).not.toContain("missing-parent");
      }),
      { numRuns: 300 },
    );
  });

  it("is the same through a file, for any leaf (Verifies: P22)", () => {
    fc.assert(
      fc.property(arbitraryTree, fc.nat(), (entries, choice) => {
        const { managers, fs } = inMemoryFiles();
        const lines = [{ ...header, cwd: "/w" }, ...entries].map((record) => `${json(record)}\n`);
        fs.makeDirectorySync(directory);
        fs.writeFileSync(`${directory}/a.jsonl`, Buffer.from(lines.join("")));
        const manager = managers.open(`${directory}/a.jsonl`);
        manager.branch(leafOf(entries, choice));
        const wanted = json(manager.buildSessionContext());
        const path = manager.createBranchedSession(manager.getLeafId() ?? "") ?? "";
        expect(json(manager.buildSessionContext())).toBe(wanted);
        if (fs.statSync(path) === null) return;
        expect(json(managers.open(path).buildSessionContext())).toBe(wanted);
      }),
      { numRuns: 100 },
    );
  });

  it("starts at the entry where a path ends early or cycles", () => {
    const broken = inMemory([user("1", "gone", "a"), user("2", "1", "b")]);
    broken.createBranchedSession("2");
    expect(broken.getBranch().map(({ parentId }) => parentId)).toEqual([null, "1"]);
    const cyclic = inMemory([user("1", "2", "a"), user("2", "1", "b"), user("3", "2", "c")]);
    cyclic.branch("3");
    const wanted = json(cyclic.buildSessionContext());
    cyclic.createBranchedSession("3");
    expect(json(cyclic.buildSessionContext())).toBe(wanted);
    expect(cyclic.getDiagnostics()).toEqual([]);
  });
});

describe("forkFrom", () => {
  it("copies every entry of every branch, names its source, and does not change it", () => {
    const directories = [temporaryDirectory(), temporaryDirectory()];
    const managers = onDisk();
    const source = managers.create("/work", directories[0]);
    const first = say(source, "1");
    answer(source, "2");
    source.branch(first);
    source.appendSessionInfo("name");
    source.appendLabelChange(first, "mark");
    const path = source.getSessionFile() ?? "";
    const before = readFileSync(path, "utf8");
    const fork = managers.forkFrom(path, "/other", directories[1], { id: "my-id" });
    const [head, ...lines] = readFileSync(fork.getSessionFile() ?? "", "utf8").split("\n");
    expect(JSON.parse(head ?? "")).toEqual({
      type: "session",
      version: 3,
      id: "my-id",
      timestamp: "2026-01-01T00:00:00.000Z",
      cwd: "/other",
      parentSession: path,
    });
    expect(lines).toEqual(before.split("\n").slice(1));
    expect(readFileSync(path, "utf8")).toBe(before);
    expect([fork.getCwd(), fork.getSessionDir(), fork.getSessionId()]).toEqual([
      "/other",
      directories[1],
      "my-id",
    ]);
    expect([fork.getSessionName(), fork.getLabel(first), fork.getLeafId()]).toEqual([
      "name",
      "mark",
      source.getLeafId(),
    ]);
    expect(fork.getSessionFile()).toBe(
      join(directories[1] ?? "", "2026-01-01T00-00-00-000Z_my-id.jsonl"),
    );
  });

  it("keeps records that are not entries, and omits debris (Verifies: P19, P10)", () => {
    const note = '{"type":"note","about":1.50}';
    const entry = json(user("0000000a", null, "1"));
    const source = write({ ...header, cwd: "/w" }, note, "{torn", "", entry, "5", {
      ...header,
      id: "second",
    });
    const fork = SessionManager.forkFrom(source, "/other", temporaryDirectory());
    const [, ...lines] = readFileSync(fork.getSessionFile() ?? "", "utf8").split("\n");
    expect(lines).toEqual([note, entry, ""]);
  });

  it("attaches the children of a damaged entry to the entry before it (Verifies: P10)", () => {
    const good = [user("0000000a", null, "1"), user("0000000c", "0000000b", "3")];
    const torn = json(user("0000000b", "0000000a", "2")).replace('"2"', '"2');
    const source = write({ ...header, cwd: "/w" }, good[0], torn, good[1]);
    const wanted = json(SessionManager.open(source).buildSessionContext());
    const fork = SessionManager.forkFrom(source, "/other", temporaryDirectory());
    expect(json(fork.buildSessionContext())).toBe(wanted);
    expect(fork.getBranch()).toEqual([good[0], { ...good[1], parentId: "0000000a" }]);
    expect(fork.getDiagnostics()).toEqual([]);
  });

  it.each([
    ["a missing file", undefined],
    ["an empty file", ""],
    ["a file without a header", json(user("1", null, "a"))],
  ])("rejects %s with pi's message, and creates nothing", (_what, content) => {
    const directoryOfForks = join(temporaryDirectory(), "forks");
    const source = join(temporaryDirectory(), "source.jsonl");
    if (content !== undefined) writeFileSync(source, content);
    expect(() => SessionManager.forkFrom(source, "/other", directoryOfForks)).toThrow(
      `Cannot fork: source session file is empty or invalid: ${source}`,
    );
  });

  it("rejects an id that is not a file name, and an existing name", () => {
    const source = write({ ...header, cwd: "/w" }, user("1", null, "a"));
    const target = temporaryDirectory();
    const managers = onDisk();
    expect(() => managers.forkFrom(source, "/o", target, { id: "../x" })).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_SESSION_ID" }),
    );
    managers.forkFrom(source, "/o", target, { id: "x" });
    expect(() => managers.forkFrom(source, "/o", target, { id: "x" })).toThrow(
      expect.objectContaining({ code: "ERR_LOG_EXISTS" }),
    );
  });

  it("gives the context of the source at every leaf (Verifies: P22)", () => {
    fc.assert(
      fc.property(arbitraryTree, (entries) => {
        const { managers, fs } = inMemoryFiles();
        const lines = [{ ...header, cwd: "/w" }, ...entries].map((record) => `${json(record)}\n`);
        fs.makeDirectorySync(directory);
        fs.writeFileSync(`${directory}/a.jsonl`, Buffer.from(lines.join("")));
        const source = managers.open(`${directory}/a.jsonl`);
        const fork = managers.forkFrom(`${directory}/a.jsonl`, "/o", "/forks");
        expect(linesIn(fs, fork.getSessionFile()).slice(1)).toEqual(
          linesIn(fs, source.getSessionFile()).slice(1),
        );
        for (const { id } of entries) {
          source.branch(id);
          fork.branch(id);
          expect(json(fork.buildSessionContext())).toBe(json(source.buildSessionContext()));
        }
      }),
      { numRuns: 50 },
    );
  });
});
