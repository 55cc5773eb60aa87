/** Misspelt options of every call that takes some: refused before anything else is done. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as connectonion from "@branchlog/connectonion";
import * as core from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { resolveBlobs } from "@branchlog/core/entries";
import { live } from "@branchlog/core/live";
import * as library from "@branchlog/library";
import { sessions$ } from "@branchlog/library/live";
import { SessionManager } from "@branchlog/agents/pi";
import { managersWith } from "@branchlog/agents/testing";
import { userDraft } from "@branchlog/core/testing";
import * as tools from "@branchlog/tools";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** As options that a caller in JavaScript misspelt. Cast: the compiler refuses them. */
const misspelt = (name: string, others: object = {}): never =>
  ({ ...others, [name]: undefined }) as never;

async function read(items: AsyncIterable<unknown>): Promise<void> {
  for await (const item of items) expect(item).toBeDefined();
}

type Call = readonly [meant: string, call: (path: string, directory: string) => unknown];

const calls: Readonly<Record<string, Call>> = {
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

const ofSession: Readonly<Record<string, readonly [string, (session: Session) => unknown]>> = {
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

const refusal = (meant: string): object => ({
  code: "ERR_INVALID_ARGUMENT",
  message: expect.stringContaining(`Did you mean "${meant}"?`) as unknown,
});

describe("a misspelt option", () => {
  it.each(Object.entries(calls))("is refused when it is given to %s", async (_, [meant, call]) => {
    const directory = temporaryDirectory();
    const path = join(directory, "s.jsonl");
    await expect((async () => call(path, directory))()).rejects.toMatchObject(refusal(meant));
    expect([path, `${path}.x`].filter((file) => existsSync(file))).toEqual([]);
  });

  it.each(Object.entries(ofSession))("is refused when %s gets it", async (_, [meant, call]) => {
    const session = await core.memorySession({ cwd: "/w" });
    await expect((async () => call(session))()).rejects.toMatchObject(refusal(meant));
    expect([session.revision, session.name]).toEqual([0, undefined]);
  });

  it("is refused when applyRepair gets it, and the log stays as it is", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    await core.createSession(path, { cwd: "/w" });
    const plan = await tools.planRepair(path);
    const repair = tools.applyRepair(plan, misspelt("outptu"));
    await expect(repair).rejects.toMatchObject(refusal("output"));
  });

  it("is listed with all that are known when none is near", async () => {
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
