/** Imports that meet what is not there, not whole, or not what it should be. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BranchlogError, openSession } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { importSession } from "@branchlog/tools";
import { sampled } from "../../support/sampled.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, importedLines, skippedCount, sourceOf } from "./imported.ts";

async function codeOf(action: Promise<unknown>): Promise<string> {
  try {
    await action;
    return "none";
  } catch (error) {
    return error instanceof BranchlogError ? error.code : String(error);
  }
}

const hi = {
  uuid: "a",
  parentUuid: null,
  sessionId: "s",
  type: "user",
  message: { role: "user", content: "Hi" },
};

it.each(["claude/damaged", "codex/damaged", "codex/rollback"])(
  "a source truncated %s at any byte is imported up to its complete records",
  async (name) => {
    const bytes = readFileSync(fixturePath(`${name}.jsonl`));
    const directory = temporaryDirectory();
    const source = join(directory, "source.jsonl");
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs });
    writeFileSync(source, "");
    let before = 0;
    for (const length of sampled(0, bytes.length + 1, 120)) {
      appendFileSync(source, bytes.subarray(before, length));
      before = length;
      const target = `/${length}.jsonl`;
      const wanted = firstRecordEnd(bytes) <= length ? "none" : refusal(length);
      const imported = importSession(source, target, { ports });
      expect([length, await codeOf(imported)]).toEqual([length, wanted]);
      if (wanted !== "none") {
        expect(fs.statSync(target)).toBeNull();
        continue;
      }
      const report = await imported;
      expect(report.imported + skippedCount(report)).toBe(report.lines);
      if (length % 4 === 0) {
        const session = await openSession(target, { access: "read", ports });
        expect([length, session.diagnostics]).toEqual([length, []]);
      }
      fs.unlinkSync(target);
    }
    expect(fs.listSync("/")).toEqual([]);
  },
);

/** Where the first complete record ends, its newline not counted. */
function firstRecordEnd(bytes: Buffer): number {
  const from = bytes.indexOf("{");
  const newline = bytes.indexOf("\n", from);
  return bytes.lastIndexOf("}", newline) + 1;
}

function refusal(length: number): string {
  return length === 0 ? "ERR_LOG_EMPTY" : "ERR_NOT_A_SESSION";
}

describe("an import", () => {
  it("rejects a source that is missing, a directory, empty, or of no known agent", async () => {
    const directory = temporaryDirectory();
    const target = join(directory, "new.jsonl");
    const at = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    const into = (source: string): Promise<string> => codeOf(importSession(source, target));
    expect(await into(join(directory, "nothing"))).toBe("ERR_LOG_MISSING");
    expect(await into(directory)).toBe("ERR_LOG_UNREADABLE");
    expect(await into(at("empty", ""))).toBe("ERR_LOG_EMPTY");
    expect(await into(at("text", "hello\n"))).toBe("ERR_NOT_A_SESSION");
    expect(await into(fixturePath("pi-linear.jsonl"))).toBe("ERR_NOT_A_SESSION");
    expect(readdirSync(directory).toSorted()).toEqual(["empty", "text"]);
  });

  it("rejects a source of an agent other than the named one", async () => {
    const target = join(temporaryDirectory(), "new.jsonl");
    const source = fixturePath("codex/rollback.jsonl");
    expect(await codeOf(importSession(source, target, { from: "claude" }))).toBe(
      "ERR_NOT_A_SESSION",
    );
    expect(await codeOf(importSession(source, target, { from: "codex" }))).toBe("none");
  });

  it("does not change an existing file", async () => {
    const directory = temporaryDirectory();
    const target = join(directory, "there.jsonl");
    writeFileSync(target, "mine");
    expect(await codeOf(importSession(sourceOf([hi]), target))).toBe("ERR_LOG_EXISTS");
    expect(readFileSync(target, "utf8")).toBe("mine");
    expect(readdirSync(directory)).toEqual(["there.jsonl"]);
  });

  it("leaves nothing when it is aborted", async () => {
    const directory = temporaryDirectory();
    const many = Array.from({ length: 20_000 }, (_, i) => ({ ...hi, uuid: `u${i}` }));
    const source = sourceOf(many);
    const ending = new AbortController();
    const done = importSession(source, join(directory, "new.jsonl"), { signal: ending.signal });
    setImmediate(() => ending.abort(new Error("enough")));
    await expect(done).rejects.toThrow("enough");
    expect(readdirSync(directory)).toEqual([]);
  });

  it("leaves nothing behind when the disk is full", async () => {
    const fs = new MemoryFileSystem();
    fs.makeDirectorySync("/d");
    fs.onCall = ({ name }) => {
      if (name === "writeSync") throw Object.assign(new Error("full"), { code: "ENOSPC" });
      return undefined;
    };
    const done = importSession(sourceOf([hi]), "/d/new.jsonl", {
      ports: createMemoryPorts({ fs }),
    });
    expect(await codeOf(done)).toBe("ERR_CREATE_FAILED");
    fs.onCall = undefined;
    expect(fs.listSync("/d")).toEqual([]);
  });

  it("creates missing directories", async () => {
    const directory = temporaryDirectory();
    const target = join(directory, "a", "b", "new.jsonl");
    await importSession(sourceOf([hi]), target);
    mkdirSync(join(directory, "a", "c"));
    expect((await openSession(target)).revision).toBe(1);
  });

  it.each([
    { uuid: 1, parentUuid: {}, type: "user", message: "no object", sessionId: "s" },
    { uuid: "b", parentUuid: "b", type: "user", message: { content: [null, 1, "x", {}] } },
    { uuid: "b", parentUuid: "a", type: "assistant", message: { content: [{ type: "tool_use" }] } },
    { uuid: "b", parentUuid: "a", type: "assistant", message: { content: { a: 1 }, usage: [] } },
    { uuid: "b", parentUuid: "a", type: "assistant", message: { content: 7 } },
    { uuid: "b", parentUuid: "a", type: "system", subtype: "compact_boundary", isSidechain: true },
    { uuid: "b", parentUuid: "a", type: "user", isCompactSummary: true },
    { uuid: "b", parentUuid: "a", type: "attachment" },
    { type: "summary" },
    { type: "custom-title", customTitle: 5 },
    { type: 5 },
    { __proto__: null, type: "__proto__", uuid: "__proto__", parentUuid: "constructor" },
  ])("handles %j", async (record) => {
    const last = { ...hi, uuid: "z", parentUuid: "a" };
    const { report, session } = await importedLines([hi, record, last]);
    expect(report.imported + skippedCount(report)).toBe(3);
    expect(session.diagnostics).toEqual([]);
  });

  it.each([
    { type: "response_item", payload: { type: "message", role: "user", content: [null, 7] } },
    { type: "response_item", payload: { type: "message", role: 5, content: "text" } },
    { type: "response_item", payload: { type: "function_call" } },
    { type: "response_item", payload: { type: "function_call_output", call_id: "x", output: 5 } },
    { type: "response_item", payload: { type: "reasoning" } },
    { type: "response_item", payload: {} },
    { type: "event_msg", payload: { type: "thread_rolled_back", num_turns: -3 } },
    { type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 1.5 } },
    { type: "event_msg", payload: { type: "token_count", info: [] } },
    { type: "event_msg", payload: { type: 5 } },
    { type: "compacted", payload: {} },
    { type: "turn_context", payload: { model: 5 } },
    { type: "session_meta", payload: { id: 5 } },
  ])("handles %j", async (record) => {
    const meta = { type: "session_meta", payload: { id: "s" } };
    const { report, session } = await importedLines([meta, record]);
    expect(report.imported + skippedCount(report)).toBe(2);
    expect(session.diagnostics).toEqual([]);
  });
});

describe("a source that is rewritten while it is imported", () => {
  const said = (text: string): object => ({ ...hi, message: { role: "user", content: text } });

  it.each([
    ["other words of the same length", said("Ho")],
    ["fewer", { ...said(""), uuid: "" }],
  ])("creates no log: %s", async (_, rewritten) => {
    const source = sourceOf([hi]);
    const fs = new MemoryFileSystem();
    fs.makeDirectorySync("/d");
    fs.onCall = ({ name }) => {
      if (name === "writeSync") writeFileSync(source, `${JSON.stringify(rewritten)}\n`);
      return undefined;
    };
    const imported = importSession(source, "/d/t.jsonl", { ports: createMemoryPorts({ fs }) });
    expect(await codeOf(imported)).toBe("ERR_LOG_CHANGED");
    fs.onCall = undefined;
    expect(fs.listSync("/d")).toEqual([]);
  });
});
