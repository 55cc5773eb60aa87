/** By what a checkpoint is known to be of a log: each fact counts, and each sample. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ByteSource } from "@branchlog/streaming";
import type { FileStat } from "@branchlog/core/testing";
import { encodeTitleSlot } from "@branchlog/core/testing";
import { bindingOf, isBoundTo } from "../../../packages/core/src/checkpoint/log-binding.ts";
import { isSameState } from "../../../packages/core/src/platform/ports.ts";

const sampleBytes = 4096;
const samples = 66;

/** Bytes in memory, and how often they were read. */
function sourceOf(bytes: Buffer): ByteSource & { readonly reads: () => number } {
  let reads = 0;
  const readSync: ByteSource["readSync"] = (target, offset, length, position) => {
    reads += 1;
    return bytes.copy(target, offset, position, position + length);
  };
  return { readSync, read: async (...where) => readSync(...where), reads: () => reads };
}

function statOf(size: number, facts: Partial<FileStat> = {}): FileStat {
  const times = { mtimeMs: 1, ctimeMs: 2 };
  const kind = { isFile: true, isDirectory: false, mode: 0o100600, uid: 0 };
  return { dev: 3, ino: 4, size, ...times, ...kind, ...facts };
}

/** A log of that length, its bytes all different from their neighbours. */
function logOf(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, at) => (at * 31) % 251));
}

const long = logOf(1_000_000);
const stat = statOf(long.length);
const binding = bindingOf(sourceOf(long), stat, long.length);

/** Whether the checkpoint of the long log is one of a log with these bytes and facts. */
function isOf(bytes: Buffer, facts: Partial<FileStat>): boolean {
  return isBoundTo(binding, sourceOf(bytes), statOf(bytes.length, facts));
}

describe("a log", () => {
  it("is recognised without a read while its file is unchanged", () => {
    const source = sourceOf(Buffer.alloc(long.length));
    expect(isBoundTo(binding, source, stat)).toBe(true);
    expect(source.reads()).toBe(0);
    expect(isSameState(binding, stat)).toBe(true);
  });

  it.each([{ dev: 9 }, { ino: 9 }, { size: 9 }, { ctimeMs: 9 }])(
    "is not recognised without a read when it has %o",
    (facts) => {
      expect(isSameState(binding, statOf(long.length, facts))).toBe(false);
    },
  );

  it("is another one when its device, its inode or a smaller size differs, with the same bytes", () => {
    expect(isOf(long, { ctimeMs: 9 })).toBe(true);
    expect(isOf(Buffer.concat([long, Buffer.from("more")]), { ctimeMs: 9 })).toBe(true);
    expect(isOf(long, { dev: 9 })).toBe(false);
    expect(isOf(long, { ino: 9 })).toBe(false);
    expect(isOf(long, { size: long.length - 1 })).toBe(false);
  });

  it("is another one when any byte in one of its samples differs", () => {
    const last = long.length - sampleBytes;
    fc.assert(
      fc.property(fc.nat(samples - 1), fc.nat(sampleBytes - 1), (sample, within) => {
        const changed = Buffer.from(long);
        const at = Math.floor((last * sample) / (samples - 1)) + within;
        changed[at] = (changed[at] ?? 0) ^ 1;
        expect(isOf(changed, { ctimeMs: 9 })).toBe(false);
      }),
    );
  });

  it("is recognised by all of its bytes when it is short", () => {
    const short = logOf(100);
    const bound = bindingOf(sourceOf(short), statOf(short.length), short.length);
    for (let at = 0; at < short.length; at += 1) {
      const changed = Buffer.from(short);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const now = statOf(short.length, { ctimeMs: 9 });
      expect(isBoundTo(bound, sourceOf(changed), now)).toBe(false);
    }
  });

  it("is the same for any title slot, and another one for any other byte after it", () => {
    const slot = encodeTitleSlot({ title: "one", updatedAt: "2026-01-01T00:00:00.000Z" });
    const other = encodeTitleSlot({ title: "two", updatedAt: "2026-01-02T00:00:00.000Z" });
    for (const rest of [logOf(50), logOf(20_000)]) {
      const size = slot.length + rest.length;
      const bound = bindingOf(sourceOf(Buffer.concat([slot, rest])), statOf(size), size);
      const now = statOf(size, { ctimeMs: 9 });
      const renamed = Buffer.concat([other, rest]);
      expect(isBoundTo(bound, sourceOf(renamed), now)).toBe(true);
      renamed[slot.length] = (renamed[slot.length] ?? 0) ^ 1;
      expect(isBoundTo(bound, sourceOf(renamed), now)).toBe(false);
    }
  });
});
