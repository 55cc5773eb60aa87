/**
 * Writes that do not land as planned, on a file system that cannot be read at one moment while it
 * is found out what became of them: the report on which entries were written, and which were
 * not, is correct, and no entry that exists is reported as missing.
 */
import { expect, it } from "vitest";
import { isBranchlogError } from "@branchlog/core";
import {
  MemoryFileSystem,
  createMemoryPorts,
  fileError,
  sampleHeader,
} from "@branchlog/core/testing";
import { appendTo } from "../support/append-to.ts";
import { rawLog, repeatedIds } from "../support/raw-log.ts";
import { reproducible } from "../support/reproducible-ports.ts";
import { thrownBy, typedError } from "../support/typed-errors.ts";
import { BlockingSession } from "../support/blocking-session.ts";
import type { Offer } from "../support/engine-appends.ts";

const path = "/s.jsonl";
const header = sampleHeader({ timestamp: "2026-01-01T00:00:00.000Z" });

const offers: readonly Offer[] = ["a", "b", "c", "d"].map((id) => ({
  id,
  draft: { type: "custom", customType: "x", data: `${id} ${"y".repeat(100)}` },
}));

/** What happens just before the first write of an append, or to it. */
const disturbances: Readonly<Record<string, (fs: MemoryFileSystem) => void | "short">> = {
  "it is cut short": () => "short",
  "a peer appends before it": (fs) =>
    appendTo(fs, path, '{"type":"custom","id":"peer","parentId":null}\n'),
  "a peer's fragment is before it": (fs) => appendTo(fs, path, '{"type":"cus'),
  "the file is replaced by a copy": (fs) => {
    fs.writeFileSync("/copy", fs.readFileSync(path));
    fs.renameSync("/copy", path);
  },
};

/** Whether a call reads: the look after the write, or what follows from it. */
const reads = new Set(["statSync", "fstatSync", "readSync", "openSync"]);

/** One append of which the n-th read after its first write fails; false if there was none. */
function attempt(disturb: (fs: MemoryFileSystem) => void | "short", n: number): boolean {
  const fs = new MemoryFileSystem();
  const ports = createMemoryPorts({ fs, ...reproducible() });
  BlockingSession.create(path, header, { ports });
  const session = BlockingSession.open(path, { ports });
  let left = -1;
  let hasWritten = false;
  fs.onCall = ({ name }) => {
    if (name === "writeSync" && !hasWritten) {
      hasWritten = true;
      left = n;
      return disturb(fs);
    }
    if (!hasWritten || !reads.has(name)) return undefined;
    left -= 1;
    if (left === -1) throw fileError("EIO", name, path);
    return undefined;
  };
  const error = thrownBy(() => session.append(...offers));
  fs.onCall = undefined;

  const log = rawLog(fs.readFileSync(path));
  const stored = new Set(log.entries.map(({ id }) => id));
  const offered = offers.map(({ id = "" }) => id);
  expect(repeatedIds(log)).toEqual([]);
  if (error === undefined) expect(offered.filter((id) => !stored.has(id))).toEqual([]);
  else if (isBranchlogError(error, "ERR_APPEND_FAILED")) {
    expect(error.written).toEqual(offered.filter((id) => stored.has(id)));
  } else {
    expect(error).toMatchObject({ code: "ERR_APPEND_UNCERTAIN" });
    for (const id of typedError(error).written) expect(stored.has(id)).toBe(true);
  }
  expect(session.append(...offers).map(({ id }) => id)).toEqual(offered);
  const after = rawLog(fs.readFileSync(path));
  expect(repeatedIds(after)).toEqual([]);
  expect(offered.filter((id) => !after.entries.some((entry) => entry.id === id))).toEqual([]);
  return left < 0;
}

it.each(Object.entries(disturbances))(
  "an append that cannot be read when %s reports the truth (Verifies: P12)",
  (_, disturb) => {
    let n = 0;
    while (attempt(disturb, n)) n += 1;
    expect(n).toBeGreaterThan(2);
  },
);
