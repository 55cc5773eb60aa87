/** Transcripts of other agents are recognised by their first records; sessions never are. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BranchlogError, forkSession, openSession } from "@branchlog/core";
import { findSessions, deleteSession } from "@branchlog/library";
import { planRepair, convertSession, importSession } from "@branchlog/tools";
import { headBytesMax, headLinesMax } from "../../../packages/core/src/limits.ts";
import { transcriptFormat } from "../../../packages/core/src/log/foreign-transcript.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { claudeSource } from "../../tools/import/arbitrary-claude.ts";
import { codexSource } from "../../tools/import/arbitrary-codex.ts";
import { fixturePath } from "../../tools/import/imported.ts";
import { damagedSession } from "../../tools/repair/damaged-session.ts";
import { sampled } from "../../support/sampled.ts";

function kindOfBytes(bytes: Buffer): string | undefined {
  const readSync = (target: Buffer, offset: number, length: number, position: number): number =>
    bytes.copy(target, offset, position, position + length);
  const read = (
    target: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<number> => Promise.resolve(readSync(target, offset, length, position));
  return transcriptFormat({ readSync, read }, bytes.length)?.agent;
}

function kindOfLines(...lines: readonly (string | object)[]): string | undefined {
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  return kindOfBytes(Buffer.from(texts.map((text) => `${text}\n`).join("")));
}

const claude = { type: "user", uuid: "u1", parentUuid: null, sessionId: "s" };
const codex = { timestamp: "2026-01-01T00:00:00Z", type: "session_meta", payload: { id: "c" } };
const entry = { type: "custom", id: "a1", parentId: null, timestamp: "2026-01-01T00:00:00Z" };

const sources = ["claude/conversation.jsonl", "codex/conversation.jsonl"];

type Operation = readonly [string, (path: string) => Promise<unknown>];

function ofEverySource(operations: readonly Operation[]) {
  return operations.flatMap(([name, run]) => sources.map((source) => ({ name, run, source })));
}

/** What an operation on a copy of a fixture results in, if that and its directory stay as they are. */
async function untouched<T>(source: string, run: (path: string) => Promise<T>): Promise<T> {
  const directory = temporaryDirectory();
  const path = join(directory, "s.jsonl");
  const bytes = readFileSync(fixturePath(source));
  writeFileSync(path, bytes);
  try {
    return await run(path);
  } finally {
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(readdirSync(directory)).toEqual(["s.jsonl"]);
  }
}

describe("a transcript", () => {
  it.each([
    ["its first record", [claude]],
    ["a record behind damage and blank lines", ["{torn", "", "[1]", claude]],
    ["a record behind some that say nothing", [{ type: "mode" }, claude]],
    ["a summary", [{ type: "summary", summary: "s", leafUuid: "u" }]],
  ])("of Claude Code is recognised by %s", (_what, lines) => {
    expect(kindOfLines(...lines)).toBe("claude");
  });

  it("of Codex is recognised by a record with a payload", () => {
    expect(kindOfLines(codex)).toBe("codex");
    expect(kindOfLines({ ...codex, payload: "c" })).toBeUndefined();
  });

  it.each([
    [
      "claude",
      '{"parentUuid":null,',
      { parentUuid: null, cwd: "/w", sessionId: "s", type: "user" },
    ],
    ["claude", '{"type":"summary"', { type: "summary", summary: "s", leafUuid: "u" }],
    ["claude", '{"type":"user","sessionId":"s"', { type: "user", sessionId: "s", uuid: "u" }],
    ["codex", '"session_meta"', { ...codex, payload: { id: "c", cwd: "/w" } }],
  ])("of %s is recognised when its only line is torn anywhere behind %s", (kind, shown, record) => {
    const line = JSON.stringify(record);
    const from = line.indexOf(shown) + shown.length;
    for (let end = from; end <= line.length; end += 1) {
      for (const behind of ["", "\n", "\0\0\0", `\n${line}\n`]) {
        expect(kindOfBytes(Buffer.from(line.slice(0, end) + behind))).toBe(kind);
      }
    }
  });

  it("is recognised when its only line is torn and longer than one read", () => {
    const long = JSON.stringify({ ...claude, message: { content: "x".repeat(headBytesMax) } });
    for (const end of [long.length - 1, long.length]) {
      expect(kindOfBytes(Buffer.from(long.slice(0, end)))).toBe("claude");
    }
  });

  it("is recognised when its first record is longer than one read", () => {
    const long = { ...claude, message: { content: "x".repeat(headBytesMax) } };
    expect(kindOfLines(long)).toBe("claude");
    expect(kindOfLines({ ...codex, payload: { text: "x".repeat(headBytesMax) } })).toBe("codex");
  });

  it("is rejected by a repair and by opening when its only line is torn at any byte", async () => {
    for (const name of ["claude/compaction.jsonl", "codex/conversation.jsonl"]) {
      const path = join(temporaryDirectory(), "s.jsonl");
      const bytes = readFileSync(fixturePath(name));
      const line = bytes.subarray(0, bytes.indexOf("\n"));
      for (const end of sampled(1, line.length, 60)) {
        writeFileSync(path, line.subarray(0, end));
        const code = "ERR_NOT_A_SESSION";
        await expect(planRepair(path)).rejects.toMatchObject({ code });
        await expect(openSession(path, { access: "read" })).rejects.toMatchObject({ code });
      }
    }
  });

  it("is searched only in the first lines", () => {
    const before = Array.from({ length: headLinesMax - 1 }, () => ({ type: "x" }));
    expect(kindOfLines(...before, claude)).toBe("claude");
    const padded = before.map((line) => ({ ...line, text: "x".repeat(100) }));
    expect(kindOfLines(...padded, ...padded, claude)).toBeUndefined();
  });

  it("of any content is recognised when import reads it", async () => {
    for (const source of [claudeSource, codexSource]) {
      await fc.assert(
        fc.asyncProperty(source, async ({ lines }) => {
          const file = join(temporaryDirectory(), "s.jsonl");
          writeFileSync(file, `${lines.join("\n")}\n`);
          const { kind } = await importSession(file, `${file}.imported`);
          expect(kindOfBytes(readFileSync(file))).toBe(kind);
        }),
        { numRuns: 60 },
      );
    }
  });

  const operations: readonly Operation[] = [
    ["planRepair", (path) => planRepair(path)],
    ["convertSession", (path) => convertSession(path, { to: "omp", target: `${path}.new` })],
    ["deleteSession", (path) => deleteSession(path)],
    ["findSessions", (path) => findSessions([path])],
  ];
  it.each(ofEverySource(operations))(
    "is rejected by $name and not changed, from $source",
    async ({ run, source }) => {
      const error = await untouched(source, (path) =>
        run(path).then(
          () => undefined,
          (reason: unknown) => reason,
        ),
      );
      expect(error).toBeInstanceOf(BranchlogError);
      expect(error).toMatchObject({ code: "ERR_NOT_A_SESSION" });
    },
  );

  it("is not forked next to itself", async () => {
    for (const source of sources) {
      const fork = untouched(source, (path) => forkSession(path));
      await expect(fork).rejects.toMatchObject({ code: "ERR_INVALID_ARGUMENT" });
    }
  });
});

describe("a session", () => {
  const fixtures = readdirSync(fixturePath(".")).filter((name) => /\.(jsonl|yaml)$/.test(name));
  it.each(fixtures)("of %s is not a transcript, with its header or without", (name) => {
    const bytes = readFileSync(fixturePath(name));
    expect(kindOfBytes(bytes)).toBeUndefined();
    expect(kindOfBytes(bytes.subarray(bytes.indexOf("\n") + 1))).toBeUndefined();
  });

  it("that is empty, or has no complete record, is not a transcript", () => {
    for (const text of ["", "\n", "{", "\0\0\0\n", "null\n", "[]\n"]) {
      expect(kindOfBytes(Buffer.from(text))).toBeUndefined();
    }
  });

  it("is not a transcript when it is damaged at random", () => {
    fc.assert(
      fc.property(damagedSession, ({ bytes }) => {
        expect(kindOfBytes(bytes)).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });

  it("is not a transcript when extensions give its entries fields of other agents", () => {
    const foreign = fc.record(
      {
        type: fc.constantFrom("summary", "user", "session_meta", "event_msg", "custom"),
        sessionId: fc.string(),
        uuid: fc.string(),
        parentUuid: fc.option(fc.string()),
        payload: fc.object(),
      },
      { requiredKeys: ["type"] },
    );
    fc.assert(
      fc.property(fc.array(foreign, { minLength: 1 }), fc.boolean(), (records, hasHeader) => {
        const entries = records.map((record, i) => ({ ...entry, ...record, id: `e${i}` }));
        const header = { type: "session", id: "s" };
        expect(kindOfLines(...(hasHeader ? [header] : []), ...entries)).toBeUndefined();
      }),
    );
  });
});
