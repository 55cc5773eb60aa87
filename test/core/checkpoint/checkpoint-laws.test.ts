/** Checkpoints of logs in any state, and what is appended to them afterwards. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { OpenOptions, Session } from "@branchlog/core";
import { attachColumns, detachColumns } from "../../../packages/core/src/checkpoint/columns.ts";
import {
  framePieces,
  indexFrame,
  readFrame,
  sumsFrame,
} from "../../../packages/core/src/checkpoint/checkpoint-format.ts";
import { runReadsSync } from "@branchlog/streaming";
import { readFrameAhead } from "../../../packages/core/src/checkpoint/read-ahead.ts";
import { Engine } from "../../../packages/core/src/session/engine.ts";
import { verifyLog } from "../../../packages/core/src/session/verify.ts";
import { ManualClock } from "../../../packages/core/src/store/manual-clock.ts";
import { createMemoryPorts } from "../../../packages/core/src/store/memory-ports.ts";
import { MemoryFileSystem } from "../../../packages/core/src/store/memory-file-system.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { say } from "../live/support.ts";
import { damagedSession } from "../repair/damaged-session.ts";
import { factsOf, openedFacts } from "./session-facts.ts";

const always: OpenOptions = { checkpointEveryBytes: 1 };

const append = (session: Session, n: number): Promise<unknown> =>
  session.append(n % 3 === 0 ? { type: "session_info", name: `${n}` } : say(`${n}`), {
    id: `own${n}`,
  });

describe("a session that was opened with a checkpoint", () => {
  it("says, appends and reads the same as one without (Verifies: P15, P21)", async () => {
    await fc.assert(
      fc.asyncProperty(damagedSession, fc.nat(100), fc.nat(3), async (damage, cut, more) => {
        const paths = ["a", "b"].map((name) => join(temporaryDirectory(), `${name}.jsonl`));
        const { bytes } = damage;
        const end = bytes.indexOf(10, (bytes.length * cut) / 100) + 1;
        const facts: unknown[] = [];
        for (const [at, path] of paths.entries()) {
          const ports = { clock: new ManualClock(0) };
          const options: OpenOptions = { ports, ...(at === 0 ? always : { checkpoint: "off" }) };
          writeFileSync(path, bytes.subarray(0, end));
          const first = await openSession(path, options).catch(() => undefined);
          await first?.close();
          appendFileSync(path, bytes.subarray(end));
          const second = await openSession(path, options).catch(() => undefined);
          if (second === undefined) continue;
          for (let n = 0; n < more; n += 1) await append(second, n).catch(() => undefined);
          facts.push(await factsOf(second), (await second.verify()).badLineCounts);
          await second.close();
          facts.push(await openedFacts(path, options));
        }
        const half = facts.length / 2;
        expect(facts.slice(0, half)).toEqual(facts.slice(half));
      }),
      { numRuns: 150 },
    );
  });
});

describe("the frames of a checkpoint", () => {
  const column = fc.oneof(
    fc.int32Array(),
    fc.uint32Array(),
    fc.uint8Array(),
    fc.float64Array({ noNaN: true }),
  );
  const text = fc.string({ unit: "binary" });
  const nested = fc.record({ column, text, numbers: fc.array(fc.nat()) });
  const value = fc.record({ column, nested, other: fc.record({ nested, column }) });

  it("give back what they were made from", () => {
    fc.assert(
      fc.property(value, fc.uint8Array(), (original, before) => {
        const frame = Buffer.concat([...framePieces(indexFrame, original, 64)]);
        const bytes = Buffer.concat([before, frame, before]);
        const source = {
          readSync: (target: Buffer, offset: number, length: number, position: number) =>
            bytes.copy(target, offset, position, position + length),
          read: () => Promise.reject(new Error("not asked for")),
        };
        const reading = (kind: typeof indexFrame): unknown =>
          runReadsSync(source, readFrame(kind, before.length, bytes.length));
        expect(reading(sumsFrame)).toBeUndefined();
        const read = reading(indexFrame);
        // Columns come back with room behind what was in them.
        const found = detachColumns(read as object);
        const cut = found.columns.map((one, at) => {
          const { length } = detachColumns(original).columns[at]?.place ?? one.place;
          return { place: one.place, column: one.column.subarray(0, length) };
        });
        attachColumns(read, cut);
        expect(read).toEqual(original);
      }),
    );
  });
});

describe("a frame that is read ahead", () => {
  const value = {
    a: new Int32Array([1, 2]),
    b: { c: new Uint8Array([3]), d: new Float64Array(9) },
  };
  const bytes = Buffer.concat([...framePieces(indexFrame, value, 64)]);
  const readSync = (target: Buffer, offset: number, length: number, position: number): number =>
    bytes.copy(target, offset, position, position + length);

  it("is the same in whatever order its pieces come", async () => {
    // The later a piece stands, the sooner it comes.
    const read = async (...args: Parameters<typeof readSync>): Promise<number> => {
      for (let turns = args[3]; turns < bytes.length; turns += 1) await Promise.resolve();
      return readSync(...args);
    };
    const wanted = runReadsSync({ readSync, read }, readFrame(indexFrame, 0, bytes.length));
    expect(await readFrameAhead({ readSync, read }, indexFrame, bytes.length)).toEqual(wanted);
  });

  it("fails as its source does, once nothing is read any more", async () => {
    const seen = { begun: 0, ended: 0, failAt: 0 };
    const read = async (...args: Parameters<typeof readSync>): Promise<number> => {
      const own = (seen.begun += 1);
      for (let turns = 0; turns < 100 - own * 10; turns += 1) await Promise.resolve();
      seen.ended += 1;
      if (own === seen.failAt) throw new Error("EIO");
      return readSync(...args);
    };
    for (seen.failAt = 1; seen.failAt <= 6; seen.failAt += 1) {
      [seen.begun, seen.ended] = [0, 0];
      const reading = readFrameAhead({ readSync, read }, indexFrame, bytes.length);
      await expect(reading).rejects.toThrow("EIO");
      expect(seen.ended).toBe(seen.begun);
    }
  });
});

describe("saving in turns", () => {
  it("is given up when anything changes meanwhile, and leaves nothing", async () => {
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs });
    const header = { type: "session", version: 3, id: "s", timestamp: "", cwd: "/" } as const;
    const engine = Engine.createSync("/s.jsonl", header, { ports, checkpointEveryBytes: 1 });
    const saving = engine.checkpoints.save();
    const text = '{"type":"custom","customType":"x","id":"1","parentId":null,"timestamp":""}\n';
    const fd = fs.openSync("/s.jsonl", "append");
    fs.writeSync(fd, Buffer.from(text), 0, text.length);
    engine.refreshSync();
    await saving;
    expect(fs.listSync("/")).toEqual(["s.jsonl"]);
    await engine.checkpoints.save();
    expect([...fs.listSync("/")].sort()).toEqual(["s.jsonl", "s.jsonl.ckpt"]);
  });

  it("is ended by a close, which saves, whatever was begun (Verifies: P13)", async () => {
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs });
    const header = { type: "session", version: 3, id: "s", timestamp: "", cwd: "/" } as const;
    const engine = Engine.createSync("/s.jsonl", header, { ports, checkpointEveryBytes: 1 });
    const savings = [engine.checkpoints.save(), engine.checkpoints.save()];
    await engine.checkpoints.close();
    await Promise.all(savings);
    expect([...fs.listSync("/")].sort()).toEqual(["s.jsonl", "s.jsonl.ckpt"]);
    const { ok, checksums } = await verifyLog(engine);
    expect([ok, checksums.state]).toEqual([true, "compared"]);
  });

  it.each(["openSync", "writeSync", "renameSync"])("leaves nothing when %s fails", async (name) => {
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs });
    const header = { type: "session", version: 3, id: "s", timestamp: "", cwd: "/" } as const;
    const engine = Engine.createSync("/s.jsonl", header, { ports, checkpointEveryBytes: 1 });
    fs.onCall = (call) => {
      if (call.name === name && call.path?.includes(".ckpt") !== false) throw new Error("ENOSPC");
      return undefined;
    };
    await engine.checkpoints.save();
    engine.checkpoints.saveSync();
    fs.onCall = undefined;
    expect(fs.listSync("/")).toEqual(["s.jsonl"]);
  });
});
