/**
 * Checkpoints in a separate directory whose logs were deleted by hand: the next checkpoint of a
 * log from the same directory removes them, and nothing else.
 */
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { OpenOptions } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import {
  checkpointPath,
  removeOrphanCheckpoints,
} from "../../../packages/core/src/checkpoint/checkpoint-file.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { say } from "../live/support.ts";

const uuid = "01234567-89ab-4cde-8f01-23456789abcd";
let directory: string;
let checkpointDir: string;
let options: OpenOptions;

beforeEach(() => {
  directory = temporaryDirectory();
  checkpointDir = join(directory, "checkpoints");
  for (const name of ["checkpoints", "a", "b"]) mkdirSync(join(directory, name));
  options = { checkpointDir, checkpointEveryBytes: 1 };
});

/** A log with a checkpoint; returns the checkpoint's name. */
async function newLog(path: string): Promise<string> {
  const session = await createSession(path, options);
  await session.append(say("one"));
  await session.close();
  return basename(checkpointPath(path, checkpointDir));
}

async function grow(path: string, more: OpenOptions = {}): Promise<void> {
  const session = await openSession(path, { ...options, ...more });
  await session.append(say("more"));
  await session.close();
}

const saved = (): string[] => readdirSync(checkpointDir).sort();

describe("a checkpoint that is saved in a checkpointDir", () => {
  it("removes those of deleted logs of its directory only", async () => {
    const keptPath = join(directory, "a/kept.jsonl");
    const deleted = [join(directory, "a/gone.jsonl"), join(directory, "b/gone.jsonl")] as const;
    const kept = await newLog(keptPath);
    const gone = await newLog(deleted[0]);
    const elsewhere = await newLog(deleted[1]);
    for (const path of deleted) rmSync(path);
    await grow(keptPath, { checkpoint: "read" });
    expect(saved()).toEqual([kept, gone, elsewhere].toSorted());
    await grow(keptPath);
    expect(saved()).toEqual([kept, elsewhere].toSorted());
  });

  it("removes the unfinished file of a deleted log only when no process writes it", async () => {
    const [kept, gone] = [join(directory, "a/kept.jsonl"), join(directory, "a/gone.jsonl")];
    await newLog(kept);
    const old = `${checkpointPath(gone, checkpointDir)}.${uuid}.tmp`;
    const young = old.replace(uuid, uuid.replace("0", "f"));
    for (const path of [old, young]) writeFileSync(path, "");
    utimesSync(old, 1, 1);
    await grow(kept);
    expect(saved()).toContain(basename(young));
    expect(saved()).not.toContain(basename(old));
  });

  it("does not touch a file that only resembles one", async () => {
    const kept = join(directory, "a/kept.jsonl");
    const prefix = (await newLog(kept)).slice(0, 17);
    const foreign = [
      `${prefix}gone.jsonl`,
      `${prefix}gone.jsonl.ckpt.tmp`,
      `${prefix}gone.jsonl.ckpt.old`,
      `x${prefix}gone.jsonl.ckpt`,
      `${prefix}.ckpt`,
      "gone.jsonl.ckpt",
    ];
    for (const name of foreign) writeFileSync(join(checkpointDir, name), "");
    mkdirSync(join(checkpointDir, `${prefix}directory.jsonl.ckpt`));
    const before = saved();
    await grow(kept);
    expect(saved()).toEqual(before);
  });
});

const logNames = ["s.jsonl", "t.jsonl", "u.jsonl.ckpt", "v", "w w.jsonl"];
const own = "/logs/own.jsonl";

/** Logs of two directories, of which some are gone, all with checkpoints. */
function world(there: readonly string[]): { memory: MemoryFileSystem; ports: Ports } {
  const memory = new MemoryFileSystem();
  for (const path of ["/logs", "/other", "/saved"]) memory.makeDirectorySync(path);
  for (const path of [own, ...there]) memory.writeFileSync(path, Buffer.from("log"));
  for (const path of [own, ...allLogs]) {
    memory.writeFileSync(checkpointPath(path, "/saved"), Buffer.from("checkpoint"));
  }
  return { memory, ports: createMemoryPorts({ fs: memory }) };
}

const allLogs = ["/logs", "/other"].flatMap((place) => logNames.map((name) => `${place}/${name}`));

/** The checkpoints that are there, by the paths of their logs. */
function logsWithCheckpoint(memory: MemoryFileSystem): string[] {
  const names = new Set(memory.listSync("/saved"));
  return [own, ...allLogs].filter((path) => names.has(basename(checkpointPath(path, "/saved"))));
}

describe("removing orphans", () => {
  it("leaves exactly the checkpoints of other directories and of existing logs", () => {
    fc.assert(
      fc.property(fc.subarray(allLogs), (there) => {
        const { memory, ports } = world(there);
        removeOrphanCheckpoints(ports, own, "/saved");
        const expected = allLogs.filter(
          (path) => path.startsWith("/other") || there.includes(path),
        );
        expect(logsWithCheckpoint(memory)).toEqual([own, ...expected]);
      }),
    );
  });

  it("checks again for a log created after the listing", () => {
    const { memory, ports } = world([]);
    memory.onCall = ({ name, path }) => {
      if (name !== "statSync" || path !== "/logs/s.jsonl") return;
      memory.onCall = undefined;
      memory.writeFileSync(path, Buffer.from("new"));
    };
    removeOrphanCheckpoints(ports, own, "/saved");
    expect(logsWithCheckpoint(memory).filter((path) => path.startsWith("/logs"))).toEqual([
      own,
      "/logs/s.jsonl",
    ]);
  });

  it("does not list the logs without other checkpoints", () => {
    const { memory, ports } = world([]);
    for (const path of allLogs) memory.unlinkSync(checkpointPath(path, "/saved"));
    const before = memory.callCount("listSync");
    removeOrphanCheckpoints(ports, own, "/saved");
    expect(memory.callCount("listSync") - before).toBe(1);
  });
});

describe("when the logs cannot be listed", () => {
  it("nothing is removed, and the checkpoint is saved anyway", async () => {
    const { memory, ports } = world([]);
    memory.unlinkSync(own);
    memory.unlinkSync(checkpointPath(own, "/saved"));
    memory.onCall = ({ name, path }) => {
      if (name === "listSync" && path === "/logs") throw new Error("EACCES");
    };
    const memoryOptions = { ports, checkpointDir: "/saved", checkpointEveryBytes: 1 };
    const session = await createSession(own, memoryOptions);
    await session.append(say("one"));
    await session.close();
    expect(logsWithCheckpoint(memory)).toEqual([own, ...allLogs]);
  });

  it("or one cannot be removed, the others are", () => {
    const { memory, ports } = world([]);
    const stuck = checkpointPath("/logs/s.jsonl", "/saved");
    memory.onCall = ({ name, path }) => {
      if (name === "unlinkSync" && path === stuck) throw new Error("EPERM");
    };
    removeOrphanCheckpoints(ports, own, "/saved");
    expect(logsWithCheckpoint(memory).filter((path) => path.startsWith("/logs"))).toEqual([
      own,
      "/logs/s.jsonl",
    ]);
  });
});
