/** Appends whose lock is taken over after they were planned: they are planned anew, not written. */
import { describe, expect, it } from "vitest";
import { createSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import {
  MemoryFileSystem,
  MemoryLock,
  createMemoryPorts,
  userDraft,
} from "@branchlog/core/testing";
import { appendAttemptsMax } from "../../../packages/core/src/limits.ts";
import { randomIds } from "../../../packages/core/src/platform/ids.ts";

const path = "/s.jsonl";

interface World {
  readonly fs: MemoryFileSystem;
  readonly lock: MemoryLock;
  readonly session: Session;
  /** Called whenever an append is being planned: with the log caught up, before its write. */
  whilePlanning: () => void;
}

/** A session with one entry; ids are minted by plans, which is how a test is called by them. */
async function newWorld(): Promise<World> {
  const fs = new MemoryFileSystem();
  const lock = new MemoryLock();
  const entryId = (): string => {
    world.whilePlanning();
    return randomIds.entryId();
  };
  const ports = createMemoryPorts({ fs, lock, ids: { ...randomIds, entryId } });
  const session = await createSession(path, { ports, cwd: "/w" });
  await session.append(userDraft("first"), { id: "first" });
  const world: World = { fs, lock, session, whilePlanning: () => undefined };
  return world;
}

/** Takes over the lock as of a stalled holder, appends an entry, and gives the lock back. */
function overtake({ fs, lock }: World, id: string): void {
  lock.breakLock(path);
  const held = lock.tryAcquireSync(path);
  const line = Buffer.from(`{"type":"custom","customType":"peer","id":"${id}","parentId":null}\n`);
  const fd = fs.openSync(path, "append");
  fs.writeSync(fd, line, 0, line.length);
  fs.closeSync(fd);
  held?.releaseSync();
}

function idsOf({ fs }: World): unknown[] {
  const lines = fs.readFileSync(path).toString().trimEnd().split("\n").slice(1);
  return lines.map((line) => (JSON.parse(line) as { id: unknown }).id);
}

describe("an append whose lock was taken over before its write", () => {
  it("conflicts and writes nothing if the tail is not the expected one any more (Verifies: P2)", async () => {
    const world = await newWorld();
    world.whilePlanning = () => {
      world.whilePlanning = () => undefined;
      overtake(world, "peer");
    };
    const append = world.session.append(userDraft("second"), { expectedTail: "first" });
    await expect(append).rejects.toMatchObject({ code: "ERR_CONFLICT", tail: "peer", written: [] });
    expect(idsOf(world)).toEqual(["first", "peer"]);
  });

  it("is planned anew behind what the other holder wrote", async () => {
    const world = await newWorld();
    world.whilePlanning = () => {
      world.whilePlanning = () => undefined;
      overtake(world, "peer");
    };
    const result = await world.session.append(userDraft("second"), { parent: "tail" });
    expect(result).toMatchObject({ parentId: "peer", displaced: false });
    expect(idsOf(world)).toEqual(["first", "peer", result.id]);
  });

  it("fails and writes nothing when that happens each time, and leaves no lock", async () => {
    const world = await newWorld();
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
