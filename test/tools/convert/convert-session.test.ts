/** Session files in the dialect of another agent: what changes, what stays, and what is counted. */
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forkSession, openSession } from "@branchlog/core";
import { convertSession } from "@branchlog/tools";
import type { ConversionResult, ConversionTarget } from "@branchlog/tools";
import { MemoryFileSystem, createMemoryPorts, encodeTitleSlot } from "@branchlog/core/testing";
import { fixtureFile } from "../../support/fixture.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { arbitraryTree } from "../../core/projections/arbitrary-tree.ts";
import { stored, user } from "../../core/projections/sample-entries.ts";
import {
  fileOf,
  header,
  linesOf,
  messagesAt,
  recordsIn,
  textLines,
} from "../../core/copies/session-files.ts";

function convert(source: string, to: ConversionTarget): Promise<ConversionResult> {
  return convertSession(source, { to, target: join(temporaryDirectory(), `${to}.jsonl`) });
}

const slotUpdatedAt = "2026-02-02T00:00:00.000Z";
/** A record that is a slot by its length, too. */
function slotOf(title: string): object {
  const bytes = encodeTitleSlot({ title, updatedAt: slotUpdatedAt });
  return JSON.parse(bytes.toString()) as object;
}
const slot = slotOf("In the slot");

describe("a pi session for omp", () => {
  it("has the name in its header, and differences in omp's form", async () => {
    const source = fileOf(
      header,
      stored("model_change", "1", null, { provider: "openai", modelId: "m" }),
      user("2", "1", "a"),
      stored("session_info", "3", "2", { name: "First" }),
      stored("session_info", "4", "3", { name: "Second" }),
      stored("compaction", "5", "4", { summary: "s", fromHook: true }),
      stored("custom", "6", "5", { customType: "c" }),
    );
    const { path, ...result } = await convert(source, "omp");
    expect(result).toEqual({
      source,
      to: "omp",
      entries: 6,
      converted: { model_change: 1, session_info: 2, compaction: 1 },
      badLines: 0,
      addedName: false,
      resets: 0,
    });
    expect(recordsIn(path)).toMatchObject([
      { ...header, title: "Second" },
      { type: "model_change", id: "1", model: "openai/m" },
      { type: "message", id: "2" },
      { type: "title_change", title: "First", source: "user" },
      { type: "title_change", title: "Second", previousTitle: "First" },
      { type: "compaction", fromExtension: true },
      { type: "custom" },
    ]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("has no title without a name, and names its agent if nothing else does", async () => {
    const entries = [user("1", null, "a"), stored("custom", "2", "1", { customType: "c" })];
    const { path } = await convert(fileOf(header, ...entries), "omp");
    const marked = { ...header, "branchlog.dialect": "omp" };
    expect(readFileSync(path, "utf8")).toBe(linesOf([marked, ...entries]));
    const back = await convert(path, "pi");
    expect(readFileSync(back.path, "utf8")).toBe(linesOf([header, ...entries]));
  });
});

describe("a session of omp for pi", () => {
  it("loses its title slot, and has the name at the end if no entry does", async () => {
    const source = fileOf(
      slot,
      { ...header, title: "Old" },
      user("1", null, "a"),
      stored("title_change", "2", "1", { title: "Before", source: "auto" }),
    );
    const { path, addedName, converted } = await convert(source, "pi");
    expect([addedName, converted]).toEqual([true, { title_change: 1 }]);
    const records = recordsIn(path);
    expect(records).toHaveLength(4);
    expect(records[0]).toEqual(header);
    expect(records[2]).toMatchObject({ type: "session_info", name: "Before", source: "auto" });
    expect(records[3]).toMatchObject({
      type: "session_info",
      parentId: "2",
      name: "In the slot",
      timestamp: slotUpdatedAt,
    });
    expect((await openSession(path)).name).toBe("In the slot");
    expect(await messagesAt(path)).toBe(await messagesAt(source));
  });

  it.each([
    ["the slot", [slot, header], "In the slot"],
    ["the header", [{ ...header, title: " T " }], "T"],
    ["nothing: an empty slot overrules the header", [slotOf(""), { ...header, title: "T" }]],
    [
      "an entry",
      [slot, header, stored("title_change", "1", null, { title: "In the slot " })],
      "In the slot",
    ],
    [
      "nothing: an entry takes it away",
      [{ ...header, title: "T" }, stored("title_change", "1", null, { title: "" })],
    ],
  ])("is called by %s", async (_, records, name?: string) => {
    const { path, addedName } = await convert(fileOf(...records), "pi");
    expect((await openSession(path)).name).toBe(name);
    expect(addedName).toBe(name !== undefined && records.length < 3);
    expect(textLines(path)[0]).not.toContain("title");
  });

  it("finds the last entry before any other end", async () => {
    const end = `${linesOf([{ ...header, title: "T" }, user("1", null, "a"), "{torn", header])}{"half`;
    const source = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(source, end);
    const { path, badLines } = await convert(source, "pi");
    expect(badLines).toBe(2);
    const lines = textLines(path);
    expect(lines.slice(2, 5)).toEqual(["{torn", JSON.stringify(header), '{"half']);
    expect(JSON.parse(lines[5] ?? "")).toMatchObject({ name: "T", parentId: "1" });
    expect((await openSession(path)).name).toBe("T");
  });
});

it("a session on another disk is converted there, its name as an entry below the last one", async () => {
  const fs = new MemoryFileSystem();
  const records = [slot, header, user("1", null, "a"), user("2", "1", "b")];
  fs.writeFileSync("/s.jsonl", Buffer.from(linesOf(records)));
  const ports = createMemoryPorts({ fs });
  const result = await convertSession("/s.jsonl", { to: "pi", target: "/t.jsonl", ports });
  expect(result).toMatchObject({ entries: 2, addedName: true });
  const last = fs.readFileSync("/t.jsonl").toString().trim().split("\n").at(-1) ?? "";
  const named = { type: "session_info", name: "In the slot", parentId: "2" };
  expect(JSON.parse(last)).toMatchObject(named);
});

describe("data with the same form in both", () => {
  it("is copied byte for byte, damage included (Verifies: P19, P10)", async () => {
    const text = [
      `${JSON.stringify(header)}\r`,
      '{"type":"message","id":"1","parentId":null,"timestamp":"t", "message":{"n":1.0,"u":"\\u0041"}}',
      "",
      "{torn",
      "null",
      "\0\0",
      '{"type":"new_type","id":"2","parentId":"1","timestamp":"t","model":"a/b"}',
      '{"type":"compaction","id":"3","parentId":"2","timestamp":"t","summary":"s"',
    ].join("\n");
    const source = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(source, text);
    const marked = text.replace("}\r", ',"branchlog.dialect":"omp"}\r');
    for (const to of ["pi", "omp"] as const) {
      const { path, badLines, converted } = await convert(source, to);
      expect(readFileSync(path, "utf8")).toBe(to === "pi" ? text : marked);
      expect([badLines, converted]).toEqual([4, {}]);
    }
  });

  it("has no byte-order mark, which agents cannot read", async () => {
    const { path } = await convert(fixtureFile("pi-bom"), "omp");
    expect(readFileSync(path, "utf8").startsWith("{")).toBe(true);
  });

  it("gives the same bytes there and back (Verifies: P19)", async () => {
    for (const name of ["pi-linear", "pi-labels-and-names", "pi-side-entries", "pi-branches"]) {
      const source = fixtureFile(name);
      const there = await convert(source, "omp");
      const back = await convert(there.path, "pi");
      expect(readFileSync(back.path, "utf8")).toBe(readFileSync(source, "utf8"));
    }
  });

  it("gives the same entries from omp and back, except for generated ones", async () => {
    const entries = [
      stored("title_change", "1", null, { title: "A", source: "user" }),
      stored("title_change", "2", "1", { title: "B", previousTitle: "A", source: "user" }),
      stored("title_change", "3", "2", {
        title: "C",
        previousTitle: "X",
        source: "auto",
        trigger: "t",
      }),
      stored("model_change", "4", "3", { model: "p/m", role: "default" }),
      stored("model_change", "5", "4", { model: "p/s", role: "smol" }),
      stored("compaction", "6", "5", { summary: "s", preserveData: {}, fromExtension: true }),
      stored("mode_change", "7", "6", { mode: "plan" }),
    ];
    const there = await convert(fileOf({ ...header, title: "C" }, ...entries), "pi");
    const back = await convert(there.path, "omp");
    expect(recordsIn(back.path)).toEqual([{ ...header, title: "C" }, ...entries]);
  });

  it("has the same context at every entry (Verifies: P22)", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryTree, fc.constantFrom("pi", "omp"), async (entries, to) => {
        const source = fileOf(header, ...entries);
        const target = join(dirname(source), "t.jsonl");
        const { entries: counted } = await convertSession(source, { to, target });
        expect(counted).toBe(entries.length);
        const [before, after] = [await openSession(source), await openSession(target)];
        for (const { id } of entries) {
          const wanted = (await before.context({ at: id })).messages;
          expect((await after.context({ at: id })).messages).toEqual(wanted);
          expect(await after.entry(id)).toMatchObject({ id });
        }
        expect(after.tips().map(({ id }) => id)).toEqual(before.tips().map(({ id }) => id));
        expect(after.dialect).toBe(to);
      }),
      { numRuns: 40 },
    );
  });

  it.each(
    ["omp-18", "omp-jan", "seed-omp", "mixed-dialects", "pi-branches", "pi-v1"].flatMap((name) =>
      (["pi", "omp"] as const).map((to) => ({ name, to })),
    ),
  )("is appended to in the form of $to, like its forks: $name", async ({ name, to }) => {
    const { path } = await convert(fixtureFile(name), to);
    const { path: fork } = await forkSession(path, { target: join(dirname(path), "fork.jsonl") });
    for (const one of [path, fork]) {
      const session = await openSession(one);
      expect(session.dialect).toBe(to);
      await session.append({ type: "session_info", name: "New" });
      await session.close();
      const type = to === "pi" ? "session_info" : "title_change";
      expect(recordsIn(one).at(-1)).toMatchObject({ type });
    }
  });

  it.each(["pi-v1", "pi-v2"])("is migrated to version 3 from %s", async (name) => {
    const { path, source } = await convert(fixtureFile(name), "omp");
    expect(source).toBe(fixtureFile(name));
    expect(recordsIn(path)[0]).toMatchObject({ version: 3 });
    expect(await messagesAt(path)).toBe(await messagesAt(fixtureFile(name)));
    expect(readdirSync(dirname(path))).toEqual(["omp.jsonl"]);
  });

  it("includes lines that are too long to be joined", async () => {
    const long = JSON.stringify(user("1", null, "x".repeat(300_000)));
    const named = stored("session_info", "2", "1", { name: "N", odd: "y".repeat(300_000) });
    const source = fileOf(header, long, named, user("3", "2", "end"));
    const target = join(dirname(source), "t.jsonl");
    const options = { to: "omp", target, lineBytesMax: 1000 } as const;
    const { converted, entries } = await convertSession(source, options);
    expect([converted, entries]).toEqual([{ session_info: 1 }, 3]);
    expect(textLines(target)[1]).toBe(long);
    expect(recordsIn(target)[0]).toMatchObject({ title: "N" });
  });
});

describe("a conversion that cannot be made", () => {
  it.each([
    ["no file", "", "ERR_LOG_MISSING"],
    ["an empty file", "", "ERR_LOG_EMPTY"],
    ["a foreign file", "hello\n", "ERR_NOT_A_SESSION"],
    ["a file without its header", linesOf([user("1", null, "a")]), "ERR_HEADER_DAMAGED"],
  ])("leaves nothing behind: %s", async (what, text, code) => {
    const directory = temporaryDirectory();
    const source = join(directory, "s.jsonl");
    if (what !== "no file") writeFileSync(source, text);
    const before = readdirSync(directory);
    const target = join(directory, "t.jsonl");
    await expect(convertSession(source, { to: "pi", target })).rejects.toMatchObject({ code });
    expect(readdirSync(directory)).toEqual(before);
  });

  it("replaces no file, not even its source", async () => {
    const source = fileOf(header, user("1", null, "a"));
    await expect(convertSession(source, { to: "omp", target: source })).rejects.toMatchObject({
      code: "ERR_LOG_EXISTS",
    });
    expect(recordsIn(source)).toHaveLength(2);
  });

  it.each(["pi-v1", "pi-branches"])(
    "names the requested file, also when another one is created first: %s",
    async (name) => {
      const source = fixtureFile(name);
      const target = join(fileOf(header), "t.jsonl");
      const error: unknown = await convertSession(source, { to: "omp", target }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: "ERR_CREATE_FAILED", path: target });
      expect(String(error)).toContain(`The session file ${target} was not created`);
    },
  );

  it("ends with the reason of its signal", async () => {
    const source = fileOf(header, user("1", null, "a"));
    const target = join(dirname(source), "t.jsonl");
    const signal = AbortSignal.abort(new Error("enough"));
    const options = { to: "omp", target, signal } as const;
    await expect(convertSession(source, options)).rejects.toThrow("enough");
    expect(readdirSync(dirname(source))).toEqual(["source.jsonl"]);
  });
});
