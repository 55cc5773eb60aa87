/** The facts of a session file, read by streaming, against the projections over a full parse. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { decodeCounter } from "@branchlog/streaming";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "@branchlog/core";
import { readSessionFacts } from "./read-facts.ts";
import type { FactsOptions } from "../../../packages/library/src/catalog/session-facts.ts";
import { sessionName, summary } from "@branchlog/core/rows";
import { fixtureNames, readFixture } from "../../core/projections/fixture-session.ts";
import { foldAll } from "../../core/projections/fold.ts";
import { arbitraryLines } from "./arbitrary-session.ts";
import {
  assistant,
  header,
  jsonl,
  message,
  name,
  startMs,
  startTime,
  user,
  writeLines,
} from "./session-lines.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

function factsOf(lines: readonly (object | string)[], options?: FactsOptions) {
  return readSessionFacts(writeLines(temporaryDirectory(), "s.jsonl", lines), options);
}

/** One answer of a model in each line of an assistant. */
function usageOfLines(lines: readonly (object | string)[]): object {
  const { length: requests } = lines.filter((line) => JSON.stringify(line).includes('"model":"m"'));
  const tokens = { input: 3, output: 5, cacheRead: 7, cacheWrite: 11, totalTokens: 26, cost: 0.75 };
  const times = (count: number): object => ({
    requests: count,
    ...Object.fromEntries(Object.entries(tokens).map(([key, sum]) => [key, sum * count])),
  });
  const byModel = requests === 0 ? [] : [["p", new Map([["m", times(requests)]])] as const];
  const models = requests === 0 ? [] : ["m"];
  return { total: times(requests), byModel: new Map(byModel), unattributed: times(0), models };
}

/** The same facts the plainest way: split, parse, fold. */
function expectedFacts(lines: readonly string[]) {
  const records = lines.flatMap((line) => {
    try {
      // Whatever is stored is what projections get.
      const value = JSON.parse(line) as SessionEntry | null;
      return typeof value === "object" && value !== null && !Array.isArray(value) ? [value] : [];
    } catch {
      return [];
    }
  });
  return { name: foldAll(sessionName, records) ?? undefined, summary: foldAll(summary, records) };
}

describe("the facts of a session", () => {
  it("are its header, its name and its summary", async () => {
    const said = [
      { type: "text", text: "hello" },
      { type: "image", data: "A" },
    ];
    const lines = [header(), user(said), assistant([]), message("toolResult", []), name(" N ")];
    expect(await factsOf(lines)).toMatchObject({
      dialect: "pi",
      marks: { slot: null, entry: "N", dialect: "pi" },
      header: header(),
      name: "N",
      summary: { messageCount: 3, firstMessage: "hello", lastActivityMs: startMs + 2 },
      usage: usageOfLines(lines),
    });
  });

  it("are those of an empty session if it has only a header", async () => {
    const { summary: nothing, name: none } = expectedFacts([]);
    const marks = { slot: null, entry: null, dialect: null };
    const empty = {
      header: header(),
      dialect: "pi",
      marks,
      name: none,
      summary: nothing,
      usage: usageOfLines([]),
    };
    expect(await factsOf([header()])).toMatchObject(empty);
  });

  it("are undefined for a file whose first record is not a header", async () => {
    expect(await factsOf([user("hi"), header()])).toBeUndefined();
    expect(await factsOf([])).toBeUndefined();
    expect(await factsOf(["nope"])).toBeUndefined();
  });

  it("are found after omp's title slot and after bad lines", async () => {
    const slot = { type: "title", v: 1, title: "t", updatedAt: startTime, pad: "" };
    expect((await factsOf([slot, "", "{", header(), user("x")]))?.summary.messageCount).toBe(1);
  });

  it("do not depend on the length of the header", async () => {
    const long = header({ padding: "x".repeat(3 * 1024 * 1024) });
    expect(await factsOf([long, user("x")])).toMatchObject({ summary: { messageCount: 1 } });
  });

  it("count an unterminated last record if it is complete", async () => {
    const path = writeLines(temporaryDirectory(), "s.jsonl", [header(), user("a")]);
    const line = JSON.stringify(assistant([], startMs + 9));
    appendFileSync(path, line.slice(0, -1));
    expect((await readSessionFacts(path))?.summary.messageCount).toBe(1);
    appendFileSync(path, line.slice(-1));
    expect((await readSessionFacts(path))?.summary).toMatchObject({
      messageCount: 2,
      lastActivityMs: startMs + 9,
    });
  });

  it("of sessions of versions 1 and 2 count their messages", async () => {
    const spoken = {
      type: "message",
      timestamp: startTime,
      message: { role: "user", content: "v1" },
    };
    expect((await factsOf([header({ version: undefined }), spoken]))?.summary).toEqual({
      messageCount: 1,
      firstMessage: "v1",
      lastActivityMs: startMs,
    });
  });
});

describe("facts from the stream", () => {
  it("equal the projections over a full parse, for every session and every chunking", async () => {
    const options = fc.record({
      chunk: fc.integer({ min: 1, max: 400 }).map((bytes) => Buffer.alloc(bytes)),
      lineBytesMax: fc.constantFrom(1 << 20, 300, 64, 1),
    });
    const path = join(temporaryDirectory(), "s.jsonl");
    await fc.assert(
      fc.asyncProperty(arbitraryLines, fc.boolean(), options, async (lines, ends, choice) => {
        const whole = jsonl([header(), ...lines]);
        writeFileSync(path, ends ? whole : whole.slice(0, -1));
        expect(await readSessionFacts(path, choice)).toMatchObject({
          header: header(),
          ...expectedFacts(lines),
        });
      }),
      { numRuns: 500 },
    );
  });

  it.each(fixtureNames())("equal the expected facts of the fixture %s", async (fixture) => {
    const url = new URL(`../../../fixtures/${fixture}.jsonl`, import.meta.url);
    const { expected } = readFixture(fixture);
    const facts = await readSessionFacts(fileURLToPath(url));
    const { messageCount, firstMessage = null, lastActivityMs = null } = facts?.summary ?? {};
    expect({ messageCount, firstMessage, lastActivityMs }).toEqual(expected.summary);
    expect(facts?.name ?? null).toBe(expected.name);
  });

  it("parse only user messages, the header and names", async () => {
    const lines = [header(), user("a"), name("n")];
    for (let i = 0; i < 50; i += 1) lines.push(assistant([]), message("toolResult", "x"));
    const path = writeLines(temporaryDirectory(), "s.jsonl", lines);
    const before = decodeCounter.parses;
    expect((await readSessionFacts(path))?.summary.messageCount).toBe(101);
    expect(decodeCounter.parses - before).toBe(3);
  });

  it("leave a file that is not a session after its first chunk", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, jsonl([user("not a header")]) + "{bad}\n".repeat(100_000));
    const before = decodeCounter.parses;
    expect(await readSessionFacts(path)).toBeUndefined();
    expect(decodeCounter.parses - before).toBe(1);
  });

  it("have the time and the count, but not the text, of messages too long to build", async () => {
    const long = [{ type: "text", text: "long ".repeat(1000) }];
    const lines = [header(), user(long, startMs + 5), assistant(long, startMs + 7), user("short")];
    const facts = await factsOf(lines, { lineBytesMax: 1000, messageBytesMax: 2000 });
    expect(facts?.summary).toEqual({
      messageCount: 3,
      firstMessage: "short",
      lastActivityMs: startMs + 7,
    });
  });

  it("end with the reason of the signal, before and while the file is read", async () => {
    const path = writeLines(temporaryDirectory(), "s.jsonl", [header(), user("x".repeat(1 << 20))]);
    const reason = new Error("enough");
    const aborted = { signal: AbortSignal.abort(reason) };
    await expect(readSessionFacts(path, aborted)).rejects.toBe(reason);
    const controller = new AbortController();
    const reading = readSessionFacts(path, { signal: controller.signal });
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });

  it("do not change the file, and throw the errors of the file system", async () => {
    const path = writeLines(temporaryDirectory(), "s.jsonl", [header({ version: 1 }), user("x")]);
    const before = readFileSync(path);
    await readSessionFacts(path);
    expect(readFileSync(path)).toEqual(before);
    await expect(readSessionFacts(`${path}.gone`)).rejects.toThrow("ENOENT");
    await expect(readSessionFacts(temporaryDirectory())).rejects.toThrow("EISDIR");
  });
});
