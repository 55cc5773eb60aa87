/** Entries as the bytes of their lines: what is stored, and nothing that a parser made of it. */
import { appendFileSync, copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunkBytesDefault, decodeCounter } from "@branchlog/streaming";
import { openSession } from "@branchlog/core";
import type { EntryQuery, OpenOptions, Session } from "@branchlog/core";
import type { EntryLine } from "@branchlog/core/types";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { collected, idsOf } from "../../support/collected.ts";
import { fixtureFile } from "../../support/fixture.ts";
import { temporaryDirectory, temporaryFile } from "../../support/temporary-directory.ts";

const stamp = '"timestamp":"2026-01-01T00:00:00.000Z"';
const headerOf = (version: number): string =>
  `{"type":"session",${version > 1 ? `"version":${version},` : ""}"id":"s",${stamp},"cwd":"/w"}`;
const links = (id: string, parent: string | null): string =>
  `"id":"${id}","parentId":${JSON.stringify(parent)},${stamp}`;
const custom = (id: string, parent: string | null, data: string): string =>
  `{"type":"custom","customType":"x","data":${data},${links(id, parent)}}`;
/** A line that resembles an entry but is not one. */
const torn = (id: string): string => custom(id, null, "[1,}]");

function fileOf(...lines: readonly (string | Buffer)[]): string {
  const newline = Buffer.from("\n");
  const parts = [headerOf(3), ...lines].flatMap((line) => [Buffer.from(line), newline]);
  return temporaryFile(Buffer.concat(parts));
}

const openFile = (path: string, options: OpenOptions = {}): Promise<Session> =>
  openSession(path, { access: "read", ...options });

interface WholeLine {
  readonly id: string;
  readonly revision: number;
  readonly text: string;
}

async function wholeLine({ id, revision, bytes, chunks }: EntryLine): Promise<WholeLine> {
  const read: Buffer[] = [];
  for await (const chunk of chunks()) read.push(chunk);
  const joined = Buffer.concat(read);
  if (bytes !== null) expect(joined).toEqual(bytes);
  return { id, revision, text: joined.toString("latin1") };
}

/** The lines of a session, as text with one character per byte. */
async function linesOf(session: Session, query?: EntryQuery): Promise<WholeLine[]> {
  const lines: WholeLine[] = [];
  for await (const line of session.lines(query)) lines.push(await wholeLine(line));
  return lines;
}

const textsOf = (lines: readonly WholeLine[]): string[] => lines.map(({ text }) => text);
const latin1 = (text: string): string => Buffer.from(text).toString("latin1");

describe("the lines of a session", () => {
  it("are the stored bytes (Verifies: P19)", async () => {
    const stored = [
      custom("a", null, '{"n":1E3,"m":1.0,"big":12345678901234567890,"n":-0}'),
      custom("b", "a", '"\\u00e9 é \\/ \\ud83d\\ude00 \\ud83d"').replace('"data":', '"data" : '),
      `{"type":"odd",${links("c", "b")},"z":1,"a":[ 1 , 2 ],"1":null}`,
    ];
    const broken = Buffer.from(custom("d", "c", '"?"'));
    broken[broken.indexOf("?")] = 0xff;
    const session = await openFile(fileOf(...stored, broken));
    expect(await linesOf(session)).toEqual([
      { id: "a", revision: 1, text: stored[0] },
      { id: "b", revision: 2, text: latin1(stored[1] ?? "") },
      { id: "c", revision: 3, text: stored[2] },
      { id: "d", revision: 4, text: broken.toString("latin1") },
    ]);
  });

  it("have no line endings, surrounding white space or byte-order marks", async () => {
    const [a, b, c] = [custom("a", null, "{}"), custom("b", "a", '"}\\r"'), custom("c", "b", "1")];
    const path = fileOf(`${a}\r`, ` \t${b} \r`, `\uFEFF${c}`);
    for (const lineBytesMax of [1_000, 1]) {
      const session = await openFile(path, { lineBytesMax });
      expect(textsOf(await linesOf(session))).toEqual([a, b, c]);
    }
  });

  it("cost one parse each, and only requested lines are parsed", async () => {
    const lines = Array.from({ length: 1_000 }, (_, i) => custom(`e${i}`, null, "1"));
    const session = await openFile(fileOf(...lines));
    const before = decodeCounter.parses;
    for await (const { id } of session.lines({ reverse: true })) {
      expect(id).toBe("e999");
      break;
    }
    expect(decodeCounter.parses - before).toBe(1);
  });
});

describe("long lines", () => {
  const long = custom("long", "a", `"${"x}".repeat(2 * chunkBytesDefault)}"`);

  it("are returned in chunks, and not kept in memory", async () => {
    const path = fileOf(custom("a", null, "1"), `${long}\r`, custom("b", "long", "2"));
    const session = await openFile(path, { lineBytesMax: 100_000 });
    for await (const line of session.lines()) {
      expect(line.bytes === null).toBe(line.id === "long");
      for await (const chunk of line.chunks()) {
        expect(chunk.length).toBeLessThanOrEqual(chunkBytesDefault);
      }
    }
    expect(textsOf(await linesOf(session))[1]).toBe(long);
  });

  it("are read completely once before they are returned: damage is omitted", async () => {
    const content = `"${"x".repeat(200_000)}""`;
    const message = `"message":{"role":"user","content":${content}}`;
    const bad = `{"type":"message",${links("long", "a")},${message}}`;
    const path = fileOf(custom("a", null, "1"), bad, custom("b", "long", "2"));
    const session = await openFile(path, { lineBytesMax: 100_000 });
    expect((await linesOf(session)).map(({ id }) => id)).toEqual(["a", "b"]);
    expect(session.diagnostics).toMatchObject([{ kind: "damaged-entry", id: "long", line: 3 }]);
  });

  it("end with an error if the log is truncated while they are read", async () => {
    const path = fileOf(custom("a", null, "1"), long);
    const session = await openFile(path, { lineBytesMax: 100_000 });
    const gone = { code: "ERR_LOG_GONE", path: session.path };
    for await (const line of session.lines({ from: 2 })) {
      const chunks = line.chunks()[Symbol.asyncIterator]();
      await chunks.next();
      truncateSync(path, chunkBytesDefault);
      const rest = async (): Promise<void> => {
        while ((await chunks.next()).done !== true) continue;
      };
      await expect(rest()).rejects.toMatchObject(gone);
      await expect(wholeLine(line)).rejects.toMatchObject(gone);
    }
  });

  it("end with the reason of a signal", async () => {
    const session = await openFile(fileOf(long), { lineBytesMax: 100_000 });
    const given = new AbortController();
    const reason = new RangeError("enough");
    for await (const line of session.lines({ signal: given.signal })) {
      given.abort(reason);
      await expect(wholeLine(line)).rejects.toBe(reason);
    }
  });
});

it.each(["pi-v1", "pi-v1-boundaries", "pi-v2"])(
  "the lines of older logs of %s are those written by its migration (Verifies: P19)",
  async (name) => {
    const path = join(temporaryDirectory(), "s.jsonl");
    copyFileSync(fixtureFile(name), path);
    const odd = '{"type":"custom","customType":"x","data":{"n":1E3,"n":"\\u00e9"}';
    appendFileSync(path, `${odd},${links("odd", null)}}\r\n`);
    const session = await openSession(path);
    const before = await linesOf(session);
    const inChunks = await linesOf(await openFile(path, { lineBytesMax: 1 }));
    expect(inChunks).toEqual(before);
    await session.append({ type: "custom", customType: "after" });
    const after = await linesOf(session);
    expect(after.slice(0, -1)).toEqual(before);
    const stored = readFileSync(path, "latin1").split("\n");
    for (const { text } of after) expect(stored.some((line) => line.startsWith(text))).toBe(true);
    expect(before.at(-1)?.text).toContain('"data":{"n":1E3,"n":"\\u00e9"}');
  },
);

describe("damage among the lines", () => {
  it("is omitted and reported as by entries", async () => {
    const path = fileOf(
      custom("a", null, "1"),
      torn("b"),
      "not JSON",
      custom("c", "b", "3"),
      custom("d", "c", "4").replace('"type"', '"id":"first","type"'),
      `{"type":"custom","customType":"x",${links("e", "d")},"id":"other"}`,
      custom("f", "e", "6"),
    );
    const byLines = await openFile(path);
    const byEntries = await openFile(path);
    const ids = await idsOf(byEntries.entries());
    expect((await linesOf(byLines)).map(({ id }) => id)).toEqual(ids);
    expect(ids).not.toContain("b");
    expect(byLines.diagnostics).toEqual(byEntries.diagnostics);
    expect(byLines.tree().size).toBe(byEntries.tree().size);
  });

  it("is not damage if another program rewrote the log", async () => {
    const path = fileOf(custom("a", null, "1"), custom("b", "a", "2"));
    const session = await openFile(path);
    for await (const _ of session.entries()) continue;
    writeFileSync(path, `${headerOf(3)}\n${"x".repeat(1_000)}`);
    await expect(linesOf(session)).rejects.toMatchObject({ code: "ERR_LOG_GONE" });
    expect(session.diagnostics).toEqual([]);
  });
});

describe("lines and entries", () => {
  const number = fc.constantFrom("0", "-0", "1.0", "1E3", "2e+0", "12345678901234567890", "1e-7");
  const text = fc.string({ unit: "binary" }).map((value) => JSON.stringify(value));
  const escaped = fc.constantFrom('"\\u0041"', '"\\/"', '"\\ud800"', '"\\u007f"', '"}"', '"{"');
  const space = fc.constantFrom("", "", " ", "\t", " \r");
  const value = fc.oneof(
    number,
    text,
    escaped,
    fc.tuple(space, number, space, text).map(([a, n, b, t]) => `{"k":${a}${n}${b},"k":${t}${a}}`),
    fc.jsonValue().map((json) => JSON.stringify(json)),
  );
  const good = fc
    .tuple(fc.constantFrom("custom", "message", "odd"), value, space, space, fc.boolean())
    .map(([type, json, a, b, isTail]) => (id: string, parent: string | null): string => {
      const own =
        type === "message"
          ? `"message":{"role":"user","content":${json}}`
          : `"customType":"${json.length % 2 === 0 ? "x" : "y"}","data":${json}`;
      const envelope = links(id, parent);
      const members = isTail
        ? `"type":"${type}",${own},${envelope}`
        : `"type":"${type}",${envelope},${own}`;
      return `${a}{${members}${b}}${b}`;
    });
  const bad = fc.constantFrom(
    torn,
    () => "not JSON",
    () => "",
    () => "[1]",
    () => "{}",
  );
  const log = fc.record({
    version: fc.constantFrom(1, 2, 3),
    lines: fc.array(fc.oneof({ weight: 4, arbitrary: good }, bad), { maxLength: 12 }),
    ending: fc.constantFrom("\n", "\r\n"),
    lineBytesMax: fc.constantFrom(1, 150, 1_000_000),
    query: fc.record(
      {
        from: fc.integer({ min: 1, max: 5 }),
        reverse: fc.boolean(),
        on: fc.constantFrom("log" as const, "branch" as const),
        customType: fc.constantFrom("x", "y"),
      },
      { requiredKeys: [] },
    ),
  });

  it("agree, and the lines are in the file, by law (Verifies: P19)", async () => {
    await fc.assert(
      fc.asyncProperty(log, async ({ version, lines, ending, lineBytesMax, query }) => {
        const stored = lines.map((line, i) => line(`e${i}`, i === 0 ? null : `e${i - 1}`));
        const file = [headerOf(version), ...stored].map((line) => `${line}${ending}`).join("");
        const fs = new MemoryFileSystem();
        fs.writeFileSync("/s.jsonl", Buffer.from(file));
        const ports = createMemoryPorts({ fs });
        const open = (): Promise<Session> => openFile("/s.jsonl", { ports, lineBytesMax });
        const [byLines, byEntries] = [await open(), await open()];
        const given = await linesOf(byLines, query);
        const entries = await collected(byEntries.entries(query));
        const parsed = given.map((line): unknown =>
          JSON.parse(Buffer.from(line.text, "latin1").toString()),
        );
        expect(parsed).toEqual(entries);
        expect(JSON.stringify(parsed)).toBe(JSON.stringify(entries));
        expect(byLines.diagnostics).toEqual(byEntries.diagnostics);
        if (version < 3) return;
        const places = new Map(stored.map((line, i) => [`e${i}`, latin1(line).trim()]));
        expect(textsOf(given)).toEqual(given.map(({ id }) => places.get(id)));
      }),
      { numRuns: 500 },
    );
  });
});
