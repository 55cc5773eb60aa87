/** Appends that are conflict between the check and the write, and by whom. */
import { describe, expect, it } from "vitest";
import { createSession } from "@branchlog/core";
import type { AppendResult, Session } from "@branchlog/core";
import {
  MemoryFileSystem,
  createMemoryPorts,
  userDraft,
  MemoryLock,
} from "@branchlog/core/testing";
import { appendTo } from "../../support/append-to.ts";
import { appendAttemptsMax } from "../../../packages/core/src/limits.ts";
import { randomIds } from "../../../packages/core/src/platform/ids.ts";

const path = "/s.jsonl";
const peer = '{"type":"custom","customType":"peer","id":"peer","parentId":null}\n';
const fragment = peer.slice(0, 30);
/** A line that resembles an entry but is not one. */
const damaged =
  '{"type":"message","id":"torn","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z",' +
  '"message":{"role":"user","content":[{"a":{"b":1}}\n';

interface World {
  readonly fs: MemoryFileSystem;
  readonly session: Session;
  /** Appends a second entry after the first; each attempt to write it finds the next of these. */
  readonly second: (...before: readonly string[]) => Promise<AppendResult>;
}

async function newWorld(): Promise<World> {
  const fs = new MemoryFileSystem();
  const session = await createSession(path, { ports: createMemoryPorts({ fs }), cwd: "/w" });
  await session.append(userDraft("first"), { id: "first" });
  const second: World["second"] = (...before) => {
    const left = [...before];
    fs.onCall = ({ name }) => {
      if (name !== "writeSync") return undefined;
      const text = left.shift();
      if (text === "short") return "short";
      if (text !== undefined) appendTo(fs, path, text);
      return undefined;
    };
    return session.append(userDraft("second"), { id: "second", expectedTail: "first" });
  };
  return { fs, session, second };
}

describe("an append that expects a tail", () => {
  it.each([
    ["an entry came in between (Verifies: P2)", [peer], 3],
    ["it had to be written again behind that entry", [fragment, `\n${peer}`], 3],
    ["a damaged entry is behind that entry", [peer + damaged], 4],
  ])("conflicts when %s, and reports what was written", async (_, before, revision) => {
    const { session, second } = await newWorld();
    await expect(second(...before)).rejects.toMatchObject({
      code: "ERR_CONFLICT",
      written: ["second"],
      tail: "second",
    });
    expect([session.leaf, session.revision]).toEqual(["second", revision]);
  });

  it.each([
    ["what came in between is not an entry", fragment, 2],
    ["what came in between is a damaged entry", damaged, 3],
    ["the write was only cut short", "short", 2],
  ])("holds when %s", async (_, before, revision) => {
    const { second } = await newWorld();
    expect(await second(before)).toMatchObject({ id: "second", revision, displaced: true });
  });

  it("of a group conflicts by itself: the others are only at other offsets", async () => {
    const { session, second } = await newWorld();
    const settled = await Promise.allSettled([
      second(peer),
      session.append(userDraft("third"), { id: "third", expectedTail: "second" }),
      session.append(userDraft("fourth")),
    ]);
    expect(settled).toMatchObject([
      { reason: { code: "ERR_CONFLICT", written: ["second"] } },
      { value: { id: "third", parentId: "second", displaced: true } },
      { value: { parentId: "third", displaced: true } },
    ]);
  });

  it("is also compared in a log without entries", async () => {
    const fs = new MemoryFileSystem();
    const session = await createSession(path, { ports: createMemoryPorts({ fs }), cwd: "/w" });
    const append = (expectedTail: string | null): Promise<AppendResult> =>
      session.append(userDraft("first"), { id: "first", expectedTail });
    const conflict = { code: "ERR_CONFLICT", tail: null, written: [] };
    await expect(append("gone")).rejects.toMatchObject(conflict);
    fs.onCall = ({ name }) => {
      if (name !== "writeSync") return;
      fs.onCall = undefined;
      appendTo(fs, path, damaged);
    };
    expect(await append(null)).toMatchObject({ id: "first", displaced: true });
  });
});

interface LockWorld {
  readonly fs: MemoryFileSystem;
  readonly lock: MemoryLock;
  readonly session: Session;
  /** Called whenever an append is being planned: with the log caught up, before its write. */
  whilePlanning: () => void;
}

/** A session with one entry; ids are minted by plans, which is how a test is called by them. */
async function newLockWorld(): Promise<LockWorld> {
  const fs = new MemoryFileSystem();
  const lock = new MemoryLock();
  const entryId = (): string => {
    world.whilePlanning();
    return randomIds.entryId();
  };
  const ports = createMemoryPorts({ fs, lock, ids: { ...randomIds, entryId } });
  const session = await createSession(path, { ports, cwd: "/w" });
  await session.append(userDraft("first"), { id: "first" });
  const world: LockWorld = { fs, lock, session, whilePlanning: () => undefined };
  return world;
}

/** Takes over the lock as of a stalled holder, appends an entry, and gives the lock back. */
function overtake({ fs, lock }: LockWorld, id: string): void {
  lock.breakLock(path);
  const held = lock.tryAcquireSync(path);
  appendTo(fs, path, `{"type":"custom","customType":"peer","id":"${id}","parentId":null}\n`);
  held?.releaseSync();
}

/** The same, of which the first append that is planned is conflict. */
async function overtakenWorld(): Promise<LockWorld> {
  const world = await newLockWorld();
  world.whilePlanning = () => {
    world.whilePlanning = () => undefined;
    overtake(world, "peer");
  };
  return world;
}

function idsOf({ fs }: LockWorld): unknown[] {
  const lines = fs.readFileSync(path).toString().trimEnd().split("\n").slice(1);
  return lines.map((line) => (JSON.parse(line) as { id: unknown }).id);
}

describe("an append whose lock was taken over before its write", () => {
  it("conflicts and writes nothing if the tail is not the expected one any more (Verifies: P2)", async () => {
    const world = await overtakenWorld();
    const append = world.session.append(userDraft("second"), { expectedTail: "first" });
    await expect(append).rejects.toMatchObject({ code: "ERR_CONFLICT", tail: "peer", written: [] });
    expect(idsOf(world)).toEqual(["first", "peer"]);
  });

  it("is planned again after the entries of the other holder", async () => {
    const world = await overtakenWorld();
    const result = await world.session.append(userDraft("second"), { parent: "tail" });
    expect(result).toMatchObject({ parentId: "peer", displaced: false });
    expect(idsOf(world)).toEqual(["first", "peer", result.id]);
  });

  it("fails and writes nothing when that happens every time, and leaves no lock", async () => {
    const world = await newLockWorld();
    let count = 0;
    world.whilePlanning = () => {
      count += 1;
      overtake(world, `peer${count}`);
    };
    const append = world.session.append(userDraft("second"));
    await expect(append).rejects.toMatchObject({ code: "ERR_APPEND_FAILED" });
    expect(count).toBe(appendAttemptsMax);
    expect(idsOf(world)).toEqual(["first", "peer1", "peer2", "peer3"]);
    expect(world.lock.tryAcquireSync(path)).not.toBeNull();
  });
});
