/**
 * Repairs while the n-th file-system call fails, the process dies, or the power goes: the log is the
 * damaged one or the repaired one, whole; the bytes of the original are always in some file; and
 * repairing again settles it.
 */
import { readFileSync, readdirSync, utimesSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { MemoryFileSystem, createMemoryPorts, sampleHeader } from "@branchlog/core/testing";
import type { FileSystem, Ports } from "@branchlog/core/testing";
import { applyRepair, planRepair } from "@branchlog/tools";
import type { RepairResult } from "@branchlog/tools";
import { writeSessionFile, createRandom } from "@branchlog/bench/generator";
import { descriptorPoolOf } from "@branchlog/core/files";
import { startCommand } from "../cli/command-process.ts";
import { dieAtEveryCall, diskWith } from "../support/crash-file-system.ts";
import { failEveryCall, failingWorld, failures } from "../support/failing-calls.ts";
import type { Failure } from "../support/failing-calls.ts";
import { runs, seed } from "../support/fault-seed.ts";
import { reproducible } from "../support/reproducible-ports.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { typedError } from "../support/typed-errors.ts";

const path = "/d/s.jsonl";
const stamp = "2026-01-01T00:00:00.000Z";
const header = JSON.stringify(sampleHeader({ timestamp: stamp }));
const entry = (id: string, parent: string | null): string =>
  `{"type":"custom","customType":"x","id":"${id}","parentId":${JSON.stringify(parent)},"timestamp":"${stamp}"}`;

const original = Buffer.from(
  `${header}\n${entry("a", null)}\n{"type":"mess${entry("b", "a")}\n${"\0".repeat(99)}\n${entry("c", "b")}`,
);
const repaired = Buffer.from(
  `${header}\n${entry("a", null)}\n${entry("b", "a")}\n${entry("c", "b")}\n`,
);

function portsOn(fs: FileSystem, program = 1): Ports {
  return createMemoryPorts({ fs, ...reproducible(program) });
}

async function repair(ports: Ports, output?: string): Promise<RepairResult> {
  const plan = await planRepair(path, { ports });
  return applyRepair(plan, { ports, output });
}

/** The files of the directory by name. */
function filesOf(fs: MemoryFileSystem): Map<string, Buffer> {
  return new Map(fs.listSync("/d").map((name) => [name, fs.readFileSync(`/d/${name}`)]));
}

/** The log is the old one or the new one, and the bytes of the old one are there. */
function expectNothingLost(fs: MemoryFileSystem, where: string): void {
  const files = filesOf(fs);
  const log = files.get("s.jsonl");
  const stands = log?.equals(original) === true || log?.equals(repaired) === true;
  expect([where, stands]).toEqual([where, true]);
  const kept = [...files.values()].some((bytes) => bytes.equals(original));
  expect([where, kept]).toEqual([where, true]);
}

async function expectSettled(fs: MemoryFileSystem, where: string): Promise<void> {
  await repair(portsOn(fs, 2));
  expect(fs.readFileSync(path).equals(repaired)).toBe(true);
  expectNothingLost(fs, where);
}

describe("a repair of which a call fails", () => {
  async function attempt(n: number, failure: Failure): Promise<boolean> {
    const { memory, failing, ports } = failingWorld({ [path]: original });
    failing.arm(n, failure);
    const [outcome] = await Promise.allSettled([repair(ports)]);
    const hasFailed = failing.disarm();
    const where = `at call ${n}`;
    expectNothingLost(memory, where);
    const log = memory.readFileSync(path);
    if (outcome.status === "rejected") {
      const error = typedError(outcome.reason);
      if (error.message.includes("not changed")) {
        expect([where, log.equals(original)]).toEqual([where, true]);
      }
    } else {
      expect([where, log.equals(repaired)]).toEqual([where, true]);
      const { salvage } = outcome.value;
      expect(memory.readFileSync(salvage ?? "").toString()).toContain('"nuls":');
    }
    await expectSettled(memory, where);
    return hasFailed;
  }

  it.each(Object.entries(failures))(
    "leaves the old log or the new one, and the original: %s (Verifies: P9, P12)",
    async (_, failure) => {
      expect(await failEveryCall((n) => attempt(n, failure))).toBeGreaterThan(0);
    },
  );

  it("closes its files, and leaves nothing when it fails", async () => {
    for (const name of ["writeSync", "fdatasync", "linkSync", "renameSync"]) {
      const memory = new MemoryFileSystem();
      memory.makeDirectorySync("/d");
      memory.writeFileSync(path, original);
      memory.onCall = (call) => {
        if (call.name === name) throw Object.assign(new Error("full"), { code: "ENOSPC" });
      };
      const failed = repair(portsOn(memory));
      await expect(failed).rejects.toMatchObject({ code: "ERR_REPAIR_FAILED" });
      memory.onCall = undefined;
      expect([name, ...memory.listSync("/d")]).toEqual([name, "s.jsonl"]);
      expect(memory.openCount).toBe(descriptorPoolOf(memory).openCount);
    }
  });
});

describe(`a repair that is interrupted (seed ${seed})`, () => {
  it.each([undefined, "/d/o.jsonl"])(
    "by the death of its process, or a power failure, loses nothing: into %s (Verifies: P9)",
    async (output) => {
      const random = createRandom(seed);
      await dieAtEveryCall(
        () => diskWith(path, original),
        (disk) => repair(portsOn(disk.fs), output),
        async (disk, result, calls) => {
          const where = `after ${calls} calls`;
          const found = Array.from({ length: runs(2, 2000) }, () =>
            disk.afterPowerLoss((of) => random.below(of)),
          );
          for (const fs of [disk.memory, ...found]) {
            expectNothingLost(fs, where);
            if (result !== undefined) {
              expect(fs.readFileSync(result.path).equals(repaired)).toBe(true);
              expect(fs.readFileSync(result.original ?? "").equals(original)).toBe(true);
              expect(fs.readFileSync(result.salvage ?? "").toString()).toContain('"nuls":99');
            }
            await expectSettled(fs, where);
          }
        },
        () => 1 + random.below(runs(3, 1)),
      );
    },
  );
});

it("a process that repairs can be killed at any moment (Verifies: P9)", async () => {
  const log = join(temporaryDirectory(), "s.jsonl");
  writeSessionFile(log, { bytes: 3_000_000 });
  const whole = readFileSync(log);
  const torn = Buffer.concat([whole, Buffer.from('{"type":"mess')]);
  // Each time a little later: when so much has happened in the directory.
  for (let events = 1, isOver = false; !isOver; events += runs(15, 3)) {
    const directory = temporaryDirectory();
    const target = join(directory, "s.jsonl");
    writeFileSync(target, torn);
    // Of a file that changed just now, the end would be pending.
    utimesSync(target, new Date(0), new Date(0));
    const watcher = watch(directory);
    const child = startCommand(["repair", target, "--apply"]);
    let left = events;
    watcher.on("change", () => {
      left -= 1;
      if (left === 0) child.kill("SIGKILL");
    });
    await once(child, "close");
    watcher.close();
    isOver = child.exitCode === 0;
    const found = readFileSync(target);
    expect(found.equals(isOver ? whole : torn) || found.equals(whole)).toBe(true);
    // The lock is a directory.
    const there = readdirSync(directory, { withFileTypes: true });
    const names = there.filter((name) => name.isFile()).map(({ name }) => name);
    const files = names.map((name) => readFileSync(join(directory, name)));
    expect(files.some((bytes) => bytes.equals(torn))).toBe(true);
  }
});
