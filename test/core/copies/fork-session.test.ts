/** Forks: one branch as a separate session, with the context that it had. */
import { readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forkSession, openSession } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts, encodeTitleSlot } from "@branchlog/core/testing";
import { fixtureFile } from "../../support/fixture.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { arbitraryOmpTree } from "../projections/arbitrary-omp-tree.ts";
import { arbitraryTree } from "../projections/arbitrary-tree.ts";
import { stored, user } from "../projections/sample-entries.ts";
import { fileOf, header, linesOf, messagesAt, recordsIn, textLines } from "./session-files.ts";

describe("a fork", () => {
  it("has the path to an entry once, byte for byte, and names its source (Verifies: P19, P22)", async () => {
    const odd =
      '{"type":"message","id":"2","parentId":"1","timestamp":"t", "message":{"role":"user","n":1.0e2}}';
    const source = fileOf({ ...header, note: 1 }, user("1", null, "a"), odd, user("3", "1", "b"));
    const before = readFileSync(source);
    const { path, id, at, entries } = await forkSession(source, { at: "2" });
    expect([at, entries, dirname(path)]).toEqual(["2", 2, dirname(source)]);
    const [head, ...lines] = textLines(path);
    expect(JSON.parse(head ?? "")).toMatchObject({
      version: 3,
      id,
      cwd: "/work",
      parentSession: source,
      note: 1,
    });
    expect(lines).toEqual([JSON.stringify(user("1", null, "a")), odd]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(source).equals(before)).toBe(true);
  });

  it("copies the current labels and name", async () => {
    const source = fileOf(
      header,
      user("1", null, "a"),
      stored("label", "2", "1", { targetId: "1", label: "start" }),
      user("3", "2", "b"),
      stored("session_info", "4", "1", { name: "The name" }),
    );
    const { path } = await forkSession(source, {
      at: "3",
      target: join(dirname(source), "f.jsonl"),
    });
    const fork = await openSession(path);
    expect([fork.name, fork.labels.get("1")?.label]).toEqual(["The name", "start"]);
    expect(recordsIn(path)).toMatchObject([
      {},
      { id: "1" },
      { id: "3", parentId: "1" },
      { type: "session_info", parentId: "3" },
      { type: "label", targetId: "1" },
    ]);
  });

  it("ends at the last entry by default; of an empty session it is a header", async () => {
    const whole = await forkSession(fileOf(header, user("1", null, "a"), user("2", "1", "b")));
    expect([whole.at, whole.entries]).toEqual(["2", 2]);
    const empty = await forkSession(fileOf(header));
    expect([empty.at, empty.entries, textLines(empty.path).length]).toEqual([null, 0, 1]);
  });

  it.each(["pi-v1", "pi-v2", "pi-branches", "pi-cycles"])(
    "has the context of %s, whatever its version",
    async (name) => {
      const target = join(temporaryDirectory(), "fork.jsonl");
      await forkSession(fixtureFile(name), { target });
      expect(await messagesAt(target)).toBe(await messagesAt(fixtureFile(name)));
      expect(recordsIn(target)[0]).toMatchObject({ version: 3 });
    },
  );

  it.each([
    ["pi", arbitraryTree],
    ["omp", arbitraryOmpTree],
  ])("has the context of the source at every entry, of %s (Verifies: P22)", async (_, tree) => {
    await fc.assert(
      fc.asyncProperty(tree, fc.nat(), async (entries, choice) => {
        const fs = new MemoryFileSystem();
        const ports = createMemoryPorts({ fs });
        fs.writeFileSync("/s.jsonl", Buffer.from(linesOf([header, ...entries])));
        const at = entries[choice % entries.length]?.id ?? "";
        const source = await openSession("/s.jsonl", { ports });
        const result = await forkSession("/s.jsonl", { at, target: "/f.jsonl", ports });
        const fork = await openSession("/f.jsonl", { ports });
        const context = await fork.context();
        expect(JSON.stringify(context)).toBe(JSON.stringify(await source.context({ at })));
        expect(fork.name).toBe(source.name);
        expect(fork.revision).toBeGreaterThanOrEqual(result.entries);
        expect(fork.diagnostics.filter(({ kind }) => kind === "missing-parent")).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ["a label", "3", { firstKeptEntryId: "", providerReplayThroughEntryId: "2" }],
    ["the second of two labels", "4", { firstKeptEntryId: "", providerReplayThroughEntryId: "2" }],
    ["a label above all", "1", { firstKeptEntryId: "2", providerReplayThroughEntryId: "1" }],
    ["the last label", "6", { firstKeptEntryId: "", providerReplayThroughEntryId: "5" }],
    ["a label below", "9", { firstKeptEntryId: "", providerReplayThroughEntryId: "8" }],
  ])("keeps the entries after the replayed ones, up to %s that it omits", async (_, id, links) => {
    const label = (own: string, parentId: string | null): object =>
      stored("label", own, parentId, { targetId: "2", label: `l${own}` });
    const replayed = { firstKeptEntryId: "", providerReplayThroughEntryId: id };
    const long = { summary: "s", tokensBefore: 1, preserveData: { replay: "x".repeat(2000) } };
    const source = fileOf(
      header,
      label("1", null),
      user("2", "1", "a"),
      label("3", "2"),
      label("4", "3"),
      user("5", "4", "b"),
      label("6", "5"),
      stored("compaction", "7", "6", { ...long, ...replayed }),
      user("8", "7", "c"),
      label("9", "8"),
    );
    for (const lineBytesMax of [1000, 100_000]) {
      const target = join(temporaryDirectory(), "f.jsonl");
      const { path } = await forkSession(source, { target, lineBytesMax });
      expect(recordsIn(path)[3]).toMatchObject({ type: "compaction", ...links });
      expect(await messagesAt(path)).toBe(await messagesAt(source));
    }
  });

  it("ends before a damaged entry, like the context there", async () => {
    const torn = JSON.stringify(user("2", "1", "b")).replace('"b"', "torn");
    const source = fileOf(header, user("1", null, "a"), torn, user("3", "2", "c"));
    const { path, at, entries } = await forkSession(source, { at: "2" });
    expect([at, entries]).toEqual(["1", 1]);
    expect(await messagesAt(path)).toBe(await messagesAt(source, "2"));
  });

  it("copies lines of any length, in pieces when they are unchanged", async () => {
    const long = JSON.stringify(user("2", "1", "x".repeat(3_000_000)));
    const source = fileOf(header, user("1", null, "a"), long, user("3", "2", "b"));
    const { path } = await forkSession(source, { lineBytesMax: 1_000_000 });
    expect(textLines(path)[2]).toBe(long);
    const label = stored("label", "2", "1", { targetId: "1", label: "l" });
    const relinked = JSON.stringify(user("3", "2", "y".repeat(3_000_000)));
    const other = fileOf(header, user("1", null, "a"), label, relinked);
    const fork = await forkSession(other, { lineBytesMax: 1_000_000 });
    expect(textLines(fork.path)[2]).toBe(relinked.replace('"parentId":"2"', '"parentId":"1"'));
  });

  it("has the title slot of its source, and ids in omp's format", async () => {
    const slotOf = (title: string): string =>
      encodeTitleSlot({ title, updatedAt: "t" }).toString().trimEnd();
    const source = fileOf(
      slotOf("In the slot"),
      { ...header, title: "Older" },
      user("1", null, "a"),
    );
    const { path, id } = await forkSession(source);
    expect(recordsIn(path)[0]).toMatchObject({ type: "title", title: "In the slot" });
    expect(id).toMatch(/^[A-Za-z0-9_-]{21}$/);
    expect(await openSession(path)).toMatchObject({ name: "In the slot", dialect: "omp" });
    const cleared = fileOf(slotOf(""), { ...header, title: "Older" });
    expect((await openSession((await forkSession(cleared)).path)).name).toBeUndefined();
  });
});

describe("a fork that cannot be made", () => {
  it.each([
    ["an entry that is not there", { at: "nobody" }, "ERR_ENTRY_NOT_FOUND"],
    ["an id that is not a file name", { id: "../x" }, "ERR_INVALID_SESSION_ID"],
  ])("leaves nothing behind: %s", async (_, options, code) => {
    const source = fileOf(header, user("1", null, "a"));
    await expect(forkSession(source, options)).rejects.toMatchObject({ code });
    expect(readdirSync(dirname(source))).toEqual(["source.jsonl"]);
  });

  it("replaces no file", async () => {
    const source = fileOf(header, user("1", null, "a"));
    const before = readFileSync(source);
    await expect(forkSession(source, { target: source })).rejects.toMatchObject({
      code: "ERR_LOG_EXISTS",
    });
    expect(readFileSync(source).equals(before)).toBe(true);
  });

  it("ends with the reason of its signal", async () => {
    const source = fileOf(header, user("1", null, "a"));
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(forkSession(source, { signal })).rejects.toThrow("enough");
    expect(readdirSync(dirname(source))).toEqual(["source.jsonl"]);
  });

  it("fails when its source is rewritten", async () => {
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs });
    const text = linesOf([header, user("1", null, "a"), user("2", "1", "b")]);
    fs.writeFileSync("/s.jsonl", Buffer.from(text));
    fs.onCall = ({ name }) => {
      if (name !== "writeSync") return undefined;
      fs.onCall = undefined;
      fs.writeFileSync("/s.jsonl", Buffer.from(text.replaceAll("source", "SOURCE")));
      return undefined;
    };
    const fork = forkSession("/s.jsonl", { target: "/f.jsonl", ports });
    await expect(fork).rejects.toMatchObject({ code: "ERR_LOG_CHANGED" });
    expect(fs.listSync("/")).toEqual(["s.jsonl"]);
  });
});
