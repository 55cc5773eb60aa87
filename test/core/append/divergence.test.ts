/**
 * Appends below a leaf from which other writers had continued, unknown to the session: the entry is
 * where pi would put it, and is reported as the start of an unintended branch.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextIteration } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { AppendResult, Diagnostic, Session } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { SessionManager as OmpSessionManager } from "@branchlog/agents/omp";
import { SessionManager } from "@branchlog/agents/pi";
import { userDraft, userMessage } from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import { uncaughtErrors } from "../../support/uncaught-error.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

async function newLog(): Promise<{ path: string; first: AppendResult }> {
  const path = join(temporaryDirectory(), "s.jsonl");
  const session = await createSession(path, { cwd: "/w" });
  const first = await session.append(userDraft("first"));
  await session.close();
  return { path, first };
}

/** A log that two sessions have open. */
async function newPair(): Promise<{
  readonly path: string;
  readonly first: AppendResult;
  readonly one: Session;
  readonly other: Session;
}> {
  const log = await newLog();
  return { ...log, one: await openSession(log.path), other: await openSession(log.path) };
}

const divergedIn = ({ diagnostics }: Session): readonly Diagnostic[] =>
  diagnostics.filter(({ kind }) => kind === "diverged");

describe("an append below a leaf that others continued", () => {
  it("branches as pi does, and reports the divergence once", async () => {
    const { first, one, other } = await newPair();
    await other.append(userDraft("theirs"));
    const theirs = await other.append(userDraft("theirs, too"));
    const mine = await one.append(userDraft("mine"));
    expect(mine).toMatchObject({ parentId: first.id, attachedTo: "leaf" });
    expect(mine.diverged).toEqual({ entryCount: 2, tailId: theirs.id });
    expect(divergedIn(one)).toMatchObject([{ kind: "diverged", id: mine.id, count: 2 }]);
    expect((await one.append(userDraft("mine, too"))).diverged).toBeUndefined();
    expect(divergedIn(one)).toHaveLength(1);
    expect((await other.append(userDraft("theirs again"))).diverged).toBeUndefined();
  });

  it("is delivered to subscribers of the session once, at a leaf that does not follow", async () => {
    const { first, one, other } = await newPair();
    const lists: number[] = [];
    const subscription = live(one).diagnostics$.subscribe(({ value }) => lists.push(value.length));
    await one.moveTo(first.id);
    await other.append(userDraft("theirs"));
    expect((await one.append(userDraft("mine"))).diverged).toMatchObject({ entryCount: 1 });
    await one.append(userDraft("mine, too"));
    await nextIteration();
    subscription.unsubscribe();
    expect(lists).toEqual([0, 1]);
  });

  it("is listed by verify and by divergences(), also after a copy of the file", async () => {
    const { path, first, one, other } = await newPair();
    const theirs = await other.append(userDraft("theirs"));
    const mine = await one.append(userDraft("mine"));
    const copy = join(temporaryDirectory(), "copy.jsonl");
    writeFileSync(copy, readFileSync(path));
    const fresh = await openSession(copy);
    const found = [{ id: mine.id, parentId: first.id, tailId: theirs.id, line: 4 }];
    expect(await fresh.divergences()).toMatchObject(found);
    const report = await verifySession(fresh);
    expect(report).toMatchObject({ ok: true, divergenceCount: 1, divergences: found });
    expect(report.divergences).toEqual(await fresh.divergences());
  });

  it("writes the entry with the tail from which it diverged as its last key", async () => {
    const { path, one, other } = await newPair();
    const theirs = await other.append(userDraft("theirs"));
    const mine = await one.append(userDraft("mine"), { id: "mine" });
    const line = readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "";
    const mark = `,"branchlog.diverged":"${theirs.id}"}`;
    expect(line.endsWith(mark)).toBe(true);
    const { timestamp: _, ...entry } = JSON.parse(`${line.slice(0, -mark.length)}}`) as {
      timestamp: string;
    };
    expect(entry).toEqual({ ...userDraft("mine"), id: mine.id, parentId: mine.parentId });
    // Appended again under its id, it is the same entry.
    expect((await one.append(userDraft("mine"), { id: "mine" })).position).toEqual(mine.position);
  });

  it("counts roots of others when the session had none", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    await (await createSession(path)).close();
    const [one, other] = [await openSession(path), await openSession(path)];
    await other.append(userDraft("theirs"));
    expect((await one.append(userDraft("mine"))).diverged).toMatchObject({ entryCount: 1 });
  });
});

describe("an append at a leaf before metadata or a retry", () => {
  const acts: readonly (readonly [string, (session: Session) => Promise<unknown>])[] = [
    ["a name", (session) => session.setName("n")],
    ["a label", (session) => session.append({ type: "label", targetId: "first", label: "L" })],
    ["a retry", (session) => session.append(userDraft("first"), { id: "first" })],
  ];

  it.each(acts)("diverges, or is rejected, when %s came in between", async (_, act) => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const one = await createSession(path, { cwd: "/w" });
    await one.append(userDraft("first"), { id: "first" });
    const other = await openSession(path);
    await other.append(userDraft("theirs"));
    await act(one);
    const rejected = one.append(userDraft("mine"), { onDiverged: "reject" });
    await expect(rejected).rejects.toMatchObject({ code: "ERR_DIVERGED" });
    const [, mine] = await Promise.all([act(one), one.append(userDraft("mine"))]);
    expect(mine).toMatchObject({ parentId: "first", diverged: { entryCount: 1 } });
    expect(await one.divergences()).toHaveLength(1);
  });

  it("is reported again to a session that appends the diverged entry again", async () => {
    const { one, other } = await newPair();
    await other.append(userDraft("theirs"));
    await other.append(userDraft("theirs, too"));
    const { diverged } = await one.append(userDraft("mine"), { id: "mine" });
    expect(diverged).toMatchObject({ entryCount: 2 });
    await other.append(userDraft("theirs again"));
    expect((await one.append(userDraft("mine"), { id: "mine" })).diverged).toEqual(diverged);
    expect(divergedIn(one)).toHaveLength(1);
  });

  it("follows a retry of the session's own append without a report", async () => {
    const { one, other: same } = await newPair();
    // As a process that died before it was told, and began again.
    await same.append(userDraft("mine"), { id: "mine" });
    await one.append(userDraft("mine"), { id: "mine" });
    const next = await one.append(userDraft("next"), { onDiverged: "reject" });
    expect(next).toMatchObject({ parentId: "mine" });
    expect(next.diverged).toBeUndefined();
  });
});

describe("an append is not diverged", () => {
  it("when others only named or labelled the session", async () => {
    const { first, one, other } = await newPair();
    await other.append({ type: "session_info", name: "n" });
    await other.append({ type: "label", targetId: first.id, label: "L" });
    expect((await one.append(userDraft("mine"))).diverged).toBeUndefined();
  });

  it("when the log was rewritten after a move to an entry with children", async () => {
    const { path, first } = await newLog();
    const one = await openSession(path);
    await one.append(userDraft("mine"));
    await one.moveTo(first.id);
    writeFileSync(`${path}.tmp`, readFileSync(path));
    renameSync(`${path}.tmp`, path);
    expect((await one.append(userDraft("a second branch"))).diverged).toBeUndefined();
  });

  it("when its parent was chosen: by parent, by follow, by a move to an entry with children", async () => {
    const { first, one, other } = await newPair();
    const theirs = (): Promise<AppendResult> =>
      other.append(userDraft("theirs"), { onDiverged: "follow" });
    await theirs();
    const chosen = await one.append(userDraft("chosen"), { parent: { id: first.id } });
    await theirs();
    const tail = await one.append(userDraft("at the tail"), { parent: "tail" });
    await theirs();
    await one.moveTo(first.id);
    const moved = await one.append(userDraft("a second branch"));
    await theirs();
    const followed = await one.append(userDraft("below theirs"), { onDiverged: "follow" });
    await theirs();
    const label = await one.append({ type: "label", targetId: first.id, label: "L" });
    for (const { diverged } of [chosen, tail, moved, followed, label]) {
      expect(diverged).toBeUndefined();
    }
    expect(divergedIn(one)).toEqual([]);
    expect(await one.divergences()).toEqual([]);
  });
});

it("sessions diverge exactly when the leaf got its first child from another. Law", async () => {
  const steps = fc.array(fc.tuple(fc.nat(2), fc.boolean()), { maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const { path, first } = await newLog();
      const sessions = await Promise.all([0, 1, 2].map(() => openSession(path)));
      const hasChild = new Set<string | null>();
      const leaves: (string | null)[] = sessions.map(() => first.id);
      let divergences = 0;
      for (const [at, looks] of script) {
        const session = sessions[at];
        if (session === undefined) continue;
        if (looks) {
          await session.follow();
          await session.refresh();
          leaves[at] = session.leaf;
        }
        const { id, parentId, diverged } = await session.append(userDraft("x"));
        expect(parentId).toBe(leaves[at]);
        expect(diverged !== undefined).toBe(hasChild.has(parentId));
        divergences += diverged === undefined ? 0 : 1;
        hasChild.add(parentId);
        leaves[at] = id;
      }
      const report = await verifySession(await openSession(path));
      expect(report).toMatchObject({ ok: true, divergenceCount: divergences });
      await Promise.all(sessions.map((session) => session.close()));
    }),
    { numRuns: 30 },
  );
});

describe.each([
  ["pi", SessionManager],
  ["omp", OmpSessionManager],
] as const)("the drop-in for %s", (_, Manager) => {
  it("notifies its listener of a diverged append until it unsubscribes", async () => {
    const { path, first } = await newLog();
    const manager = await Manager.open(path);
    const told: object[] = [];
    const end = manager.onDiverged((diverged) => told.push(diverged));
    const other = await openSession(path);
    const theirs = await other.append(userDraft("theirs"));
    const id = manager.appendMessage(userMessage("mine"));
    expect(told).toEqual([{ id, entryCount: 1, tailId: theirs.id }]);
    expect(manager.getEntry(id)).toMatchObject({ parentId: first.id });
    expect(manager.getDiagnostics()).toMatchObject([{ kind: "diverged", id }]);
    await other.refresh();
    await other.append(userDraft("theirs"));
    end();
    manager.branch(first.id);
    manager.appendMessage(userMessage("chosen"));
    expect(told).toHaveLength(1);
  });

  it("acknowledges an append whose listener throws, and the error is not lost", async () => {
    const { path } = await newLog();
    const manager = await Manager.open(path);
    manager.onDiverged(() => {
      throw new Error("of a listener");
    });
    const { thrown, until } = uncaughtErrors();
    await (await openSession(path)).append(userDraft("theirs"));
    const id = manager.appendMessage(userMessage("mine"));
    expect(manager.getLeafId()).toBe(id);
    await until(1);
    expect(thrown.map(String)).toEqual(["Error: of a listener"]);
  });
});
