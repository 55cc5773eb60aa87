/** What is found in a log as it grows and is replaced: each finding once, and in one list. */
import { describe, expect, it } from "vitest";
import { MemoryFileSystem, jsonLines, sampleHeader, userEntry } from "@branchlog/core/testing";
import { runSync } from "@branchlog/streaming";
import type { Diagnostic } from "@branchlog/core";
import { Findings } from "../../../packages/core/src/log/findings.ts";
import { TrackedLog } from "../../../packages/core/src/log/tracked-log.ts";
import { diagnosticsMax } from "../../../packages/core/src/limits.ts";
import { LogFile } from "../../../packages/core/src/platform/log-file.ts";

const path = "/s.jsonl";
const options = { lineBytesMax: 1000, bodyCacheBytesMax: 0 };

/** A log, and what is found in it. */
class Found {
  readonly #fs = new MemoryFileSystem();
  readonly #log: TrackedLog;
  readonly findings: Findings;
  noted = 0;

  constructor(...entries: readonly object[]) {
    this.#fs.writeFileSync(path, Buffer.from(jsonLines(sampleHeader(), ...entries)));
    this.#log = new TrackedLog(new LogFile(this.#fs, path), options);
    runSync(this.#log.open());
    this.findings = new Findings(this.#log, () => (this.noted += 1));
  }

  append(text: string): void {
    const fd = this.#fs.openSync(path, "append");
    this.#fs.writeSync(fd, Buffer.from(text), 0, Buffer.byteLength(text));
    this.#fs.closeSync(fd);
    this.#catchUp();
  }

  replace(...entries: readonly object[]): void {
    const text = jsonLines(sampleHeader({ id: "another" }), ...entries);
    this.#fs.writeFileSync("/new", Buffer.from(text));
    this.#fs.renameSync("/new", path);
    this.#catchUp();
  }

  get all(): readonly Diagnostic[] {
    return this.findings.all();
  }

  /** Kind and id of each. */
  get list(): readonly (readonly [string, string | undefined])[] {
    return this.all.map(({ kind, id }) => [kind, id]);
  }

  #catchUp(): void {
    runSync(this.#log.catchUp());
  }
}

const custom = (type: string, id: string): object => ({ type, id, parentId: null, timestamp: "" });

describe("the findings of a log", () => {
  it("are none in a whole one, and the same list until there are others", () => {
    const found = new Found(userEntry("a", null, "x"));
    const before = found.all;
    expect(before).toEqual([]);
    found.append(jsonLines(userEntry("b", "a", "x")));
    expect(found.all).toBe(before);
    found.append("{torn\n");
    const after = found.all;
    expect(after.map(({ kind }) => kind)).toEqual(["bad-line"]);
    expect(found.all).toBe(after);
  });

  it("name entries whose parent is missing, until it comes", () => {
    const found = new Found(userEntry("b", "a", "x"));
    expect(found.all).toEqual([
      expect.objectContaining({ kind: "missing-parent", id: "b", line: 2 }),
    ]);
    expect(found.all[0]?.reason).toContain("a");
    found.append(jsonLines(userEntry("d", "c", "x")));
    expect(found.list).toEqual([
      ["missing-parent", "b"],
      ["missing-parent", "d"],
    ]);
    found.append(jsonLines(userEntry("a", null, "x")));
    expect(found.list).toEqual([["missing-parent", "d"]]);
  });

  it("name the first entry of a cycle, with its place", () => {
    const found = new Found(userEntry("a", "b", "x"), userEntry("b", "a", "x"));
    expect(found.all).toEqual([expect.objectContaining({ kind: "cycle", id: "a", line: 2 })]);
  });

  it("list unknown types behind the others, as they come", () => {
    const found = new Found(custom("mesage", "a"));
    expect(found.list).toEqual([["unknown-type", "a"]]);
    found.append(jsonLines(userEntry("b", "z", "x"), custom("mesage", "c")));
    expect(found.list).toEqual([
      ["missing-parent", "b"],
      ["unknown-type", "a"],
    ]);
    const before = found.all.at(-1);
    found.append(jsonLines(custom("mesage", "d")));
    expect(found.all.at(-1)).not.toEqual(before);
    found.append(jsonLines(custom("labell", "e")));
    expect(found.list.slice(1)).toEqual([
      ["unknown-type", "a"],
      ["unknown-type", "e"],
    ]);
  });

  it("hold a body that a context could not use once, with its place if it is there", () => {
    const found = new Found(userEntry("a", null, "x"), userEntry("b", "a", "x"));
    found.findings.addMalformed({ entryId: "a", reason: "no-message" });
    found.findings.addMalformed({ entryId: "a", reason: "no-replacement" });
    found.findings.addMalformed({ entryId: "gone", reason: "no-replacement" });
    expect(found.noted).toBe(2);
    expect(found.all).toEqual([
      expect.objectContaining({ kind: "malformed-body", id: "a", reason: "no-message", line: 2 }),
      { kind: "malformed-body", id: "gone", reason: "no-replacement" },
    ]);
  });

  it("are bounded for bodies, missing parents and cycles each", () => {
    const count = diagnosticsMax + 1;
    const orphans = Array.from({ length: count }, (_, n) => userEntry(`o${n}`, `p${n}`, "x"));
    const cycles = Array.from({ length: count }, (_, n) => [
      userEntry(`c${n}`, `d${n}`, "x"),
      userEntry(`d${n}`, `c${n}`, "x"),
    ]).flat();
    const found = new Found(...orphans, ...cycles);
    for (let n = 0; n < count; n += 1) {
      found.findings.addMalformed({ entryId: `o${n}`, reason: "no-message" });
    }
    expect(found.noted).toBe(diagnosticsMax);
    const kinds = found.all.map(({ kind }) => kind);
    for (const kind of ["malformed-body", "missing-parent", "cycle"]) {
      expect(kinds.filter((one) => one === kind)).toHaveLength(diagnosticsMax);
    }
  });

  it("are forgotten with the log that they were found in", () => {
    const found = new Found(custom("mesage", "a"), userEntry("b", "z", "x"));
    found.findings.addMalformed({ entryId: "b", reason: "no-message" });
    expect(found.all).toHaveLength(3);
    found.replace(custom("labell", "c"), userEntry("b", null, "x"));
    expect(found.list).toEqual([["unknown-type", "c"]]);
    found.findings.addMalformed({ entryId: "b", reason: "no-message" });
    expect(found.noted).toBe(2);
    found.replace(userEntry("b", null, "x"));
    found.findings.addMalformed({ entryId: "b", reason: "no-message" });
    expect(found.list).toEqual([["malformed-body", "b"]]);
  });
});
