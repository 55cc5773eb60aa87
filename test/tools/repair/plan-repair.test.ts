/** What a repair plans for each kind of damage. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSound } from "@branchlog/tools";
import type { RepairPlan } from "@branchlog/tools";
import { runs } from "../../support/fault-seed.ts";
import { sampled } from "../../support/sampled.ts";
import { addedBytes } from "../../../packages/tools/src/repair/repair-plan.ts";
import { apply, memoryLog, plan } from "./repaired-log.ts";

const stamp = "2026-01-01T00:00:00.000Z";
const header = `{"type":"session","version":3,"id":"s","timestamp":"${stamp}","cwd":"/w"}`;

function user(id: string, parentId: string | null, content = "hi"): string {
  const message = { role: "user", content, timestamp: 1 };
  return JSON.stringify({ type: "message", id, parentId, timestamp: stamp, message });
}

/** An extension that stores a value of any kind. */
function stored(id: string, parentId: string | null, data: unknown): string {
  return JSON.stringify({ type: "custom", customType: "x", data, id, parentId, timestamp: stamp });
}

function planFor(content: string | Buffer, path = "/s.jsonl"): Promise<RepairPlan> {
  return plan(memoryLog(Buffer.from(content), path));
}

/** The lines of the log once it is repaired. */
async function repairedLines(content: string | Buffer, bridge = false): Promise<string[]> {
  const log = memoryLog(Buffer.from(content));
  await apply(log, await plan(log, { bridge }));
  return log.fs.readFileSync(log.path).toString().split("\n");
}

/** Kinds of the changes, with what tells them apart. */
function kinds({ changes }: RepairPlan): string[] {
  return changes.map((change) =>
    change.kind === "set-aside" ? `${change.kind} ${change.reason}` : change.kind,
  );
}

const [a, b, c] = [user("a", null), user("b", "a"), user("c", "b")];
const start = `${header}\n${a}\n`;

describe("the end of a log", () => {
  it("that is truncated is set aside", async () => {
    const planned = await planFor(`${start}${b.slice(0, 60)}`);
    expect(planned.changes).toEqual([
      { kind: "set-aside", offset: start.length, length: 60, line: 3, reason: "torn", id: "b" },
    ]);
    expect(planned.repaired).toEqual({ sizeBytes: start.length, entries: 1 });
  });

  it("that lacks only its newline gets it", async () => {
    const planned = await planFor(`${start}${b}`);
    expect(planned.changes).toEqual([
      { kind: "terminate", offset: start.length + b.length, line: 3 },
    ]);
    expect(await repairedLines(`${start}${b}`)).toEqual([header, a, b, ""]);
  });

  it("that is full of NUL bytes loses them", async () => {
    expect(kinds(await planFor(`${start}${"\0".repeat(5000)}`))).toEqual(["set-aside nul-bytes"]);
    const torn = `${start}${b.slice(0, 60)}${"\0".repeat(100)}`;
    expect((await planFor(torn)).changes).toMatchObject([{ reason: "nul-bytes", id: "b" }]);
    const whole = `${start}${b}\0\0\0`;
    expect(kinds(await planFor(whole))).toEqual(["recover", "set-aside nul-bytes"]);
    expect(await repairedLines(whole)).toEqual([header, a, b, ""]);
  });

  it("that is only spaces is not changed", async () => {
    expect(await planFor(`${start}  `)).toMatchObject({ changes: [], findings: [] });
  });
});

describe("a complete record at the start of a line", () => {
  const d = user("d", "c");
  it.each(["}", ",", "]", '"', ":", `"},"x":1}`, d.slice(20), d.slice(-2)])(
    "is kept, without a placeholder, when %s follows it",
    async (behind) => {
      const content = `${start}${b}\n${c}${behind}\n${d}\n`;
      expect(kinds(await planFor(content))).toEqual([
        "recover",
        expect.stringMatching("set-aside"),
      ]);
      expect(await repairedLines(content)).toEqual([header, a, b, c, d, ""]);
    },
  );

  it("is kept as the header when a comma follows it", async () => {
    expect(await repairedLines(`${header},\n${a}\n`)).toEqual([header, a, ""]);
  });
});

describe("a line", () => {
  it.each([
    ["that was cut off", b.slice(0, 90), "torn"],
    ["that was cut off before a line end of two bytes", `${b.slice(0, 90)}\r`, "torn"],
    ["of NUL bytes", "\0\0\0", "nul-bytes"],
    ["with a NUL byte in it", b.replace("hi", "h\0i"), "nul-bytes"],
    ["of text", "Segmentation fault", "not-json"],
    ["with a quote too many", b.replace("hi", 'h"i'), "not-json"],
    ["of bytes that are no text", Buffer.from([0xff, 0xfe, 0x80]), "not-json"],
    ["with a number", "5", "not-object"],
    ["with an array", "[]", "not-object"],
  ])("%s is set aside", async (_, line, reason) => {
    const content = Buffer.concat([Buffer.from(start), Buffer.from(line), Buffer.from(`\n${c}\n`)]);
    const planned = await planFor(content);
    expect(planned.changes[0]).toMatchObject({ kind: "set-aside", line: 3, reason });
    expect(await repairedLines(content)).toContain(c);
  });

  it("with a torn record and a complete one gives the complete one its own line", async () => {
    const torn = b.slice(0, 70);
    const planned = await planFor(`${start}${torn}${c}\n`);
    expect(planned.changes).toMatchObject([
      { kind: "set-aside", offset: start.length, length: 70, reason: "torn", id: "b" },
      { kind: "stand-in", id: "b", parentId: "a", source: "damaged" },
      {
        kind: "recover",
        offset: start.length + 70,
        length: c.length + 1,
        id: "c",
        addsNewline: false,
      },
    ]);
    expect(isSound(planned.remaining)).toBe(true);
  });

  it("with a byte-order mark loses it, also in the middle of the log", async () => {
    const content = `\uFEFF\uFEFF${header}\n\uFEFF${a}\n`;
    const mark = "set-aside byte-order-mark";
    expect(kinds(await planFor(content))).toEqual([mark, mark, mark]);
    expect(await repairedLines(content)).toEqual([header, a, ""]);
  });

  it("that agents can read is not changed: other line ends, blanks, unknown records", async () => {
    const content = `\n${header}\r\n  \n${a}\r\n{}\n{"type":"x"}\n${header}\n`;
    expect((await planFor(content)).changes).toEqual([]);
  });
});

describe("a record in a damaged line", () => {
  it("is not recovered if it is elsewhere in the log", async () => {
    const torn = b.slice(0, 40);
    for (const content of [`${start}${torn}${b}\n${b}\n`, `${start}${b}\n${torn}${b}\n`]) {
      expect(kinds(await planFor(content))).toEqual(["set-aside torn", "set-aside repeated"]);
      expect(await repairedLines(content)).toEqual([header, a, b, ""]);
      expect(isSound((await planFor(content)).remaining)).toBe(true);
    }
  });

  it("is recovered once if it is only in damaged lines", async () => {
    for (const content of [`${start}x${b}${b}\n`, `${start}x${b}\nx${b}\nx${b}\n`]) {
      expect(await repairedLines(content)).toEqual([header, a, b, ""]);
    }
  });

  it("is recovered if another one has its id, which is reported", async () => {
    const other = user("b", "a", "other");
    const planned = await planFor(`${start}${b}\nx${other}\n`);
    expect(kinds(planned)).toEqual(["set-aside not-json", "recover"]);
    expect(planned.remaining).toMatchObject({ duplicateIdCount: 1, duplicateIds: ["b"] });
  });

  it("is not recovered from inside another record", async () => {
    const holder = stored("h", "a", { entries: [user("n", "a"), a], last: user("m", "n") });
    for (const cut of sampled(1, holder.length, 60)) {
      const lines = await repairedLines(`${start}${holder.slice(0, cut)}\n${b}\n`);
      const others = lines.filter((line) => ![header, a, b, ""].includes(line));
      expect(others).toEqual([]);
    }
  });

  it("is recovered after a record truncated before a value, if it fits", async () => {
    const cut = '{"type":"custom","customType":"x","data":[';
    expect(await repairedLines(`${start}${cut}${b}\n`)).toContain(b);
    expect(await repairedLines(`${start}${cut}${user("z", "nobody")}\n`)).toHaveLength(3);
    expect(await repairedLines(`${start}${b}\n${cut}${user("b", "a", "copy")}\n`)).toHaveLength(4);
    const named = `{"type":"message","id":"p","parentId":"a","timestamp":"${stamp}","message":`;
    expect(await repairedLines(`${start}${named}${user("q", "p")}\n`)).toContain(user("q", "p"));
  });

  it("is recovered from a log of version 1, which has no ids", async () => {
    const old = '{"type":"session","id":"s","timestamp":"t","cwd":"/w"}';
    const said = (n: number): string =>
      JSON.stringify({ type: "message", timestamp: stamp, message: { role: "user", content: n } });
    const content = `${old}\n${said(1).slice(0, 35)}${said(2)}\n${said(3)}${said(4)}\n`;
    expect(await repairedLines(content)).toEqual([old, said(2), said(3), said(4), ""]);
  });
});

describe("an entry whose parent is lost", () => {
  const torn = (line: string): string => line.slice(0, -5);

  it("stays connected by a placeholder if the remains name its parent", async () => {
    const planned = await planFor(`${start}${torn(b)}\n${c}\n`);
    const [, standIn] = planned.changes;
    expect(standIn).toEqual({
      kind: "stand-in",
      offset: start.length + torn(b).length + 1,
      id: "b",
      parentId: "a",
      timestamp: stamp,
      source: "damaged",
    });
    const lines = await repairedLines(`${start}${torn(b)}\n${c}\n`);
    expect(lines).toEqual([
      header,
      a,
      `{"type":"custom","customType":"branchlog.lost","data":{"parentFrom":"damaged"},"id":"b","parentId":"a","timestamp":"${stamp}"}`,
      c,
      "",
    ]);
  });

  it("stays connected if the ids are at the end of the damaged record", async () => {
    const damaged = stored("b", "a", "x").replace('"x","id"', 'x","id"');
    const planned = await planFor(`${start}${damaged}\n${c}\n`);
    expect(planned.changes).toMatchObject([{ id: "b" }, { kind: "stand-in", parentId: "a" }]);
  });

  it("stays connected over a chain of many lost entries", async () => {
    const chain = Array.from({ length: 50 }, (_, i) => user(`n${i}`, i === 0 ? "a" : `n${i - 1}`));
    const content = `${start}${chain.map(torn).join("\n")}\n${user("z", "n49")}\n`;
    const planned = await planFor(content);
    expect(planned.changes.filter(({ kind }) => kind === "stand-in")).toHaveLength(50);
    expect(isSound(planned.remaining)).toBe(true);
    const lines = await repairedLines(content);
    expect(lines.slice(2, 52).map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(
      Array.from({ length: 50 }, (_, i) => `n${i}`),
    );
  });

  it("gets no placeholder without a parent, and none for a lost tip", async () => {
    expect(kinds(await planFor(`${start}${torn(user("b", "zz"))}\n${c}\n`))).toEqual([
      "set-aside torn",
    ]);
    expect(kinds(await planFor(`${start}${torn(b)}\n`))).toEqual(["set-aside torn"]);
  });

  it("is reported if the parent is unknown, and connected on request", async () => {
    const content = `${start}${user("d", "gone")}\n${user("e", "gone")}\n${user("f", "lost")}\n`;
    const planned = await planFor(content);
    expect(planned.changes).toEqual([]);
    expect(planned.remaining).toMatchObject({
      orphanCount: 3,
      orphans: [
        { id: "d", missingParentId: "gone" },
        { id: "e", missingParentId: "gone" },
        { id: "f", missingParentId: "lost" },
      ],
    });
    const log = memoryLog(Buffer.from(content));
    const bridged = await plan(log, { bridge: true });
    expect(bridged.changes).toMatchObject([
      { kind: "stand-in", id: "gone", parentId: "a", source: "order" },
      { kind: "stand-in", id: "lost", parentId: "e", source: "order" },
    ]);
    expect(isSound(bridged.remaining)).toBe(true);
    expect(await repairedLines(content, true)).toHaveLength(8);
  });

  it("is searched for once, for any number below the same lost entry (Verifies: P18)", async () => {
    const count = runs(4000, 20_000);
    const lostChain = Array.from({ length: count }, (_, i) => torn(user(`n${i}`, `n${i - 1}`)));
    const children = lostChain.map((_, i) => user(`c${i}`, `n${i}`));
    const log = memoryLog(Buffer.from(`${start}${[...lostChain, ...children].join("\n")}\n`));
    const planned = await plan(log);
    expect(planned.remaining.orphanCount).toBe(count);
    const bridged = await plan(log, { bridge: true });
    expect(bridged.changes.filter(({ kind }) => kind === "stand-in")).toHaveLength(count + 1);
    expect(isSound(bridged.remaining)).toBe(true);
  });

  it("becomes a root if nothing is before it", async () => {
    const log = memoryLog(Buffer.from(`${header}\n${user("d", "gone")}\n`));
    const bridged = await plan(log, { bridge: true });
    expect(bridged.changes).toMatchObject([{ id: "gone", parentId: null }]);
  });

  it("is never connected in a cycle, when children precede their parents", async () => {
    const anyId = fc.integer({ min: 0, max: 9 });
    const links = fc.array(fc.tuple(anyId, anyId, fc.boolean()), { minLength: 1, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(links, async (entries) => {
        const lines = entries.map(([id, parent, isTorn]) => {
          const line = user(`${id}`, `${parent}`);
          return isTorn ? torn(line) : line;
        });
        const log = memoryLog(Buffer.from(`${header}\n${lines.join("\n")}\n`));
        const without = await plan(log);
        const bridged = await plan(log, { bridge: true });
        expect(bridged.remaining.orphanCount).toBe(0);
        expect(bridged.remaining.cycleCount).toBe(without.remaining.cycleCount);
        // Applying opens and verifies the result, cycles included.
        await apply(log, bridged);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a log without a header", () => {
  const named = "/2025-06-04T09-00-00-000Z_01973400-0000-7000-8000-000000000003.jsonl";

  it("gets one from the remains of the old one", async () => {
    const torn = header.slice(0, -8);
    const planned = await planFor(`${torn}\n${a}\n`);
    expect(planned.changes[0]).toMatchObject({
      kind: "header",
      offset: 0,
      header: { type: "session", version: 3, id: "s", timestamp: stamp, cwd: "" },
      sources: {
        version: "damaged header",
        id: "damaged header",
        timestamp: "damaged header",
        cwd: "unknown",
      },
    });
    const changed = header.replace('"cwd"', '\0"cwd"');
    const flipped = await planFor(`${changed}\n${a}\n`);
    expect(flipped.changes[0]).toMatchObject({ header: { cwd: "/w" } });
    expect(await repairedLines(`${changed}\n${a}\n`)).toEqual([header, a, ""]);
  });

  it("gets one from remains joined to the first entry", async () => {
    const lines = await repairedLines(`${header.slice(0, 60)}${a}\n${b}\n`);
    expect(lines).toHaveLength(4);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ type: "session", version: 3, id: "s" });
    expect(lines.slice(1)).toEqual([a, b, ""]);
  });

  it("gets one from its name and its entries, otherwise a new one", async () => {
    const planned = await planFor(`${a}\n${b}\n`, named);
    expect(planned.changes).toMatchObject([
      {
        kind: "header",
        header: {
          id: "01973400-0000-7000-8000-000000000003",
          timestamp: "2025-06-04T09:00:00.000Z",
        },
        sources: { version: "entries", id: "file name", timestamp: "file name" },
      },
    ]);
    const nameless = await planFor(`{"type":"sess\n${a}\n${b}\n`);
    expect(nameless.changes).toMatchObject([
      { kind: "set-aside" },
      {
        kind: "header",
        header: { timestamp: stamp },
        sources: { id: "new", timestamp: "first entry" },
      },
    ]);
  });

  it("gets the cwd of an imported session from its first entry", async () => {
    const source = { kind: "claude", sourceId: "c", path: "/c.jsonl", cwd: "/home/dev/shop" };
    const first = (data: unknown): string =>
      stored("a", null, data).replace('"customType":"x"', '"customType":"branchlog.source"');
    for (const torn of ["", `${header.slice(0, -8)}\n`]) {
      const { changes } = await planFor(`${torn}${first(source)}\n${b}\n`);
      expect(changes.find(({ kind }) => kind === "header")).toMatchObject({
        header: { cwd: "/home/dev/shop" },
        sources: { cwd: "first entry" },
      });
    }
    for (const data of [null, [], { cwd: 1 }, { ...source, cwd: "" }]) {
      expect((await planFor(`${first(data)}\n`)).changes).toMatchObject([
        { header: { cwd: "" }, sources: { cwd: "unknown" } },
      ]);
    }
  });

  it("gets one from a header after its first entries", async () => {
    const lines = await repairedLines(`${a}\n${header}\n${b}\n`);
    expect(lines).toEqual([header, a, header, b, ""]);
  });

  it("gets one with the given working directory", async () => {
    const log = memoryLog(Buffer.from(`${a}\n`));
    const planned = await plan(log, { cwd: "/home/me" });
    expect(planned.changes).toMatchObject([
      { header: { cwd: "/home/me" }, sources: { cwd: "option" } },
    ]);
    const intact = memoryLog(Buffer.from(`${header}\n${a}\n`));
    expect((await plan(intact, { cwd: "/home/me" })).changes).toEqual([]);
  });

  it("gets one of the version of its entries", async () => {
    const old = a.replace('"role":"user"', '"role":"hookMessage"');
    expect((await planFor(`${old}\n`)).version).toBe(2);
    const oldest = JSON.stringify({ type: "message", timestamp: stamp, message: {} });
    const planned = await planFor(`${oldest}\n`);
    expect(planned.version).toBe(1);
    const [first] = await repairedLines(`${oldest}\n`);
    expect(first).not.toContain("version");
  });

  it("gets it after a title, which must be first", async () => {
    const title = '{"type":"title","title":"x"}';
    const lines = await repairedLines(`${title}\n${header.slice(0, 50)}\n${a}\n`);
    expect(lines[0]).toBe(title);
    expect(lines[1]).toContain('"type":"session"');
    expect(lines[2]).toBe(a);
  });

  it("is repaired even if it has only the remains of the header", async () => {
    expect(kinds(await planFor(header.slice(0, 60)))).toEqual(["header", "set-aside torn"]);
  });

  it.each([
    ["nothing in it", "", "ERR_LOG_EMPTY"],
    ["only NUL bytes", "\0".repeat(4096), "ERR_NOT_A_SESSION"],
    ["text", "hello\n", "ERR_NOT_A_SESSION"],
    ["other records", '{"a":1}\n', "ERR_NOT_A_SESSION"],
    [
      "a log of another program",
      '{"type":"info","timestamp":"2026-01-01T00:00:00Z"}\n',
      "ERR_NOT_A_SESSION",
    ],
  ])("and with %s is not a session", async (_, content, code) => {
    await expect(planFor(content)).rejects.toMatchObject({ code });
  });

  it("that is missing, or a directory, is reported as such", async () => {
    const log = memoryLog(Buffer.from(header));
    await expect(plan({ ...log, path: "/none" })).rejects.toMatchObject({
      code: "ERR_LOG_MISSING",
    });
    await expect(plan({ ...log, path: "/" })).rejects.toMatchObject({ code: "ERR_LOG_UNREADABLE" });
  });
});

describe("a plan", () => {
  it("contains the lines that it adds", () => {
    const standIn = { kind: "stand-in", offset: 0, id: "i", parentId: null } as const;
    const line = addedBytes({ ...standIn, timestamp: stamp, source: "order" }).toString();
    expect(line).toBe(
      `{"type":"custom","customType":"branchlog.lost","data":{"parentFrom":"order"},"id":"i","parentId":null,"timestamp":"${stamp}"}\n`,
    );
  });

  it("ends with its signal", async () => {
    const log = memoryLog(Buffer.from(header));
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(plan(log, { signal })).rejects.toThrow("enough");
  });

  it("does not touch the log and its directory (Verifies: P8)", async () => {
    const content = Buffer.from(`${start}${b.slice(0, 50)}`);
    const log = memoryLog(content);
    await plan(log, { bridge: true });
    expect(log.fs.readFileSync(log.path).equals(content)).toBe(true);
    expect(log.fs.listSync("/")).toEqual(["s.jsonl"]);
  });
});
