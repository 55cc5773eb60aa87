/**
 * An entry longer than a string can be is among others: whatever walks over many entries passes
 * it by and reports it, in bounded memory. BRANCHLOG_HUGE_FILES=1 adds real files of that size.
 */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import { openSession } from "@branchlog/core";
import type { OpenOptions, Session } from "@branchlog/core";
import type { Ports } from "@branchlog/core/types";
import { createMemoryPorts, sampleHeader } from "@branchlog/core/testing";
import { managersWith } from "@branchlog/agents/testing";
import { verifySession } from "@branchlog/tools";
import { bodyBytesMax } from "@branchlog/core/files";
import { idsOf } from "../support/collected.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { FileSystemWithHole } from "./file-with-hole.ts";

const hugeFiles = process.env["BRANCHLOG_HUGE_FILES"] === "1";
const mebibyte = 1024 * 1024;

const path = "/s.jsonl";
const timestamp = "2026-01-01T00:00:00.000Z";
const header = sampleHeader({ timestamp });
const links = (id: string, parentId: string | null): object => ({ id, parentId, timestamp });
const said = (id: string, parentId: string | null, content: string): object => ({
  type: "message",
  ...links(id, parentId),
  message: { role: "user", content, timestamp: 1 },
});
const first = said("first", null, "one");
const last = said("last", "huge", "two");
/** Entries that go on with an `@` where the huge text is. */
const message = said("huge", "first", "@");
const summary = { summary: "@", firstKeptEntryId: "first", tokensBefore: 1 };
const compaction = { type: "compaction", ...links("huge", "first"), ...summary };

/** The lines of records, up to their `@` and after it. */
function halves(records: readonly object[]): readonly [before: string, behind: string] {
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join("");
  const at = text.indexOf("@");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

interface World {
  readonly fs: FileSystemWithHole;
  readonly ports: Ports;
}

function worldOf(records: readonly object[], bytes: number = bodyBytesMax): World {
  const [before, behind] = halves(records);
  const fs = new FileSystemWithHole();
  fs.writeFileSync(path, Buffer.from(before + behind));
  fs.makeHole(Buffer.byteLength(before), bytes);
  return { fs, ports: createMemoryPorts({ fs }) };
}

/** Closed at the end of its test: the log of one that is open may be read in the background. */
async function opened(options: OpenOptions): Promise<Session> {
  const session = await openSession(path, options);
  onTestFinished(() => session.close());
  return session;
}

describe("an entry longer than a string can be", () => {
  it("is skipped, with a report, by reads of all entries (Verifies: P10, P16)", async () => {
    const { fs, ports } = worldOf([header, first, message, last]);
    const before = decodeCounter.parses;
    const session = await opened({ ports, bodyCacheBytesMax: 0 });
    expect([session.revision, session.leaf]).toEqual([3, "last"]);
    expect(await idsOf(session.entries())).toEqual(["first", "last"]);
    expect((await session.branch()).map(({ id }) => id)).toEqual(["first", "last"]);
    expect((await session.context()).messages).toHaveLength(2);
    expect((await session.usage).total.requests).toBe(0);
    expect(await session.summary).toMatchObject({ messageCount: 2, firstMessage: "one" });
    expect(session.settings.model).toBeNull();
    expect(session.tree().node("huge")).toMatchObject({ role: "user", parentId: "first" });
    expect(session.diagnostics).toMatchObject([{ kind: "malformed-body", id: "huge", line: 3 }]);
    expect(decodeCounter.parses - before).toBeLessThan(20);
    await expect(session.entry("huge")).rejects.toMatchObject({ code: "ERR_ENTRY_TOO_LARGE" });
    expect(await session.pick("huge", ["message", "role"])).toBe("user");
    const { id, parentId } = await session.append({ type: "custom", customType: "behind" });
    expect([parentId, session.leaf]).toEqual(["last", id]);
    expect(fs.longestRead).toBeLessThanOrEqual(mebibyte);
  });

  // Without a checkpoint, which would be written after the test: it reads all of the hole.
  it("is omitted by the pi drop-in, which returns all others (Verifies: P10)", () => {
    const { fs, ports } = worldOf([header, first, message, last]);
    const manager = managersWith({ ports, checkpoint: "off" }).open(path);
    const answers = [manager.getEntries(), manager.getBranch(), manager.buildContextEntries()];
    for (const entries of answers) expect(entries).toMatchObject([first, last]);
    expect(manager.getChildren("first")).toEqual([]);
    expect(manager.getTree()).toMatchObject([{ entry: first, children: [{ entry: last }] }]);
    expect(fs.longestRead).toBeLessThanOrEqual(mebibyte);
  });

  it("appended by another program leaves the pi drop-in a context (Verifies: P10, P16)", () => {
    const { fs, ports } = worldOf([header, first], 0);
    const manager = managersWith({ ports, checkpoint: "off" }).open(path);
    expect(manager.buildSessionContext().messages).toHaveLength(1);
    const [before, behind] = halves([message, last]);
    const stored = fs.readFileSync(path).toString();
    fs.makeHole(Buffer.byteLength(stored + before), bodyBytesMax);
    fs.writeFileSync(path, Buffer.from(stored + before + behind));
    manager.appendSessionInfo("seen");
    manager.branch("last");
    expect(manager.buildSessionContext().messages).toHaveLength(2);
    manager.appendMessage({ role: "user", content: "three", timestamp: 1 });
    expect(manager.buildSessionContext().messages).toHaveLength(3);
    expect(manager.buildSessionProjection().messages).toHaveLength(3);
    expect(() => manager.getEntry("huge")).toThrow(
      expect.objectContaining({ code: "ERR_ENTRY_TOO_LARGE" }),
    );
    expect(fs.longestRead).toBeLessThanOrEqual(mebibyte);
  });
});

/** Of these sizes: longer than what is joined while indexing, and longer than a string can be. */
const sizes: readonly (readonly [bytes: number, options: OpenOptions])[] = [
  [17 * mebibyte, { lineBytesMax: mebibyte }],
  ...(hugeFiles ? ([[bodyBytesMax, {}]] as const) : []),
];

describe.each(sizes)("an entry of %i bytes", (bytes, options) => {
  const isBuildable = bytes < bodyBytesMax;

  it.each([
    ["a message", message],
    ["a compaction", compaction],
  ])("that is %s is indexed and verified without being built", async (_, huge) => {
    for (const records of [
      [header, first, huge],
      [header, first, huge, last],
    ]) {
      const { fs, ports } = worldOf(records, bytes);
      const before = decodeCounter.parses;
      const session = await opened({ ...options, ports });
      expect(session.leaf).toBe(records.at(-1) === last ? "last" : "huge");
      const report = await verifySession(session);
      expect(report).toMatchObject({ ok: true, records: records.length, pending: null });
      expect(decodeCounter.parses - before).toBeLessThan(20);
      expect(fs.longestRead).toBeLessThanOrEqual(mebibyte);
      const wanted = ["first", "huge", "last"].slice(0, records.length - 1);
      expect(await idsOf(session.entries())).toEqual(
        wanted.filter((id) => isBuildable || id !== "huge"),
      );
    }
  });

  it("that is the last summary hides only its kept entries when it cannot be built", async () => {
    const { ports } = worldOf([header, first, compaction, last], bytes);
    const session = await opened({ ...options, ports });
    const { messages } = await session.context();
    const roles = messages.map(({ role }) => role);
    expect(roles).toEqual(isBuildable ? ["compactionSummary", "user", "user"] : ["user"]);
  });
});

const script = fileURLToPath(new URL("../support/huge-entry-process.mjs", import.meta.url));
const cli = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));

/** A real file with a real entry of so many mebibytes, written in pieces. */
function fileOf(records: readonly object[], mebibytes: number): string {
  const file = join(temporaryDirectory(), "s.jsonl");
  const [before, behind] = halves(records);
  const fd = openSync(file, "w");
  writeSync(fd, before);
  for (let i = 0; i < mebibytes; i += 1) writeSync(fd, Buffer.alloc(mebibyte, "x"));
  writeSync(fd, behind);
  closeSync(fd);
  return file;
}

function run(...args: readonly string[]): string {
  return execFileSync(process.execPath, ["--max-old-space-size=64", ...args]).toString();
}

describe("a process with a heap of 64 MB", () => {
  it.runIf(hugeFiles).each([
    ["first", [header, first, message]],
    ["first last", [header, first, message, last]],
  ])(
    "reads past one of 513 MiB and finds %s (Verifies: P10, P16)",
    (found, records) => {
      const file = fileOf(records, 513);
      const ids = found.split(" ");
      // Decoding boundary: what our own script has just printed.
      const facts = JSON.parse(run(script, file)) as { readonly maxRssKb: number };
      const counts = { messages: ids.length, count: ids.length, pi: ids.length };
      expect(facts).toMatchObject({ ids, ...counts, verified: { ok: true } });
      expect(facts).toMatchObject({ reported: ["malformed-body huge"] });
      expect(facts.maxRssKb).toBeLessThan(260_000);
      expect(run(cli, "info", file, "--json")).toContain(`"entries":${records.length - 1}`);
      expect(run(cli, "verify", file)).toContain("no damage");
      expect(run(cli, "entries", file)).toContain("one");
      expect(run(cli, "context", file)).toContain("one");
    },
    180_000,
  );

  it("reads past one of 24 MiB without building it (Verifies: P16)", () => {
    const file = fileOf([header, first, message, last], 24);
    // Decoding boundary: what our own script has just printed.
    const facts = JSON.parse(run(script, file, String(mebibyte))) as { readonly maxRssKb: number };
    expect(facts).toMatchObject({ ids: ["first", "huge", "last"], messages: 3, pi: 3 });
    expect(facts).toMatchObject({ leaf: "last", verified: { ok: true }, reported: [] });
    expect(facts.maxRssKb).toBeLessThan(300_000);
    expect(run(cli, "verify", file)).toContain("no damage");
  });
});
