/**
 * Entries of unknown types: refused when they are appended, unless that is requested;
 * listed when they are in a log anyway; copied like any other.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSession, forkSession, openSession } from "@branchlog/core";
import type { Diagnostic, EntryDraft, Session } from "@branchlog/core";
import type { AnyDraft } from "@branchlog/core/entries";
import { SessionManager as OmpManager } from "@branchlog/agents/omp";
import { SessionManager as PiManager } from "@branchlog/agents/pi";
import { verifySession } from "@branchlog/tools";
import { isNamedType } from "../../../packages/core/src/entries/draft-checks.ts";
import { knownEntryTypes } from "../../../packages/core/src/entries/entry-types.ts";
import { ompEntryTypes } from "../../../packages/core/src/entries/omp-entry-types.ts";
import { diagnosticsMax } from "../../../packages/core/src/limits.ts";
import { jsonLines, sampleHeader } from "@branchlog/core/testing";
import { temporaryDirectory, temporaryFile } from "../../support/temporary-directory.ts";

const stamp = "2026-01-01T00:00:00.000Z";

async function newSession(): Promise<Session> {
  return createSession(join(temporaryDirectory(), "s.jsonl"), { cwd: "/w" });
}

/** As given by a caller without types. */
const untyped = (draft: AnyDraft): EntryDraft => draft as EntryDraft;

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: {} };

/** What each type of pi has to say; those of omp have to say nothing. */
const fieldsOf: Readonly<Record<string, object>> = {
  message: { message: { role: "user", content: "Hello", timestamp: 1 } },
  thinking_level_change: { thinkingLevel: "high" },
  model_change: { provider: "p", modelId: "m" },
  compaction: { summary: "s", firstKeptEntryId: null, tokensBefore: 1 },
  branch_summary: { fromId: "root", summary: "s" },
  custom: { customType: "c" },
  custom_message: { customType: "c", content: "x", display: true },
  label: { targetId: "t" },
  session_info: { name: "n" },
  usage: { kind: "k", provider: "p", model: "m", usage },
  context_edit: { targetId: "t", replacement: null },
};

function unknownIn(session: Session): readonly Diagnostic[] {
  return session.diagnostics.filter(({ kind }) => kind === "unknown-type");
}

/** The line of an entry, as some program wrote it. */
function line(type: string, id: string, parentId: string | null = null): string {
  return `${JSON.stringify({ type, id, parentId, timestamp: stamp })}\n`;
}

const logWith = (lines: readonly string[]): string =>
  temporaryFile(jsonLines(sampleHeader()) + lines.join(""));

describe("appending", () => {
  it("accepts every type of pi and of omp, in logs of either", async () => {
    for (const dialect of ["pi", "omp"] as const) {
      const path = join(temporaryDirectory(), "s.jsonl");
      const session = await createSession(path, { cwd: "/w", dialect });
      await session.append(untyped({ type: "message", ...fieldsOf["message"] }), { id: "t" });
      for (const type of [...knownEntryTypes, ...ompEntryTypes]) {
        await session.append(untyped({ type, ...fieldsOf[type] }));
      }
      expect(unknownIn(session)).toEqual([]);
      expect(await verifySession(session)).toMatchObject({ unknownTypeCount: 0, unknownTypes: [] });
    }
  });

  it("accepts any type with a namespace, or on request (law)", async () => {
    const session = await newSession();
    const name = fc.string({ minLength: 1 }).filter((type) => type !== "session");
    await fc.assert(
      fc.asyncProperty(name, fc.nat(), async (type, n) => {
        const own = await session.append({ type: `x:${type}`, n });
        expect(await session.entry(own.id)).toMatchObject({ type: `x:${type}`, n });
        const fields = { ...fieldsOf[type], n };
        const any = await session.append({ type, ...fields }, { allowUnknownType: true });
        expect(any.revision).toBe(own.revision + 1);
      }),
      { numRuns: 50 },
    );
  });

  it("is a type error when the type is misspelt, or has a field misspelt", async () => {
    const session = await newSession();
    const attempts = [
      // @ts-expect-error -- an unknown type
      session.append({ type: "mesage" }),
      // @ts-expect-error -- nor this one, and the options say nothing of it
      session.append({ type: "mesage" }, { parent: "tail" }),
      // @ts-expect-error -- a label without its target
      session.append({ type: "label", targetid: "a" }),
      // @ts-expect-error -- as a batch
      session.appendAll([{ type: "custom", customType: "c" }, { type: "costum" }]),
      session.append({ type: "mesage" }, { allowUnknownType: false }),
    ];
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.map(({ status }) => status)).toEqual(attempts.map(() => "rejected"));
    await session.append({ type: "x:note", text: "mine" });
    await session.append({ type: "mode_change", mode: "plan" });
    await session.append({ type: "model_change", model: "p/m", role: "smol" });
    await session.append({ type: "note", text: "mine" }, { allowUnknownType: true });
    await session.appendAll([{ type: "x:a" }, { type: "b" }], { allowUnknownType: true });
    expect(session.revision).toBe(6);
  });
});

describe("an unknown type", () => {
  it("is listed with its count and first position, and is not damage", async () => {
    const path = logWith([
      line("mesage", "a"),
      line("x:note", "b", "a"),
      line("todo", "c", "b"),
      line("mesage", "d", "c"),
    ]);
    const session = await openSession(path, { access: "read" });
    const [header = ""] = readFileSync(path, "utf8").split("\n");
    const first = { id: "a", line: 2, offset: header.length + 1 };
    expect(session.diagnostics).toMatchObject([
      { kind: "unknown-type", type: "mesage", count: 2, ...first },
      { kind: "unknown-type", type: "todo", count: 1, id: "c", line: 4 },
    ]);
    expect(session.diagnostics[0]?.reason).toBe(
      '2 entries have the unknown type "mesage"; did you mean "message"?',
    );
    expect(await verifySession(session)).toMatchObject({
      ok: true,
      unknownTypeCount: 2,
      unknownTypes: [
        { type: "mesage", count: 2, nearest: "message", ...first },
        { type: "todo", count: 1, nearest: null, id: "c", line: 4 },
      ],
    });
  });

  it("is listed when it is appended, by this session or by another program", async () => {
    const session = await newSession();
    const none = session.diagnostics;
    await session.append({ type: "todo" }, { allowUnknownType: true });
    expect(unknownIn(session)).toMatchObject([{ type: "todo", count: 1 }]);
    expect(session.diagnostics).toBe(session.diagnostics);
    appendFileSync(session.path, line("todo", "a", session.leaf) + line("todu", "b", "a"));
    await session.refresh();
    expect(unknownIn(session)).toMatchObject([
      { type: "todo", count: 2, line: 2 },
      { type: "todu", count: 1, line: 4 },
    ]);
    expect(none).toEqual([]);
    const { diagnostics } = session;
    await session.append({ type: "custom", customType: "c" });
    expect(session.diagnostics).toBe(diagnostics);
  });

  it("is listed the same when the log is opened from a checkpoint", async () => {
    const types = ["custom", "todo", "x:y", "mesage", "todo"];
    const path = logWith(types.map((type, i) => line(type, `e${i}`, i === 0 ? null : `e${i - 1}`)));
    const options = { checkpointDir: temporaryDirectory(), checkpointEveryBytes: 1 };
    const cold = await openSession(path, options);
    const { diagnostics } = cold;
    await cold.append({ type: "custom", customType: "c" });
    await cold.close();
    const warm = await openSession(path, options);
    expect(warm.diagnostics).toEqual(diagnostics);
    expect(unknownIn(warm)).toHaveLength(2);
    await warm.append({ type: "mesage" }, { allowUnknownType: true });
    expect(unknownIn(warm)).toMatchObject([{ type: "todo" }, { type: "mesage", count: 2 }]);
  });

  it("is not counted when the entry turns out to be damaged", async () => {
    const torn = `{"type":"todo","id":"a","parentId":null,"timestamp":"${stamp}","v":\n`;
    const path = logWith([
      torn,
      line("todo", "b", "a"),
      line("mesage", "c", "b").replace("}", ",]"),
    ]);
    const session = await openSession(path, { access: "read" });
    await session.branch("c");
    for await (const _ of session.entries()) {
      // Reading confirms every row.
    }
    expect(unknownIn(session)).toMatchObject([{ type: "todo", count: 1, id: "b" }]);
    expect(await verifySession(session)).toMatchObject({
      ok: false,
      unknownTypes: [{ type: "todo", count: 1, id: "b" }],
    });
  });

  it("is counted as in a naive reading of any log (law)", async () => {
    const types = fc.array(fc.constantFrom("custom", "x:y", "todo", "mesage", "tit le", "é"));
    await fc.assert(
      fc.asyncProperty(types, types, async (stored, added) => {
        const path = logWith(stored.map((type, i) => line(type, `s${i}`)));
        const session = await openSession(path);
        const before = session.diagnostics;
        appendFileSync(path, added.map((type, i) => line(type, `a${i}`)).join(""));
        await session.refresh();
        expect(countsOf(before)).toEqual(naiveCounts(stored));
        expect(countsOf(session.diagnostics)).toEqual(naiveCounts([...stored, ...added]));
      }),
      { numRuns: 40 },
    );
  });

  it("is in a bounded list when a log has very many", async () => {
    const count = diagnosticsMax + 5;
    const path = logWith(Array.from({ length: count }, (_, i) => line(`t${i}`, `e${i}`)));
    const session = await openSession(path, { access: "read" });
    expect(unknownIn(session)).toHaveLength(diagnosticsMax);
    const report = await verifySession(session);
    expect(report.unknownTypeCount).toBe(count);
    expect(report.unknownTypes).toHaveLength(diagnosticsMax);
  });

  it("does not prevent copies or other appends", async () => {
    const path = logWith([line("mesage", "a"), line("todo", "b", "a")]);
    const { path: copy } = await forkSession(path, {
      target: join(temporaryDirectory(), "fork.jsonl"),
    });
    const fork = await openSession(copy, { access: "read" });
    expect(unknownIn(fork)).toHaveLength(2);
    for (const Manager of [PiManager, OmpManager]) {
      const manager = await Manager.open(path);
      const id = manager.appendCustomEntry("todo", { done: true });
      expect(manager.getEntry(id)).toMatchObject({ type: "custom", customType: "todo" });
      const said = manager.appendCustomMessageEntry("todo", "Done.", true);
      expect(manager.getEntry(said)).toMatchObject({ type: "custom_message" });
    }
    expect(await verifySession(await openSession(path))).toMatchObject({ ok: true });
  });
});

function countsOf(diagnostics: readonly Diagnostic[]): Record<string, number> {
  return Object.fromEntries(diagnostics.map(({ type = "", count = 0 }) => [type, count]));
}

function naiveCounts(types: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const type of types) if (!isNamedType(type)) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}
