/** What callers in JavaScript pass where types would have held them back: said with a code. */
import { describe, expect, it } from "vitest";
import { sessions$ } from "@branchlog/library/live";
import { live } from "@branchlog/core/live";
import { deleteSession, findSessions, resolveSession, searchSessions } from "@branchlog/library";
import { convertSession, exportLinear, importSession, verifySession } from "@branchlog/tools";
import { memorySession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

// Cast: no value of JavaScript is what these calls want.
const none = undefined as never;
const nothing = null as never;
const text = "nope" as never;

async function read(items: AsyncIterable<unknown>): Promise<void> {
  for await (const item of items) expect(item).toBeDefined();
}

const ofSession: Readonly<Record<string, (session: Session) => unknown>> = {
  "setName(undefined)": (session) => session.setName(none),
  "setName(name, null)": (session) => session.setName("n", nothing),
  "waitFor()": (session) => live(session).waitFor(none),
  "waitFor({})": (session) => live(session).waitFor({} as never),
  "waitFor(what, null)": (session) => live(session).waitFor({ revision: 0 }, nothing),
  "pick(id)": (session) => session.pick("a", none),
  "pick(id, text)": (session) => session.pick("a", text),
  "context(null)": (session) => session.context(nothing),
  "context(text)": (session) => session.context(text),
  "lines(null)": async (session) => read(session.lines(nothing)),
  "events(null)": async (session) => read(live(session).events(nothing)),
  "entries$(null)": async (session) => live(session).entries$(nothing),
  "moveTo(id, null)": (session) => session.moveTo("a", nothing),
  "verify(null)": (session) => verifySession(session, nothing),
};

const ofPackage: Readonly<Record<string, (directory: string) => unknown>> = {
  "deleteSession()": () => deleteSession(none),
  "deleteSession(path, null)": () => deleteSession("gone.jsonl", nothing),
  "resolveSession()": (directory) => resolveSession(none, [directory]),
  "resolveSession(name, places, null)": (directory) => resolveSession("x", [directory], nothing),
  "findSessions(text)": () => findSessions(text),
  "findSessions([undefined])": () => findSessions([none]),
  "findSessions(places, null)": (directory) => findSessions([directory], nothing),
  "searchSessions()": () => read(searchSessions(none, "x")),
  "searchSessions(directory)": (directory) => read(searchSessions(directory, none)),
  "searchSessions(directory, query, null)": (directory) =>
    read(searchSessions(directory, "x", nothing)),
  "sessions$()": async () => sessions$(none),
  "sessions$(directory, null)": async (directory) => sessions$(directory, nothing),
  "convertSession(path)": () => convertSession("gone.jsonl", none),
  "importSession()": () => importSession(none, "x.jsonl"),
  "exportLinear(path)": () => exportLinear("gone.jsonl", none),
};

const invalid = {
  code: "ERR_INVALID_ARGUMENT",
  message: expect.stringMatching(/^(?!.*this is function)/u) as unknown,
};

describe("a session", () => {
  it.each(Object.entries(ofSession))("refuses %s, and is what it was", async (_, call) => {
    const session = await memorySession({ cwd: "/w" });
    await session.append({ type: "custom", customType: "x" }, { id: "a" });
    await expect(call(session)).rejects.toMatchObject(invalid);
    expect([session.revision, session.leaf, session.name]).toEqual([1, "a", undefined]);
  });
});

describe("a package", () => {
  it.each(Object.entries(ofPackage))("refuses %s", async (_, call) => {
    await expect(call(temporaryDirectory())).rejects.toMatchObject(invalid);
  });
});
