/** The stores of logs: each as the contract says, and a session when a store fails it. */
import { EventEmitter, once } from "node:events";
import { describe, expect, it } from "vitest";
import {
  jsonLines,
  logStoreContract,
  openStoredSession,
  sampleHeader,
  userDraft,
} from "@branchlog/core/testing";
import { MemoryLogStore } from "../../support/memory-log-store.ts";
import type { LogStore, StoredAppend, StoredLog } from "@branchlog/core/testing";
import { commitConflictsMax } from "../../../packages/core/src/limits.ts";

it.each(logStoreContract(() => new MemoryLogStore()))("a store in memory: $title", ({ run }) =>
  run(),
);

const header = Buffer.from(jsonLines(sampleHeader()));

/** A log whose appends are answered by `answer`, which may call the real one. */
async function withAnswers(
  answer: (call: number, append: () => Promise<StoredAppend>) => Promise<StoredAppend>,
): Promise<{ readonly store: MemoryLogStore; readonly log: StoredLog; calls: () => number }> {
  const store = new MemoryLogStore();
  const real = await store.create("s", [header]);
  let calls = 0;
  const append: StoredLog["append"] = (expected, bytes) => {
    calls += 1;
    return answer(calls, async () => real.append(expected, bytes));
  };
  return { store, log: { ...real, append }, calls: () => calls };
}

async function revisionOf(store: LogStore): Promise<number> {
  return (await openStoredSession(await store.open("s"))).revision;
}

describe("a session in a store", () => {
  it("stores an append once when its answer was lost", async () => {
    const { store, log, calls } = await withAnswers(async (call, append) => {
      const answer = await append();
      if (call === 1) throw new Error("connection lost");
      return answer;
    });
    const session = await openStoredSession(log);
    const { id } = await session.append(userDraft("one"));
    expect([session.leaf, session.revision, calls()]).toEqual([id, 1, 2]);
    expect(await revisionOf(store)).toBe(1);
  });

  it("reports an uncertain append when the store does not answer; its retry is stored once", async () => {
    const { store, log } = await withAnswers(async (call, append) => {
      const answer = await append();
      if (call < 2) throw new Error("connection lost");
      return answer;
    });
    const session = await openStoredSession(log, { lockWaitMs: 0 });
    const append = (): Promise<unknown> => session.append(userDraft("one"), { id: "own" });
    await expect(append()).rejects.toMatchObject({
      code: "ERR_APPEND_UNCERTAIN",
      cause: expect.objectContaining({ message: "connection lost" }) as unknown,
    });
    expect([session.revision, session.leaf]).toEqual([0, null]);
    await expect(append()).resolves.toMatchObject({ id: "own", revision: 1 });
    expect(await revisionOf(store)).toBe(1);
  });

  it("fails after too many conflicts, and stores nothing", async () => {
    const { store, log, calls } = await withAnswers(async () => ({
      kind: "conflict",
      end: (await (await store.open("s")).end()) ?? { generation: "", at: 0 },
    }));
    const session = await openStoredSession(log);
    await expect(session.append(userDraft("one"))).rejects.toMatchObject({
      code: "ERR_APPEND_FAILED",
    });
    expect(calls()).toBe(commitConflictsMax);
    expect(await revisionOf(store)).toBe(0);
  });

  it("queries an accepted append again, also when its caller aborts", async () => {
    const abort = new AbortController();
    const { store, log } = await withAnswers(async (call, append) => {
      if (call > 1) return append();
      abort.abort(new Error("enough"));
      throw new Error("connection lost");
    });
    const session = await openStoredSession(log);
    const append = session.append(userDraft("one"), { signal: abort.signal });
    await expect(append).resolves.toMatchObject({ revision: 1 });
    expect(await revisionOf(store)).toBe(1);
  });

  it("stores an append when another one in the queue is aborted", async () => {
    const events = new EventEmitter();
    const [asked, answered] = [once(events, "asked"), once(events, "answered")];
    const { store, log } = await withAnswers(async (_, append) => {
      events.emit("asked");
      await answered;
      return append();
    });
    const session = await openStoredSession(log);
    const first = session.append(userDraft("one"));
    await asked;
    const abort = new AbortController();
    const second = session.append(userDraft("two"), { signal: abort.signal });
    const reason = new Error("enough");
    abort.abort(reason);
    await expect(second).rejects.toBe(reason);
    events.emit("answered");
    await expect(first).resolves.toMatchObject({ revision: 1 });
    expect(await revisionOf(store)).toBe(1);
  });
});
