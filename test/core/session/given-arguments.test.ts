/** What callers in JavaScript pass where types would have held them back: refused with a code. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as connectonion from "@branchlog/agents/connectonion";
import * as core from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { resolveBlobs } from "@branchlog/agents/omp";
import { live } from "@branchlog/core/live";
import * as library from "@branchlog/library";
import { sessions$ } from "@branchlog/library/live";
import { SessionManager } from "@branchlog/agents/pi";
import { managersWith } from "@branchlog/agents/testing";
import { userDraft } from "@branchlog/core/testing";
import * as tools from "@branchlog/tools";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

// Cast: no value of JavaScript is what these calls want.
const none = undefined as never;
const nothing = null as never;
const text = "nope" as never;

const refused = { code: "ERR_INVALID_ARGUMENT" };

async function read(items: AsyncIterable<unknown>): Promise<void> {
  for await (const item of items) expect(item).toBeDefined();
}

const newSession = (): Promise<Session> =>
  core.createSession(join(temporaryDirectory(), "s.jsonl"), { cwd: "/w" });

/** Values with their JSON as titles, as given by a caller without types. */
const titled = (...values: readonly unknown[]) =>
  values.map((one) => [JSON.stringify(one), one as never] as const);

describe("opening and creating a session", () => {
  it.each(
    titled(
      null,
      "read",
      { access: "readonly" },
      { access: null, checkpoint: "yes" },
      { allowNewerVersion: "no" },
      { lockWaitMs: Number.NaN },
      { pollMs: Number.NaN },
      { durability: { intervalMs: Number.NaN } },
      { lockWaitMs: "300" },
      { lockWaitMs: -1 },
      { bodyCacheBytesMax: -1 },
      { queuedBytesMax: -5 },
      { batchBytesMax: "x" },
      { lineBytesMax: 0 },
      { checkpointEveryBytes: "8" },
      { checkpoint: "yes" },
      { checkpointDir: 5 },
      { checkpointDir: "" },
      { durability: "dsik" },
      { durability: {} },
      { durability: { intervalMs: "5" } },
      { durability: { intervalMs: 0 } },
      { pollMs: 0 },
      { pollMs: -5 },
      { dialect: "" },
    ),
  )("rejects %s", async (_, given) => {
    const { path } = await newSession();
    await expect(core.openSession(path, given)).rejects.toMatchObject(refused);
    await expect(core.createSession(`${path}.other`, given)).rejects.toMatchObject(refused);
  });

  it.each([undefined, null, "", 5, new URL("file:///tmp/s.jsonl")])(
    "rejects the path %s",
    async (path) => {
      await expect(core.openSession(path as never)).rejects.toMatchObject(refused);
      await expect(core.createSession(path as never)).rejects.toMatchObject(refused);
    },
  );

  it.each(titled({ cwd: 5 }, { parentSession: { a: 1 } }, { dialect: "other" }, { title: "t" }))(
    "rejects %s for a new session",
    async (_, given) => {
      const creating = core.createSession(join(temporaryDirectory(), "s.jsonl"), given);
      await expect(creating).rejects.toMatchObject(refused);
    },
  );

  it("names the option and its valid values", async () => {
    const { path } = await newSession();
    const opening = core.openSession(path, { access: "readonly" as never });
    await expect(opening).rejects.toThrow('access must be "read" or "append", not "readonly"');
  });
});

describe("appending", () => {
  const user = userDraft("Hi");

  it.each(
    titled(
      null,
      "tail",
      { parent: "tial" },
      { parent: "12345678" },
      { parent: {} },
      { parent: { id: 5 } },
      { parent: null, id: 5 },
      { id: "" },
      { onDiverged: "rejct" },
      { expectedTail: 5 },
      { allowUnknownType: "yes" },
    ),
  )("rejects %s", async (_, given) => {
    const session = await newSession();
    const before = readFileSync(session.path);
    await expect(session.append(user, given)).rejects.toMatchObject(refused);
    expect(readFileSync(session.path)).toEqual(before);
  });

  it.each([
    { type: "compaction", summary: "S", firstKeptEntryID: "a", tokensBefore: 5 },
    { type: "compaction", summary: "S", firstKeptEntryId: "a", tokensBefore: "5" },
    { type: "compaction", firstKeptEntryId: null, tokensBefore: 5 },
    { type: "compaction", summary: "S", firstKeptEntryId: null, tokensBefore: Number.NaN },
    { type: "label", targetID: "a", label: "x" },
    { type: "session_info", nmae: "x" },
    { type: "model_change", provider: "p" },
    { type: "model_change", model: 5 },
    { type: "thinking_level_change" },
    { type: "custom", data: 1 },
    { type: "custom_message", customType: "x", content: { text: "x" }, display: true },
    { type: "branch_summary", summary: "S" },
    { type: "usage", kind: "x", provider: "p", model: "m" },
    { type: "context_edit", targetId: "a" },
  ])("rejects %j, which would permanently store something else", async (draft) => {
    const session = await newSession();
    const before = readFileSync(session.path);
    await expect(session.append(draft as never)).rejects.toMatchObject(refused);
    const both = session.appendAll([user, draft as never]);
    await expect(both).rejects.toMatchObject(refused);
    expect(readFileSync(session.path)).toEqual(before);
  });

  it.each([
    { type: "compaction", summary: "", firstKeptEntryId: null, tokensBefore: 0, more: 1 },
    { type: "model_change", model: "p/m" },
    { type: "thinking_level_change", thinkingLevel: null },
    { type: "custom", customType: "x" },
    { type: "custom_message", customType: "x", content: [], display: false },
    { type: "context_edit", targetId: "", replacement: null },
    { type: "x:of_another_program" },
  ])("accepts %j", async (draft) => {
    const session = await newSession();
    const { id } = await session.append(draft as never);
    expect(await session.entry(id)).toMatchObject({ type: draft.type });
  });

  it("names the field that is missing", async () => {
    const session = await newSession();
    const nameless = session.append({ type: "session_info", nmae: "x" } as never);
    await expect(nameless).rejects.toThrow(
      "name of a session_info entry must be a string, but it is missing",
    );
  });
});

const ofSession: Readonly<Record<string, (session: Session) => unknown>> = {
  "setName(undefined)": (session) => session.setName(none),
  "setName(name, null)": (session) => session.setName("n", nothing),
  "waitFor()": (session) => live(session).waitFor(none),
  "waitFor({})": (session) => live(session).waitFor({} as never),
  "waitFor(what, null)": (session) => live(session).waitFor({ revision: 0 }, nothing),
  "entries(null)": async (session) => read(session.entries(nothing)),
  "entries(text)": async (session) => read(session.entries(text)),
  "entries({ on: text })": async (session) => read(session.entries({ on: text })),
  "entries({ from: 0 })": async (session) => read(session.entries({ from: 0 })),
  "pick(id)": (session) => session.pick("a", none),
  "pick(id, text)": (session) => session.pick("a", text),
  "context(null)": (session) => session.context(nothing),
  "context(text)": (session) => session.context(text),
  "lines(null)": async (session) => read(session.lines(nothing)),
  "events({ from: 1.5 })": async (session) => read(live(session).events({ from: 1.5 })),
  "entries$({ from: 0 })": (session) =>
    new Promise((_, reject) => {
      live(session).entries$({ from: 0 }).subscribe({ error: reject });
    }),
  "events(null)": async (session) => read(live(session).events(nothing)),
  "entries$(null)": async (session) => live(session).entries$(nothing),
  "moveTo(id, null)": (session) => session.moveTo("a", nothing),
  "verify(null)": (session) => tools.verifySession(session, nothing),
  "lines({ from: 0 })": async (session) => read(session.lines({ from: 0 })),
  "appendAll()": (session) => session.appendAll(none),
};

const ofPackage: Readonly<Record<string, (directory: string) => unknown>> = {
  "deleteSession()": () => library.deleteSession(none),
  "deleteSession(path, null)": () => library.deleteSession("gone.jsonl", nothing),
  "resolveSession()": (directory) => library.resolveSession(none, [directory]),
  "resolveSession(name, places, null)": (directory) =>
    library.resolveSession("x", [directory], nothing),
  "findSessions(text)": () => library.findSessions(text),
  "findSessions([undefined])": () => library.findSessions([none]),
  "findSessions(places, null)": (directory) => library.findSessions([directory], nothing),
  "searchSessions()": () => read(library.searchSessions(none, "x")),
  "searchSessions(directory)": (directory) => read(library.searchSessions(directory, none)),
  "searchSessions(directory, query, null)": (directory) =>
    read(library.searchSessions(directory, "x", nothing)),
  "sessions$()": async () => sessions$(none),
  "sessions$(directory, null)": async (directory) => sessions$(directory, nothing),
  "sessions$(directory, { pollMs: 0 })": async (place) => sessions$(place, { pollMs: 0 }),
  "live({})": async () => live({}),
  "convertSession(path)": () => tools.convertSession("gone.jsonl", none),
  "importSession()": () => tools.importSession(none, "x.jsonl"),
  "exportLinear(path)": () => tools.exportLinear("gone.jsonl", none),
};

const invalid = {
  code: "ERR_INVALID_ARGUMENT",
  message: expect.stringMatching(/^(?!.*this is function)/u) as unknown,
};

it.each(Object.entries(ofSession))("a session rejects %s, and does not change", async (_, call) => {
  const session = await core.memorySession({ cwd: "/w" });
  await session.append({ type: "custom", customType: "x" }, { id: "a" });
  await expect(call(session)).rejects.toMatchObject(invalid);
  expect([session.revision, session.leaf, session.name]).toEqual([1, "a", undefined]);
});

it.each(Object.entries(ofPackage))("a package rejects %s", async (_, call) => {
  await expect(call(temporaryDirectory())).rejects.toMatchObject(invalid);
});

/** As options that a caller in JavaScript misspelt. Cast: the compiler refuses them. */
const misspelt = (name: string, others: object = {}): never =>
  ({ ...others, [name]: undefined }) as never;

type Call = readonly [meant: string, call: (path: string, directory: string) => unknown];

const misspeltOf: Readonly<Record<string, Call>> = {
  openSession: ["access", (path) => core.openSession(path, misspelt("acces"))],
  createSession: ["cwd", (path) => core.createSession(path, misspelt("cwdd"))],
  openOrCreateSession: ["cwd", (path) => core.openOrCreateSession(path, misspelt("cwdd"))],
  memorySession: ["title", () => core.memorySession(misspelt("titel"))],
  "a port": ["clock", () => core.memorySession({ ports: misspelt("clok") })],
  forkSession: ["target", (path) => core.forkSession(path, misspelt("traget"))],
  findSessions: ["artifacts", (_, place) => library.findSessions([place], misspelt("artefacts"))],
  resolveSession: [
    "catalog",
    (_, place) => library.resolveSession("x", [place], misspelt("catalogue")),
  ],
  searchSessions: [
    "contextLines",
    (_, place) => read(library.searchSessions(place, "x", misspelt("contextLine"))),
  ],
  sessions$: ["pollMs", async (_, place) => sessions$(place, misspelt("pollMS"))],
  resolveBlobs: [
    "onProblem",
    async (_, directory) => resolveBlobs([], misspelt("onProblems", { directory })),
  ],
  managersWith: ["durability", async () => managersWith(misspelt("durabilty"))],
  planRepair: ["bridge", (path) => tools.planRepair(path, misspelt("brige"))],
  migrateSession: ["signal", (path) => tools.migrateSession(path, misspelt("singal"))],
  deleteSession: ["force", (path) => library.deleteSession(path, misspelt("forced"))],
  convertSession: [
    "target",
    (path) => tools.convertSession(path, misspelt("tarGet", { to: "omp" })),
  ],
  importSession: ["from", (path) => tools.importSession(path, `${path}.x`, misspelt("form"))],
  exportMarkdown: ["at", (path) => tools.exportMarkdown(path, `${path}.x`, misspelt("att"))],
  exportLinear: ["at", (path) => tools.exportLinear(path, `${path}.x`, misspelt("att"))],
  markdownPieces: ["at", (path) => read(tools.markdownPieces(path, misspelt("att")))],
  linearPieces: ["at", (path) => read(tools.linearPieces(path, misspelt("att")))],
  openConnectonion: [
    "lockWaitMs",
    (path) => connectonion.openConnectonion(path, misspelt("lockWait")),
  ],
  createConnectonion: [
    "systemPrompt",
    (path) => connectonion.createConnectonion(path, misspelt("systemPromt", { name: "x" })),
  ],
  isConnectonion: ["ports", async (path) => connectonion.isConnectonion(path, misspelt("prots"))],
  importConnectonion: [
    "cwd",
    (path) => connectonion.importConnectonion(path, `${path}.x`, misspelt("cvd")),
  ],
  exportConnectonion: [
    "name",
    (path) => connectonion.exportConnectonion(path, `${path}.x`, misspelt("nmae")),
  ],
};

const misspeltOfSession: Readonly<
  Record<string, readonly [string, (session: Session) => unknown]>
> = {
  append: ["expectedTail", (s) => s.append(userDraft("x"), misspelt("expectedTial"))],
  appendAll: ["parent", (s) => s.appendAll([userDraft("x")], misspelt("parnet"))],
  setName: ["signal", (s) => s.setName("x", misspelt("signals"))],
  moveTo: ["persist", (s) => s.moveTo(null, misspelt("persists"))],
  entries: ["reverse", async (s) => read(s.entries(misspelt("revers")))],
  lines: ["type", async (s) => read(s.lines(misspelt("tpye")))],
  context: ["bridgeGaps", (s) => s.context(misspelt("bridgeGap"))],
  events: ["live", async (s) => read(live(s).events(misspelt("life")))],
  entries$: ["from", async (s) => live(s).entries$(misspelt("form"))],
  waitFor: ["timeoutMs", (s) => live(s).waitFor({ revision: 0 }, misspelt("timeout"))],
  verifySession: ["signal", (s) => tools.verifySession(s, misspelt("sginal"))],
};

const meaning = (meant: string): object => ({
  code: "ERR_INVALID_ARGUMENT",
  message: expect.stringContaining(`Did you mean "${meant}"?`) as unknown,
});

describe("a misspelt option", () => {
  it.each(Object.entries(misspeltOf))(
    "is rejected when it is passed to %s",
    async (_, [meant, call]) => {
      const directory = temporaryDirectory();
      const path = join(directory, "s.jsonl");
      await expect((async () => call(path, directory))()).rejects.toMatchObject(meaning(meant));
      expect([path, `${path}.x`].filter((file) => existsSync(file))).toEqual([]);
    },
  );

  it.each(Object.entries(misspeltOfSession))(
    "is rejected when %s gets it",
    async (_, [meant, call]) => {
      const session = await core.memorySession({ cwd: "/w" });
      await expect((async () => call(session))()).rejects.toMatchObject(meaning(meant));
      expect([session.revision, session.name]).toEqual([0, undefined]);
    },
  );

  it("is rejected when applyRepair gets it, and the log is not changed", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    await core.createSession(path, { cwd: "/w" });
    const plan = await tools.planRepair(path);
    const repair = tools.applyRepair(plan, misspelt("outptu"));
    await expect(repair).rejects.toMatchObject(meaning("output"));
  });

  it("is reported with all known options when none is similar", async () => {
    const session = core.openSession("s.jsonl", misspelt("quick"));
    await expect(session).rejects.toThrow(/"quick" is unknown. Known: access, ports, .*signal$/);
  });

  it("has no id when several entries are appended", async () => {
    const session = await core.memorySession({ cwd: "/w" });
    const append = session.appendAll([userDraft("x"), userDraft("y")], misspelt("id"));
    await expect(append).rejects.toThrow('"id" is unknown');
  });

  it("is accepted by the drop-ins when pi's own parameters have more keys, as in pi", () => {
    const manager = SessionManager.inMemory("/w", misspelt("parentSesion", { id: "own" }));
    expect(manager.getSessionId()).toBe("own");
  });
});
