/** Where the lines of an append are when its write did not land as planned, byte for byte. */
import { describe, expect, it } from "vitest";
import type { AppendResult } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts, fileError } from "@branchlog/core/testing";
import { appendAttemptsMax } from "../../../packages/core/src/limits.ts";
import { LeafCursor } from "../../../packages/core/src/append/leaf-cursor.ts";
import { appendSync } from "../../support/engine-appends.ts";
import { Engine } from "@branchlog/core/engine";
import { observedFileSystem } from "../../support/observed-file-system.ts";
import { rawLog } from "../../support/raw-log.ts";
import type { RawLog } from "../../support/raw-log.ts";
import { thrownBy } from "../../support/typed-errors.ts";
import type { Offer } from "../../support/engine-appends.ts";

const path = "/s.jsonl";
const headerOf = (id: string): string =>
  `{"type":"session","version":3,"id":"${id}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}\n`;
const header = headerOf("s");
const first = '{"type":"custom","customType":"x","id":"first","parentId":null}\n';
const peer = '{"type":"custom","customType":"peer","id":"peer","parentId":null}\n';

const note = (data: string): Offer => ({ draft: { type: "custom", customType: "x", data } });
const one: Offer = { ...note("one"), id: "one" };
const two: Offer = { ...note("two"), id: "two" };

/** What happens around the n-th write, from 1 on: `write` does it, up to so many bytes. */
type AroundWrite = (
  memory: MemoryFileSystem,
  n: number,
  write: (bytesMax?: number) => void,
) => void;

interface World {
  readonly memory: MemoryFileSystem;
  readonly engine: Engine;
  readonly append: (offers: readonly Offer[]) => readonly AppendResult[];
  readonly log: () => RawLog;
  readonly writes: () => number;
  /** Makes every read from now on fail. */
  readonly stopReads: () => void;
}

function newWorld(text: string, aroundWrite: AroundWrite): World {
  const memory = new MemoryFileSystem();
  memory.writeFileSync(path, Buffer.from(text));
  let writes = 0;
  let canRead = true;
  const fs = observedFileSystem(memory, (call, effect) => {
    if (call.name === "readSync" && !canRead) throw fileError("EIO", "read", path);
    if (call.name !== "writeSync") return effect();
    writes += 1;
    let taken: ReturnType<typeof effect> | undefined;
    aroundWrite(memory, writes, (bytesMax) => void (taken = effect(bytesMax)));
    return taken ?? effect(0);
  });
  const engine = Engine.openSync(path, { ports: createMemoryPorts({ fs }) });
  const leaf = new LeafCursor(true, engine.tailId);
  return {
    memory,
    engine,
    append: (offers) => appendSync(engine, offers, leaf),
    log: () => rawLog(memory.readFileSync(path)),
    writes: () => writes,
    stopReads: () => void (canRead = false),
  };
}

function appendRaw(memory: MemoryFileSystem, text: string): void {
  const fd = memory.openSync(path, "append");
  memory.writeSync(fd, Buffer.from(text), 0, Buffer.byteLength(text));
  memory.closeSync(fd);
}

/** Puts another file in the place of the log. */
function replace(memory: MemoryFileSystem, bytes: Buffer): void {
  memory.writeFileSync("/other", bytes);
  memory.renameSync("/other", path);
}

describe("an append whose writes are all cut short", () => {
  it("is given up after so many writes, and told that nothing was written (Verifies: P12)", () => {
    const world = newWorld(header, (_, __, write) => write(10));
    expect(thrownBy(() => world.append([one]))).toMatchObject({
      code: "ERR_APPEND_UNCERTAIN",
      written: [],
      message: expect.stringContaining("torn or cut short each time") as unknown,
    });
    expect(world.writes()).toBe(appendAttemptsMax);
  });

  it("is acknowledged when the last of so many writes is whole", () => {
    const world = newWorld(header, (_, n, write) => write(n < appendAttemptsMax ? 10 : undefined));
    expect(world.append([one])).toMatchObject([{ id: "one", displaced: true }]);
    expect(world.writes()).toBe(appendAttemptsMax);
    expect(world.log().entries.map(({ id }) => id)).toEqual(["one"]);
  });
});

describe("an append behind which others wrote", () => {
  it("writes its lines once, and nothing else", () => {
    const world = newWorld(header, (memory, _, write) => {
      appendRaw(memory, peer);
      write();
    });
    const [result] = world.append([one]);
    expect(result).toMatchObject({ id: "one", displaced: true });
    expect(world.writes()).toBe(1);
    const text = world.memory.readFileSync(path).toString();
    const [line = ""] = text.slice((header + peer).length).split("\n");
    expect(text).toBe(`${header}${peer}${line}\n`);
  });
});

describe("an append to a log that ends without a newline", () => {
  it("displaces only the lines that were written again", () => {
    const world = newWorld(header + first.trimEnd(), (memory, n, write) => {
      const size = memory.readFileSync(path).length;
      write();
      if (n > 1) return;
      // The newline and the first line stay; the second line is cut off.
      const bytes = memory.readFileSync(path);
      const end = bytes.indexOf("\n", size + 1) + 1;
      memory.writeFileSync(path, bytes.subarray(0, end + 5));
    });
    expect(world.append([one, two])).toMatchObject([
      { id: "one", displaced: false },
      { id: "two", displaced: true },
    ]);
    expect(world.log().entries.map(({ id }) => id)).toEqual(["first", "one", "two"]);
  });
});

describe("an append during which another log takes the name", () => {
  it("is planned anew for a log that holds none of its lines (Verifies: P11)", () => {
    const other = Buffer.from(headerOf("other") + peer);
    const world = newWorld(header + first, (memory, n, write) => {
      write();
      if (n === 1) replace(memory, other);
    });
    const [result] = world.append([{ ...note("new"), id: "new" }]);
    expect(world.log().entries).toMatchObject([{ id: "peer" }, { id: "new" }]);
    expect(result?.parentId).not.toBe("first");
  });

  it("is completed in a log that holds some of them, none twice", () => {
    const world = newWorld(header, (memory, n, write) => {
      write();
      if (n > 1) return;
      const bytes = memory.readFileSync(path);
      replace(memory, bytes.subarray(0, bytes.indexOf("\n", header.length) + 1));
    });
    world.append([note("kept"), note("lost")]);
    const { entries } = world.log();
    expect(entries.map((entry) => entry["data"])).toEqual(["kept", "lost"]);
    expect(entries[1]?.parentId).toBe(entries[0]?.id);
  });
});

describe("an append after which the log cannot be read", () => {
  it("names the failed write as the cause if it failed, too", () => {
    const world = newWorld(header, (memory) => {
      appendRaw(memory, peer);
      world.stopReads();
      throw fileError("ENOSPC", "write", path);
    });
    expect(thrownBy(() => world.append([one]))).toMatchObject({
      code: "ERR_APPEND_UNCERTAIN",
      cause: { code: "ENOSPC" },
    });
  });

  it("names the failed read as the cause if the write went through", () => {
    const world = newWorld(header, (memory, _, write) => {
      appendRaw(memory, peer);
      write();
      world.stopReads();
    });
    expect(thrownBy(() => world.append([one]))).toMatchObject({
      code: "ERR_APPEND_UNCERTAIN",
      written: [],
      cause: expect.anything() as unknown,
    });
  });
});
