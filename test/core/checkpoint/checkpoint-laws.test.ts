/** Checkpoints of logs in any state, and what is appended to them afterwards. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  framePieces,
  indexFrame,
  readFrame,
  sumsFrame,
} from "../../../packages/core/src/checkpoint/checkpoint-format.ts";
import type {
  Column,
  FrameContent,
  FrameKind,
  FrameSchema,
} from "../../../packages/core/src/checkpoint/checkpoint-format.ts";
import { runAsync, runSync } from "@branchlog/streaming";
import { openSession } from "@branchlog/core";
import type { OpenOptions, Session } from "@branchlog/core";
import { ManualClock, MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { verifySession } from "@branchlog/maintenance";
import { Engine } from "@branchlog/core/internal";
import { sessionOver } from "../../support/engine-session.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { say } from "../live/support.ts";
import { damagedSession } from "../../maintenance/repair/damaged-session.ts";
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
          facts.push(await factsOf(second), (await verifySession(second)).badLineCounts);
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

/** A frame with these bytes before and behind it. */
function frameOf(content: FrameContent, around: Uint8Array): Buffer {
  return Buffer.concat([around, ...framePieces(indexFrame, content, 64), around]);
}

/** Frames of these columns, with the text as it is. */
function schemaOf(kind: FrameKind, columns: readonly Column[]): FrameSchema<FrameContent> {
  return {
    kind,
    begin: (json, room) => {
      const made = columns.map((column) => {
        if (column instanceof Float64Array) return room.float64(column.length);
        if (column instanceof Int32Array) return room.int32(column.length);
        return column instanceof Uint32Array
          ? room.uint32(column.length)
          : room.uint8(column.length);
      });
      // There is room behind what was in them.
      const cut = made.map((column, at) => column.subarray(0, columns[at]?.length));
      return () => ({ json: json as object, columns: cut });
    },
  };
}

describe("a frame of a checkpoint", () => {
  const column = fc.oneof(
    fc.int32Array(),
    fc.uint32Array(),
    fc.uint8Array(),
    fc.float64Array({ noNaN: true }),
  );
  const json = fc.record({ text: fc.string({ unit: "binary" }), numbers: fc.array(fc.nat()) });
  const content = fc.record({ json, columns: fc.array(column, { maxLength: 4 }) });

  it("is what it was made from when it is read by its own schema, and nothing by another", () => {
    fc.assert(
      fc.property(content, column, fc.uint8Array(), (original, further, before) => {
        let bytes = frameOf(original, before);
        const source = {
          readSync: (target: Buffer, offset: number, length: number, position: number) =>
            bytes.copy(target, offset, position, position + length),
          read: () => Promise.reject(new Error("not asked for")),
        };
        const reading = (kind: FrameKind, columns: readonly Column[]): unknown =>
          runSync(readFrame(source, schemaOf(kind, columns), before.length, bytes.length));
        const { columns } = original;
        expect(reading(sumsFrame, columns)).toBeUndefined();
        expect(reading(indexFrame, columns)).toEqual(original);
        if (further.length === 0) return;
        expect(() => reading(indexFrame, [...columns, further])).toThrow(RangeError);
        bytes = frameOf({ json: original.json, columns: [...columns, further] }, before);
        expect(reading(indexFrame, columns)).toBeUndefined();
      }),
    );
  });
});

describe("a frame that is read ahead", () => {
  const columns = [new Int32Array([1, 2]), new Uint8Array([3]), new Float64Array(9)];
  const bytes = Buffer.concat([...framePieces(indexFrame, { json: {}, columns }, 64)]);
  const schema = schemaOf(indexFrame, columns);
  const readSync = (target: Buffer, offset: number, length: number, position: number): number =>
    bytes.copy(target, offset, position, position + length);

  it("is the same in whatever order its pieces come", async () => {
    // The later a piece is, the sooner it comes.
    const read = async (...args: Parameters<typeof readSync>): Promise<number> => {
      for (let turns = args[3]; turns < bytes.length; turns += 1) await Promise.resolve();
      return readSync(...args);
    };
    const wanted = runSync(readFrame({ readSync, read }, schema, 0, bytes.length));
    expect(await runAsync(readFrame({ readSync, read }, schema, 0, bytes.length))).toEqual(wanted);
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
      const reading = runAsync(readFrame({ readSync, read }, schema, 0, bytes.length));
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
    const { ok, checksums } = await verifySession(sessionOver(engine));
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
