/** Files of one log alone: in memory, and from a certain length on in a file without a name. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it, onTestFinished, vi } from "vitest";
import { createPrivatePorts } from "../../../packages/core/src/platform/private-ports.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

function temporaryFilesIn(directory: string): void {
  vi.stubEnv("TMPDIR", directory);
  onTestFinished(() => void vi.unstubAllEnvs());
}

interface Change {
  readonly isAppend: boolean;
  readonly bytes: Uint8Array;
  readonly place: number;
}

const changes = fc.array(
  fc.record({
    isAppend: fc.boolean(),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }),
    place: fc.nat({ max: 200 }),
  }),
  { maxLength: 30 },
);

/** The content of a file after changes, and whether it is what it should be. */
function expectSame(memoryBytesMax: number, made: readonly Change[]): void {
  const { fs } = createPrivatePorts({}, { memoryBytesMax });
  const fd = fs.openSync("/log", "create");
  let wanted = Buffer.alloc(0);
  for (const { isAppend, bytes, place } of made) {
    const given = Buffer.from(bytes);
    const at = isAppend ? wanted.length : Math.min(place, wanted.length);
    if (isAppend) expect(fs.writeSync(fd, given, 0, given.length)).toBe(given.length);
    else fs.updateSync(fd, given, at);
    const end = wanted.subarray(Math.min(wanted.length, at + given.length));
    wanted = Buffer.concat([wanted.subarray(0, at), given, end]);
    const read = Buffer.alloc(wanted.length + 10);
    expect(fs.readSync(fd, read, 0, read.length, 0)).toBe(wanted.length);
    expect(read.subarray(0, wanted.length).equals(wanted)).toBe(true);
    expect(fs.statSync("/log")?.size).toBe(wanted.length);
    const middle = Math.floor(wanted.length / 2);
    const part = Buffer.alloc(7);
    const count = fs.readSync(fd, part, 0, part.length, middle);
    expect(part.subarray(0, count).equals(wanted.subarray(middle, middle + 7))).toBe(true);
  }
}

it("have the same contents wherever their bytes are", () => {
  const directory = temporaryDirectory();
  temporaryFilesIn(directory);
  fc.assert(
    fc.property(changes, fc.constantFrom(0, 50, 100_000), (made, memoryBytesMax) => {
      expectSame(memoryBytesMax, made);
    }),
  );
  // No other process can open them.
  expect(readdirSync(directory)).toEqual([]);
});

it("stay in memory when no temporary file can be created", () => {
  temporaryFilesIn(join(temporaryDirectory(), "missing"));
  fc.assert(fc.property(changes, (made) => expectSame(50, made)));
});
