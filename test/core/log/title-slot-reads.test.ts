/**
 * Reading the title slot again, at each refresh of a log that has one: what that costs, and what
 * comes of it where the log becomes another one in the same moment.
 */
import { describe, expect, it } from "vitest";
import { readCounter } from "@branchlog/streaming";
import { openSession } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts, encodeTitleSlot } from "@branchlog/core/testing";
import { Engine } from "@branchlog/core/engine";
import { descriptorPoolOf } from "@branchlog/core/files";
import { fixtureBytes } from "../../support/fixture.ts";
import { reproducible } from "../../support/reproducible-ports.ts";
import { thrownBy, typedError } from "../../support/typed-errors.ts";
import { say } from "../live/support.ts";
import { appendTo } from "../../support/append-to.ts";

const path = "/s.jsonl";
const slotBytes = 256;
const withSlot = fixtureBytes("omp-18");
const withoutSlot = withSlot.subarray(slotBytes);
const added = '{"type":"custom","id":"added","parentId":null,"customType":"c"}\n';

interface Cost {
  readonly bytes: number;
  readonly reads: number;
}

/** What some work on a log costs in reads of it. */
async function costOf(
  log: Buffer,
  work: (use: {
    readonly append: () => Promise<unknown>;
    readonly appendAsAnother: () => void;
    readonly refresh: () => Promise<unknown>;
  }) => Promise<unknown>,
): Promise<Cost> {
  const fs = new MemoryFileSystem();
  fs.writeFileSync(path, log);
  const ports = createMemoryPorts({ fs, ...reproducible() });
  const session = await openSession(path, { ports, checkpoint: "off" });
  // The first of each opens what it needs.
  await session.append(say("first"));
  await session.refresh();
  readCounter.bytes = 0;
  const before = fs.callCount("readSync") + fs.callCount("read");
  await work({
    append: () => session.append(say("more")),
    appendAsAnother: () => appendTo(fs, path, added),
    refresh: () => session.refresh(),
  });
  const reads = fs.callCount("readSync") + fs.callCount("read") - before;
  return { bytes: readCounter.bytes, reads };
}

describe("reading the title slot", () => {
  it("is the only read of a refresh of an unchanged log, which reads nothing without one", async () => {
    const refresh = (log: Buffer): Promise<Cost> => costOf(log, (use) => use.refresh());
    expect(await refresh(withSlot)).toEqual({ bytes: slotBytes, reads: 1 });
    expect(await refresh(withoutSlot)).toEqual({ bytes: 0, reads: 0 });
  });

  it("is the only read of an append, which reads nothing without one (Verifies: P17)", async () => {
    const five = (log: Buffer): Promise<Cost> =>
      costOf(log, async (use) => {
        for (let n = 0; n < 5; n += 1) await use.append();
      });
    expect(await five(withSlot)).toEqual({ bytes: 5 * slotBytes, reads: 5 });
    expect(await five(withoutSlot)).toEqual({ bytes: 0, reads: 0 });
  });

  it("adds to the read of a refresh of a log that has grown without one", async () => {
    const grown = (log: Buffer): Promise<Cost> =>
      costOf(log, (use) => {
        use.appendAsAnother();
        return use.refresh();
      });
    const [one, other] = [await grown(withSlot), await grown(withoutSlot)];
    expect(one).toEqual({ bytes: other.bytes + slotBytes, reads: other.reads + 1 });
    // Its start and its end, which tell whether it is the same log, and what is new.
    expect(other.bytes).toBe(512 + 64 + added.length);
  });
});

const another = Buffer.concat([
  encodeTitleSlot({ title: "Another", updatedAt: "2026-01-01T00:00:00.000Z" }),
  Buffer.from('{"type":"session","version":3,"id":"other","timestamp":"","cwd":"/"}\n'),
]);

/** What becomes of the log in the midst of a refresh. */
const disturbances: Readonly<Record<string, (fs: MemoryFileSystem) => void>> = {
  "is cut within its slot": (fs) => fs.writeFileSync(path, withSlot.subarray(0, 100)),
  "is cut to nothing": (fs) => fs.writeFileSync(path, Buffer.alloc(0)),
  "is cut between two entries": (fs) =>
    fs.writeFileSync(path, withSlot.subarray(0, withSlot.indexOf("\n", 2_000) + 1)),
  "is written anew in place": (fs) => fs.writeFileSync(path, another),
  "loses its slot": (fs) => fs.writeFileSync(path, withoutSlot),
  "is replaced by another": (fs) => {
    fs.writeFileSync("/new", another);
    fs.renameSync("/new", path);
  },
  "is replaced by a copy": (fs) => {
    fs.writeFileSync("/new", withSlot);
    fs.renameSync("/new", path);
  },
  "is deleted": (fs) => fs.unlinkSync(path),
};

/** What a log holds, or why it cannot be opened. */
function factsOf(look: () => Engine): unknown {
  let engine: Engine | undefined;
  const error = thrownBy(() => (engine = look()));
  if (engine === undefined) return typedError(error).code;
  const { header, index, tailId, log } = engine;
  return { id: header.id, entries: index.count, tailId, name: log.state.name };
}

/** A refresh, which is disturbed before the n-th call of it. False: there was none. */
function lookDisturbed(
  n: number,
  disturb: (fs: MemoryFileSystem) => void,
  { grows, isOpen }: { readonly grows: boolean; readonly isOpen: boolean },
): boolean {
  const fs = new MemoryFileSystem();
  fs.writeFileSync(path, withSlot);
  const open = (): Engine =>
    Engine.openSync(path, { ports: createMemoryPorts({ fs }), checkpoint: "off" });
  const engine = open();
  const seen = [factsOf(open)];
  if (grows) appendTo(fs, path, added);
  seen.push(factsOf(open));
  if (!isOpen) descriptorPoolOf(fs).closeIdle();
  let calls = 0;
  fs.onCall = () => {
    calls += 1;
    if (calls !== n) return;
    fs.onCall = undefined;
    disturb(fs);
  };
  const look = (): Engine => {
    engine.refreshSync();
    return engine;
  };
  const first = factsOf(look);
  const isDisturbed = calls >= n;
  fs.onCall = undefined;
  if (!isDisturbed) return false;
  const now = factsOf(() => {
    // Nothing of it is reported otherwise to a session that had it open.
    if (fs.statSync(path) === null) engine.refreshSync();
    return open();
  });
  expect([...seen, now]).toContainEqual(first);
  expect(factsOf(look)).toEqual(now);
  // Where there is no log any more, what was known of it stays.
  if (typeof now === "string") expect(seen).toContainEqual(factsOf(() => engine));
  return true;
}

describe("a log that, while it is read,", () => {
  const cases = Object.entries(disturbances).flatMap(([name, disturb]) =>
    [true, false].flatMap((grows) =>
      [true, false].map((isOpen) => ({ name, disturb, grows, isOpen })),
    ),
  );

  it.each(cases)(
    "$name (grew before: $grows, its file open: $isOpen) is read again, or reported",
    ({ disturb, ...circumstances }) => {
      let n = 1;
      while (lookDisturbed(n, disturb, circumstances)) n += 1;
      // At least the stat and the slot.
      expect(n).toBeGreaterThan(2);
    },
  );
});
