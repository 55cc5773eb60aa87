/** Exports of one path as a separate log. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { convertSession, exportLinear } from "@branchlog/tools";
import { idsOf } from "../../support/collected.ts";
import { fixtureFile } from "../../support/fixture.ts";
import { reproducible } from "../../support/reproducible-ports.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixtureNames } from "../../core/projections/fixture-session.ts";
import { rejection, typedError } from "../../support/typed-errors.ts";

async function exported(source: string, at?: string, lineBytesMax?: number): Promise<Session> {
  const target = join(temporaryDirectory(), "linear.jsonl");
  const limit = lineBytesMax === undefined ? {} : { lineBytesMax };
  const report = await exportLinear(source, target, { at, ports: reproducible(), ...limit });
  expect(report).toMatchObject({ path: target, sizeBytes: readFileSync(target).length });
  return openSession(target, { access: "read" });
}

/** The session in pi's words, with all its branches. */
async function convertedForPi(source: string): Promise<Session> {
  const target = join(temporaryDirectory(), "pi.jsonl");
  await convertSession(source, { to: "pi", target });
  return openSession(target, { access: "read" });
}

function linesOf(path: string): string[] {
  return readFileSync(path, "utf8").split("\n").slice(0, -1);
}

const idsOnBranch = (session: Session): Promise<string[]> =>
  idsOf(session.entries({ on: "branch" }));

describe.each([...fixtureNames(), "realistic-session"])("a path of %s", (name) => {
  const source = fixtureFile(name);

  it("is a chain with the context of the source for pi, at each of its tips", async () => {
    const session = await openSession(source, { access: "read" });
    const forPi = await convertedForPi(source);
    const ends = [undefined, ...session.tips().map(({ id }) => id)];
    for (const at of ends) {
      const linear = await exported(source, at);
      expect(linear.header.version).toBe(3);
      expect(linear.header.id).toBe(session.header.id);
      expect(linear.diagnostics.filter(({ kind }) => kind !== "unknown-type")).toEqual([]);
      expect(linear.name).toBe(session.name);
      const of = at === undefined ? session.leaf : at;
      const { truncatedAt: _gap, ...context } = await forPi.context({ at: of });
      expect(await linear.context()).toEqual(context);
      expect(context.messages).toEqual((await session.context({ at: of })).messages);
      const ids = await idsOnBranch(linear);
      expect(ids).toHaveLength(linear.revision);
      expect(new Set(ids).size).toBe(ids.length);
      for (const [targetId, label] of session.labels) {
        if (ids.includes(targetId)) expect(linear.label(targetId)).toEqual(label);
      }
    }
  });

  it("is the same whatever the limit on lines is", async () => {
    const whole = linesOf((await exported(source)).path);
    expect(linesOf((await exported(source, undefined, 64)).path)).toEqual(whole);
  });
});

describe("a linear export", () => {
  it("has the bytes of the source when the path is complete", async () => {
    const source = fixtureFile("pi-linear");
    expect(linesOf((await exported(source)).path)).toEqual(linesOf(source));
  });

  it("keeps names and labels of other branches as stored", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const session = await createSession(path, { cwd: "/w", id: "s" });
    const say = async (content: string): Promise<string> => {
      const message = { role: "user", content, timestamp: 1 } as const;
      return (await session.append({ type: "message", message })).id;
    };
    const first = await say("one");
    const second = await say("two");
    await session.append({ type: "label", targetId: second, label: "old" });
    await session.append({ type: "label", targetId: first, label: "kept" });
    const parent = { parent: { id: first } };
    const cleared = await session.append({ type: "label", targetId: second }, parent);
    const named = await session.append({ type: "session_info", name: "Elsewhere" });
    await session.close();
    const all = linesOf(path);
    const linear = await exported(path, second);
    expect(linear.name).toBe("Elsewhere");
    expect([...linear.labels.keys()]).toEqual([first]);
    const ids = await idsOnBranch(linear);
    expect(ids.slice(0, 2)).toEqual([first, second]);
    expect(ids).not.toContain(cleared.id);
    expect(ids.at(-1)).toBe(named.id);
    expect(linesOf(linear.path)[2]).toBe(all[2]);
  });

  it("rejects an existing name and a missing entry", async () => {
    const target = join(temporaryDirectory(), "there.jsonl");
    writeFileSync(target, "mine");
    const code = async (action: Promise<unknown>): Promise<string> =>
      typedError(await rejection(action)).code;
    const source = fixtureFile("pi-linear");
    expect(await code(exportLinear(source, target))).toBe("ERR_LOG_EXISTS");
    const other = `${target}.other`;
    expect(await code(exportLinear(source, other, { at: "nobody" }))).toBe("ERR_ENTRY_NOT_FOUND");
    expect(readFileSync(target, "utf8")).toBe("mine");
  });

  it("has the last name and labels of the file, even if not on the path", async () => {
    const entry = (type: string, id: string, parentId: string | null, rest: object): object => {
      return { type, id, parentId, timestamp: `${time}#${id}`, ...rest };
    };
    const path = logOf([
      entry("session_info", "2", "1", { name: "first in the file" }),
      entry("label", "4", "2", { targetId: "2", label: "first in the file" }),
      entry("label", "5", "4", { targetId: "1", label: "cleared" }),
      entry("label", "0", null, { targetId: "2", label: "last in the file" }),
      entry("label", "6", "0", { targetId: "1" }),
      entry("session_info", "1", "6", { name: "last in the file" }),
    ]);
    const [session, linear] = [await openSession(path), await exported(path, "5")];
    expect(linear.name).toBe("last in the file");
    expect([linear.name, linear.labels]).toEqual([session.name, session.labels]);
    const own = ["0", "6", "1", "2", "4", "5"];
    const ids = await idsOnBranch(linear);
    expect([ids.slice(0, 6), ids.length]).toEqual([own, 9]);
    // What is exported again says it all in its place.
    expect(linesOf((await exported(linear.path)).path)).toEqual(linesOf(linear.path));
  });

  it("of a damaged entry is the path to it without it, like its context", async () => {
    const said = (id: string, parentId: string | null): string => {
      const message = { role: "user", content: `m${id}`, timestamp: 1 };
      return JSON.stringify({ type: "message", id, parentId, timestamp: time, message });
    };
    const path = logOf([said("1", null), said("2", "1").replace('"m2"', "torn"), said("3", "2")]);
    const session = await openSession(path, { access: "read" });
    expect((await session.context({ at: "2" })).messages).toHaveLength(1);
    const linear = await exported(path, "2");
    expect(await idsOnBranch(linear)).toEqual(["1"]);
    expect(await linear.context()).toEqual(await session.context({ at: "2" }));
  });

  it("of any tree is the path, once, for any order of stored entries", async () => {
    const parents = fc.array(fc.nat(1000), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(parents, fc.nat(1000), fc.boolean(), async (choices, chosen, isTurned) => {
        const tree = treeOf(choices);
        const path = logOf(isTurned ? tree.toReversed() : tree);
        const at = `e${chosen % choices.length}`;
        const session = await openSession(path, { access: "read" });
        const linear = await exported(path, at);
        const wanted = (await session.branch(at)).map(({ id }) => id);
        expect((await idsOnBranch(linear)).slice(0, wanted.length)).toEqual(wanted);
        expect(await linear.context()).toEqual(await session.context({ at }));
        expect(linear.name).toBe(session.name);
        for (const id of wanted) expect(linear.label(id)).toEqual(session.label(id));
      }),
      { numRuns: 40 },
    );
  });
});

const time = "2026-01-01T00:00:00.000Z";

/** A session of entries, and of lines as they are. */
function logOf(entries: readonly (object | string)[]): string {
  const path = join(temporaryDirectory(), "s.jsonl");
  const header = { type: "session", version: 3, id: "s", timestamp: time, cwd: "/w" };
  const lines = [header, ...entries].map((line) =>
    typeof line === "string" ? line : JSON.stringify(line),
  );
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

/** A random tree of messages, labels, names and compactions. */
function treeOf(choices: readonly number[]): object[] {
  return choices.map((choice, i) => {
    const parentId = i === 0 ? null : `e${choice % i}`;
    const entry = { id: `e${i}`, parentId, timestamp: time };
    const targetId = `e${choice % (i + 1)}`;
    switch (choice % 5) {
      case 0:
        return { type: "label", ...entry, targetId, label: choice % 2 === 0 ? `l${i}` : "" };
      case 1:
        return { type: "session_info", ...entry, name: `n${i}` };
      case 2:
        return {
          type: "compaction",
          ...entry,
          summary: `s${i}`,
          firstKeptEntryId: targetId,
          tokensBefore: 1,
        };
      default:
        return {
          type: "message",
          ...entry,
          message: { role: "user", content: `m${i}`, timestamp: 1 },
        };
    }
  });
}
