/**
 * What commands that only read leave next to a large session, and what that spares the next one.
 */
import {
  appendFileSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { decodeCounter, readCounter } from "@branchlog/streaming";
import { runs } from "../support/fault-seed.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { runProcess } from "./command-process.ts";
import { branchlog, fixture } from "./command-run.ts";

/** Larger than what is worth a checkpoint: 8 MiB. */
let large = Buffer.alloc(0);

beforeAll(() => {
  const [header = "", ...lines] = readFileSync(fixture("realistic-session.jsonl"), "utf8")
    .trimEnd()
    .split("\n");
  const text = "x".repeat(10_000);
  const added = Array.from({ length: 900 }, (_, n) =>
    JSON.stringify({
      type: "message",
      id: `m${n}`,
      parentId: n === 0 ? null : `m${n - 1}`,
      timestamp: "2026-01-01T00:00:00.000Z",
      message: {
        role: "assistant",
        content: [{ type: "text", text }],
        provider: "p",
        model: "m",
        usage: { input: n, output: 1, cost: { total: 0.1 } },
        timestamp: n,
      },
    }),
  );
  large = Buffer.from(`${[header, ...lines, ...added].join("\n")}\n`);
});

/** A large session in a separate directory. */
function largeSession(): string {
  const path = join(temporaryDirectory(), "s.jsonl");
  writeFileSync(path, large, { mode: 0o600 });
  return path;
}

/** Output besides the result: of two equal branches, only that they are equal. */
function notedBy([name]: readonly string[]): unknown {
  return name === "diff" ? expect.stringMatching(/^\d+ entries in common/u) : "";
}

/** What a command prints that saves nothing, or before it ends. */
async function outputOf(words: readonly string[]): Promise<string> {
  const { code, out, err } = await branchlog(words);
  expect([code, err]).toEqual([0, notedBy(words)]);
  return out;
}

/** Of a process: checkpoints are saved when it exits. */
async function processOutputOf(words: readonly string[]): Promise<string> {
  const { code, out, err } = await runProcess(words);
  expect([code, err]).toEqual([0, notedBy(words)]);
  return out;
}

/** What the sessions that the large one begins with put out. */
async function usageOfFixture(): Promise<number> {
  const session = await openSession(fixture("realistic-session.jsonl"), { access: "read" });
  const { total } = await session.usage;
  await session.close();
  return total.output;
}

const readers: readonly (readonly [string, readonly string[]])[] = [
  ["info", []],
  ["context", ["--last", "1"]],
  ["verify", []],
  ["tree", ["--depth", "0"]],
  ["turns", []],
  ["entries", ["--limit", "1"]],
  ["tail", ["--last", "1"]],
  ["name", []],
  ["diff", ["@leaf"]],
];

describe("a command that reads a large session", () => {
  it.each(readers.slice(0, runs(3, readers.length)))(
    "%s saves a checkpoint, and nothing with --no-save",
    async (name, words) => {
      const path = largeSession();
      const out = await outputOf([name, path, ...words, "--no-save"]);
      expect(readdirSync(dirname(path))).toEqual(["s.jsonl"]);
      const again = await processOutputOf([name, path, ...words]);
      expect(readdirSync(dirname(path)).toSorted()).toEqual(["s.jsonl", "s.jsonl.ckpt"]);
      const third = await outputOf([name, path, ...words]);
      if (name !== "info" && name !== "verify") expect([again, third]).toEqual([out, out]);
      expect(readFileSync(path).equals(large)).toBe(true);
    },
  );

  it("list saves a catalog in the directory, and nothing with --no-save", async () => {
    const path = largeSession();
    const out = await outputOf(["list", dirname(path), "--json", "--no-save"]);
    expect(readdirSync(dirname(path))).toEqual(["s.jsonl"]);
    expect(await outputOf(["list", dirname(path), "--json"])).toBe(out);
    const saved = [".branchlog-catalog", "s.jsonl"];
    expect(readdirSync(dirname(path)).toSorted()).toEqual(saved);
    expect(await outputOf(["list", dirname(path), "--json", "--no-save"])).toBe(out);
  });

  it("info has the usage from the checkpoint of the previous one", async () => {
    const path = largeSession();
    const first = JSON.parse(await processOutputOf(["info", path, "--json"])) as Record<
      string,
      unknown
    >;
    const second = JSON.parse(await processOutputOf(["info", path, "--json"])) as Record<
      string,
      unknown
    >;
    expect(second).toMatchObject({ ...first, opening: { linesParsed: 1 } });
    const saved = readFileSync(`${path}.ckpt`);
    expect(saved.includes('"usage":{"total"')).toBe(true);
    // Nothing new was found, so that nothing is written.
    expect(JSON.parse(await processOutputOf(["info", path, "--json"]))).toEqual({
      ...second,
      opening: expect.objectContaining({ linesParsed: 1 }) as unknown,
    });
    expect(readFileSync(`${path}.ckpt`).equals(saved)).toBe(true);
  });

  it("info --no-save continues the saved usage: it reads only later bodies", async () => {
    const path = largeSession();
    await processOutputOf(["info", path]);
    const later = { role: "assistant", content: [], usage: { input: 5, output: 1 } };
    const line = { type: "message", id: "later", parentId: "m899", timestamp: "", message: later };
    appendFileSync(path, `${JSON.stringify(line)}\n`);
    // As --no-save opens it.
    const session = await openSession(path, { access: "read" });
    const [bytes, parses] = [readCounter.bytes, decodeCounter.parses];
    const { total } = await session.usage;
    expect(decodeCounter.parses - parses).toBeLessThanOrEqual(1);
    expect(readCounter.bytes - bytes).toBeLessThan(1000);
    const shown = await outputOf(["info", path, "--json", "--no-save"]);
    expect(JSON.parse(shown)).toMatchObject({ usage: { requests: total.requests } });
    expect(total.output).toBe(901 + (await usageOfFixture()));
    await session.close();
  });

  it.skipIf(process.geteuid?.() !== 0)(
    "saves nothing when the session or its directory belongs to another user",
    async () => {
      const [ofFile, ofDirectory] = [largeSession(), largeSession()];
      chownSync(ofFile, 12_345, 12_345);
      chownSync(dirname(ofDirectory), 12_345, 12_345);
      for (const path of [ofFile, ofDirectory]) {
        await processOutputOf(["info", path]);
        expect(existsSync(`${path}.ckpt`)).toBe(false);
      }
    },
  );
});
