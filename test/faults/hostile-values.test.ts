/**
 * Values that break other stores: lone surrogates, names of Object.prototype, nesting that no stack
 * holds, numbers out of range, ids of a megabyte, a hundred thousand kinds of entry. They are kept
 * as they are or refused by code; nothing crashes, and nothing changes for the rest of the process.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { EntryDraft, Session } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { verifySession } from "@branchlog/tools";
import { collected } from "../support/collected.ts";
import { patience, runs } from "../support/fault-seed.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { thrownBy, typedError } from "../support/typed-errors.ts";

const time = "2026-01-01T00:00:00.000Z";
const headerOf = (version: number): string =>
  `{"type":"session","version":${version},"id":"s","timestamp":"${time}","cwd":"/w"}\n`;

const prototypeKeys = Reflect.ownKeys(Object.prototype);
afterEach(() => expect(Reflect.ownKeys(Object.prototype)).toEqual(prototypeKeys));

const newPath = (): string => join(temporaryDirectory(), "s.jsonl");

/** Asks a session everything; returns the codes of what it refused. */
async function askAll(session: Session): Promise<string[]> {
  const questions: readonly (() => unknown)[] = [
    () => session.context(),
    () => session.branch(),
    () => verifySession(session),
    () => session.usage,
    () => session.summary,
    () => session.tips().map(({ id }) => [session.children(id), session.label(id)]),
    () => session.tree(),
    () => session.settings,
    () => [session.name, session.labels, session.diagnostics],
    async () => {
      for await (const { id } of session.entries()) await session.entry(id);
    },
  ];
  const codes: string[] = [];
  for (const question of questions) {
    const [answer] = await Promise.allSettled([(async () => question())()]);
    if (answer.status === "rejected") codes.push(typedError(answer.reason).code);
  }
  return codes;
}

/** The same of pi's face, whose copies are sessions as well. */
function askManager(path: string): string[] {
  const manager = SessionManager.open(path);
  const directory = temporaryDirectory();
  const questions: readonly (() => unknown)[] = [
    () => manager.getEntries(),
    () => manager.getTree(),
    () => manager.buildSessionContext(),
    () => manager.buildSessionProjection(),
    () => manager.buildContextEntries(),
    () => SessionManager.forkFrom(path, "/w", directory).getEntries(),
    () => SessionManager.inMemory("/w", undefined, manager.getEntries()),
    () => manager.createBranchedSession(manager.getLeafId() ?? ""),
  ];
  return questions.flatMap((question) => {
    const error = thrownBy(question);
    return error === undefined ? [] : [typedError(error).code];
  });
}

/** Appends the drafts with these ids, and finds them again, here and in a separate session. */
async function expectKept(drafts: readonly (readonly [string, EntryDraft])[]): Promise<void> {
  const session = await createSession(newPath());
  for (const [id, draft] of drafts) await session.append(draft, { id });
  const again = await openSession(session.path);
  for (const one of [session, again]) {
    for (const [id, draft] of drafts) {
      // JSON text, since no comparison of objects sees a key called __proto__.
      const { id: found, parentId: _, timestamp: __, ...fields } = (await one.entry(id)) ?? {};
      expect([found, JSON.stringify(fields)]).toEqual([id, JSON.stringify(draft)]);
    }
    expect((await one.branch()).map(({ id }) => id)).toEqual(drafts.map(([id]) => id));
    expect(await askAll(one)).toEqual([]);
    expect(one.diagnostics).toEqual([]);
  }
  for (const [id, draft] of drafts) {
    expect(await again.append(draft, { id })).toMatchObject({ id });
  }
  expect(again.revision).toBe(drafts.length);
  expect(askManager(session.path)).toEqual([]);
}

const custom = (data: unknown, customType = "x"): EntryDraft => ({
  type: "custom",
  customType,
  data,
});

describe("texts", () => {
  it("with lone surrogates are distinct, also as ids", async () => {
    const texts = ["\ud800", "\udc00", "a\ud800", "\udfff\ud800", "\ufffd", "\u0000", "\u2028"];
    await expectKept(texts.map((text) => [text, custom(text, text)]));
  });

  const size = runs(300_000, 1_000_000);

  it(`of ${size} letters can be ids, types and parents`, async () => {
    const long = ["a", "b", "ä"].map((letter) => letter.repeat(size));
    await expectKept(long.map((text) => [text, custom(1, text)]));
  });
});

describe("names of inherited members", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

  it("are ids, types and labels like any other", async () => {
    await expectKept(names.map((name) => [name, custom(name, name)]));
    const session = await createSession(newPath());
    for (const name of names) expect(await session.entry(name)).toBeUndefined();
    for (const name of names) expect(session.label(name)).toBeUndefined();
    await session.append(custom(1), { id: "__proto__" });
    await session.append({ type: "label", targetId: "__proto__", label: "constructor" });
    const again = await openSession(session.path);
    expect([...again.labels.keys()]).toEqual(["__proto__"]);
    expect(again.label("__proto__")).toMatchObject({ label: "constructor" });
    expect(again.label("constructor")).toBeUndefined();
  });

  it("are keys like any other, at any depth", async () => {
    const hostile = JSON.parse(
      '{"type":"x:unheard_of","__proto__":{"polluted":1},"a":[{"__proto__":{"polluted":2}}],' +
        '"constructor":{"prototype":{"polluted":3}}}',
    ) as EntryDraft;
    await expectKept([
      ["one", hostile],
      ["two", custom(hostile)],
    ]);
    expect("polluted" in {}).toBe(false);
  });
});

describe("nesting beyond any stack", () => {
  const depth = runs(20_000, 100_000);
  const text = `${"[".repeat(depth)}${"]".repeat(depth)}`;

  it("is rejected with a code when it is appended, and changes nothing (Verifies: P12)", async () => {
    const session = await createSession(newPath());
    const nested: unknown = JSON.parse(text);
    const failed = session.append(custom(nested));
    await expect(failed).rejects.toMatchObject({ code: "ERR_UNSERIALIZABLE" });
    expect([session.revision, session.leaf]).toEqual([0, null]);
    await session.append(custom("fine"));
    expect(session.revision).toBe(1);
  });

  it.each([1, 2, 3])(
    "is read in a log of version %i, migrated and skipped (Verifies: P10, P18)",
    patience,
    async (version) => {
      const path = newPath();
      const lines = [
        `{"type":"message","id":"a","parentId":null,"timestamp":"${time}","message":{"role":"user","content":${text},"timestamp":1}}`,
        `{"type":"custom","customType":"x","data":${text},"id":"b","parentId":"a","timestamp":"${time}"}`,
        `{"type":"label","id":"c","parentId":"b","timestamp":"${time}","targetId":"a","label":${text}}`,
        `{"type":"compaction","id":"d","parentId":"c","timestamp":"${time}","summary":${text},"firstKeptEntryId":"a","tokensBefore":1}`,
        `{"type":"message","id":"e","parentId":"d","timestamp":"${time}","message":{"role":"user","content":"fine","timestamp":1}}`,
      ];
      writeFileSync(path, `${headerOf(version)}${lines.join("\n")}\n`);
      const session = await openSession(path);
      expect(await askAll(session)).toEqual([]);
      expect(await session.branch()).toHaveLength(5);
      const { id } = await session.append(custom("after"));
      expect(await askAll(session)).toEqual([]);
      const again = await openSession(path);
      expect([again.leaf, again.revision]).toEqual([id, 6]);
      // Only what is written from objects again has to be refused.
      expect(askManager(path)).toEqual(["ERR_UNSERIALIZABLE"]);
    },
  );
});

describe("numbers out of range", () => {
  it("stop neither totals nor dates nor walks", async () => {
    const path = newPath();
    const usage = `{"input":1e400,"output":-1e400,"cacheRead":1e308,"cacheWrite":1e308,"totalTokens":123456789012345678901234567890,"cost":{"total":1e400}}`;
    const lines = [
      `{"type":"message","id":"a","parentId":null,"timestamp":1e400,"message":{"role":"user","content":"x","timestamp":1e400}}`,
      `{"type":"message","id":"b","parentId":"a","timestamp":-1e400,"message":{"role":"assistant","content":[],"usage":${usage},"timestamp":-9e99}}`,
      `{"type":"compaction","id":"c","parentId":"b","timestamp":"99999999999","summary":"s","firstKeptEntryId":"a","tokensBefore":1e999}`,
      `{"type":"usage","id":"d","parentId":"c","timestamp":1e308,"kind":"k","provider":"p","model":"m","usage":${usage}}`,
      `{"type":"label","id":"e","parentId":"d","timestamp":-0,"targetId":"a","label":"L"}`,
    ];
    writeFileSync(path, `${headerOf(3)}${lines.join("\n")}\n`);
    const session = await openSession(path);
    expect(await askAll(session)).toEqual([]);
    expect((await session.branch()).map(({ id }) => id).join("")).toBe("abcde");
    expect(askManager(path)).toEqual([]);
    const named = join(temporaryDirectory(), "2026-01-01T00-00-00-000Z_s.jsonl");
    writeFileSync(named, `${headerOf(3).replace(`"${time}"`, "1e400")}${lines.join("\n")}\n`);
    expect(await SessionManager.list("/w", join(named, ".."))).toHaveLength(1);
  });

  it("are written as JSON writes them", async () => {
    const session = await createSession(newPath());
    const { id } = await session.append(
      custom([Number.POSITIVE_INFINITY, Number.NaN, -0, 2 ** 53 + 1, 5e-324]),
    );
    const again = await openSession(session.path);
    expect(await again.entry(id)).toMatchObject({ data: [null, null, 0, 2 ** 53, 5e-324] });
  });
});

const count = runs(20_000, 100_000);

describe(`${count} kinds of entry`, () => {
  it("are distinguished, each at the cost of one", patience, async () => {
    const path = newPath();
    const line = (n: number): string =>
      `{"type":"custom","customType":"type-${n}","data":${n},"id":"e${n}","parentId":${n === 0 ? null : `"e${n - 1}"`},"timestamp":"${time}"}`;
    const lines = Array.from({ length: count }, (_, n) => line(n));
    writeFileSync(path, `${headerOf(3)}${lines.join("\n")}\n`);
    const session = await openSession(path);
    await session.append(custom("new", "another"));
    const found = session.entries({ customType: "type-777" });
    expect(await collected(found)).toEqual([JSON.parse(line(777))]);
    expect(session.revision).toBe(count + 1);
    expect(session.tips()).toMatchObject([{ customType: "another", parentId: `e${count - 1}` }]);
  });
});
