/**
 * Sessions on file systems that behave as those of other systems do: what docs/platforms.md says of
 * them, and the law that nothing else differs.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSession, forkSession, openSession } from "@branchlog/core";
import type { OpenOptions, Session } from "@branchlog/core";
import { fileError, userDraft } from "@branchlog/core/testing";
import { applyRepair, planRepair, verifySession } from "@branchlog/tools";
import { rejection } from "../support/typed-errors.ts";
import { simulatedSystem, systemNames } from "./simulated-file-system.ts";
import type { SimulatedSystem } from "./simulated-file-system.ts";

const path = "/work/Session.jsonl";
const otherSpelling = "/Work/SESSION.jsonl";
const others = systemNames.filter((name) => name !== "linux");
const windows = systemNames.filter((name) => name.startsWith("Windows"));

function optionsOf({ ports }: SimulatedSystem): OpenOptions {
  return { ports, checkpointEveryBytes: 1 };
}

const many = { role: "user", content: "one of many", timestamp: 0 };

async function textsOf(session: Session): Promise<readonly unknown[]> {
  const { messages } = await session.context();
  return messages.map((message) => ("content" in message ? message.content : message.role));
}

/** What a session that is opened now has. */
async function textsAt(named: string, system: SimulatedSystem): Promise<readonly unknown[]> {
  const session = await openSession(named, { ports: system.ports, access: "read" });
  const report = await verifySession(session);
  expect(report.ok).toBe(true);
  const texts = await textsOf(session);
  await session.close();
  return texts;
}

/** A session that was closed, with its checkpoint. */
async function written(system: SimulatedSystem, ...texts: readonly string[]): Promise<void> {
  const session = await createSession(path, optionsOf(system));
  for (const text of texts) await session.append(userDraft(text));
  await session.close();
}

describe.each(others)("a session on %s", (name) => {
  it("is created, appended to, opened again and forked, and leaves no file open", async () => {
    const system = simulatedSystem(name);
    await written(system, "one", "two");
    const session = await openSession(path, optionsOf(system));
    await session.append(userDraft("three"));
    await session.close();
    const fork = await forkSession(path, { ports: system.ports, target: "/work/fork.jsonl" });
    expect(await textsAt(fork.path, system)).toEqual(["one", "two", "three"]);
    expect(await textsAt(path, system)).toEqual(["one", "two", "three"]);
    expect(system.fs.listSync("/work").toSorted()).toEqual([
      "Session.jsonl",
      "Session.jsonl.ckpt",
      "fork.jsonl",
    ]);
    expect(system.fs.inner.openCount).toBe(0);
  });

  it("is not replaced by a new one whose name differs in case only", async () => {
    const system = simulatedSystem(name);
    await written(system, "one");
    const error = await rejection(createSession(otherSpelling, optionsOf(system)));
    expect(error).toMatchObject({ code: "ERR_LOG_EXISTS" });
    expect(await textsAt(path, system)).toEqual(["one"]);
  });

  it("gets every entry of two writers that spell its name in different cases", async () => {
    const system = simulatedSystem(name);
    await written(system);
    const one = await openSession(path, optionsOf(system));
    const other = await openSession(otherSpelling, optionsOf(system));
    const appends = [one, other].flatMap((session, of) =>
      Array.from({ length: 10 }, (_, at) => session.append(userDraft(`${of}:${at}`))),
    );
    await Promise.all(appends);
    await one.close();
    await other.close();
    const session = await openSession(path, { ports: system.ports, access: "read" });
    expect(session.revision).toBe(20);
    expect((await verifySession(session)).ok).toBe(true);
    await session.close();
  });

  it("of an old version is migrated, with the old file beside it", async () => {
    const system = simulatedSystem(name);
    const old = readFileSync(join(import.meta.dirname, "../../fixtures/pi-v1.jsonl"));
    system.fs.makeDirectorySync("/work");
    system.fs.inner.writeFileSync(system.fs.key(path), old);
    const session = await openSession(path, optionsOf(system));
    const before = await textsOf(session);
    await session.append(userDraft("new"));
    await session.close();
    expect(await textsAt(path, system)).toEqual([...before, "new"]);
    expect(system.fs.inner.openCount).toBe(0);
  });

  it("is repaired in its place, with the damaged file beside it", async () => {
    const system = simulatedSystem(name);
    await written(system, "one", "two");
    const key = system.fs.key(path);
    const damaged = Buffer.concat([system.fs.inner.readFileSync(key), Buffer.from("torn {\n")]);
    system.fs.inner.writeFileSync(key, damaged);
    const plan = await planRepair(path, { ports: system.ports });
    const { original } = await applyRepair(plan, { ports: system.ports });
    expect(system.fs.inner.readFileSync(system.fs.key(original ?? "")).equals(damaged)).toBe(true);
    expect(await textsAt(path, system)).toEqual(["one", "two"]);
    expect(system.fs.inner.openCount).toBe(0);
  });
});

describe.each(windows)("what another program holds open on %s", (name) => {
  it("keeps a checkpoint as it was, and a session works without a new one", async () => {
    const system = simulatedSystem(name);
    await written(system, "one");
    const checkpoint = system.fs.key(`${path}.ckpt`);
    const before = system.fs.inner.readFileSync(checkpoint);
    const held = system.fs.openSync(`${path}.ckpt`, "read");
    const session = await openSession(path, optionsOf(system));
    await session.append(userDraft("two"));
    await session.close();
    expect(system.fs.inner.readFileSync(checkpoint).equals(before)).toBe(true);
    system.fs.closeSync(held);
    expect(await textsAt(path, system)).toEqual(["one", "two"]);
    const again = await openSession(path, optionsOf(system));
    await again.append(userDraft("three"));
    await again.close();
    expect(system.fs.inner.readFileSync(checkpoint).equals(before)).toBe(false);
    expect(system.fs.listSync("/work").filter((one) => one.endsWith(".tmp"))).toEqual([]);
  });

  it("is a checkpoint of another session, whose pages are then read from the log", async () => {
    const system = simulatedSystem(name);
    await written(system);
    const count = 20_000;
    const lines = Array.from({ length: count }, (_, at) => {
      const parentId = at === 0 ? null : `e${at - 1}`;
      const entry = { type: "message", id: `e${at}`, parentId, timestamp: "", message: many };
      return `${JSON.stringify(entry)}\n`;
    });
    const key = system.fs.key(path);
    const header = system.fs.inner.readFileSync(key);
    system.fs.inner.writeFileSync(key, Buffer.concat([header, Buffer.from(lines.join(""))]));
    const first = await openSession(path, optionsOf(system));
    await first.close();
    const reading = await openSession(path, optionsOf(system));
    const writing = await openSession(path, optionsOf(system));
    await writing.append(userDraft("more"));
    const before = system.fs.inner.readFileSync(system.fs.key(`${path}.ckpt`));
    await writing.close();
    const after = system.fs.inner.readFileSync(system.fs.key(`${path}.ckpt`));
    expect(after.equals(before)).toBe(false);
    expect((await reading.context()).messages).toHaveLength(count);
    await reading.close();
    expect(system.fs.inner.openCount).toBe(0);
  });

  it("is not repaired, and stays as it was", async () => {
    const system = simulatedSystem(name);
    await written(system, "one");
    const key = system.fs.key(path);
    const damaged = Buffer.concat([system.fs.inner.readFileSync(key), Buffer.from("torn {\n")]);
    system.fs.inner.writeFileSync(key, damaged);
    const plan = await planRepair(path, { ports: system.ports });
    const held = system.fs.openSync(path, "read");
    const error = await rejection(applyRepair(plan, { ports: system.ports }));
    expect(error).toMatchObject({ code: "ERR_REPAIR_FAILED" });
    system.fs.closeSync(held);
    expect(system.fs.inner.readFileSync(key).equals(damaged)).toBe(true);
  });
});

it("a new log that cannot be linked or made leaves nothing under its name", async () => {
  const system = simulatedSystem("Windows with exFAT");
  system.fs.makeDirectorySync("/work");
  system.fs.inner.onCall = ({ name }) => {
    if (name === "renameSync") throw fileError("EPERM", "rename");
  };
  const error = await rejection(createSession(path, optionsOf(system)));
  expect(error).toMatchObject({ code: "ERR_CREATE_FAILED" });
  system.fs.inner.onCall = undefined;
  expect(system.fs.listSync("/work")).toEqual([]);
});

it("a log is not migrated without room for a copy of it, where there are no links", async () => {
  const system = simulatedSystem("Windows with exFAT");
  const old = readFileSync(join(import.meta.dirname, "../../fixtures/pi-v1.jsonl"));
  system.fs.makeDirectorySync("/work");
  system.fs.inner.writeFileSync(system.fs.key(path), old);
  const session = await openSession(path, { ...optionsOf(system), checkpoint: "off" });
  system.fs.inner.onCall = ({ name, path: of }) => {
    const isCopy = name === "openSync" && of?.includes("v1-original") === true;
    if (isCopy) throw fileError("ENOSPC", "open", of);
  };
  const error = await rejection(session.append(userDraft("new")));
  expect(error).toMatchObject({ code: "ERR_MIGRATION" });
  system.fs.inner.onCall = undefined;
  await session.close();
  expect(system.fs.inner.readFileSync(system.fs.key(path)).equals(old)).toBe(true);
  expect(system.fs.listSync("/work")).toEqual(["session.jsonl"]);
});

/** Where the original is a link, where it is a copy, and where the log has to be closed first. */
const places = [
  ["linux", { hasHardLinks: true, isHeld: false }],
  ["linux without hard links", { hasHardLinks: false, isHeld: false }],
  ["Windows with NTFS", { hasHardLinks: true, isHeld: true }],
] as const;

describe.each(places)("what a writer without the lock appends meanwhile, on %s", (_, place) => {
  const late = '{"type":"custom","customType":"late","id":"late","parentId":null,"timestamp":""}\n';

  /** Appends to the log just before another file takes its name. */
  function lateSystem(before: Buffer): SimulatedSystem {
    const system = simulatedSystem(place.isHeld ? "Windows with NTFS" : "linux");
    const key = system.fs.key(path);
    system.fs.makeDirectorySync("/work");
    system.fs.inner.writeFileSync(key, before);
    let isLate = false;
    const renameSync = system.fs.renameSync.bind(system.fs);
    system.fs.renameSync = (from, to) => {
      if (system.fs.key(to) === key && !isLate) {
        isLate = true;
        const fd = system.fs.inner.openSync(key, "append");
        system.fs.inner.writeSync(fd, Buffer.from(late), 0, late.length);
        system.fs.inner.closeSync(fd);
      }
      renameSync(from, to);
    };
    if (!place.hasHardLinks) {
      system.fs.linkSync = () => {
        throw fileError("EPERM", "link");
      };
    }
    return system;
  }

  it("is in the log that was migrated (Verifies: P11)", async () => {
    const old = readFileSync(join(import.meta.dirname, "../../fixtures/pi-v1.jsonl"));
    const system = lateSystem(old);
    const session = await openSession(path, optionsOf(system));
    await session.append(userDraft("new"));
    await session.close();
    const text = system.fs.inner.readFileSync(system.fs.key(path)).toString();
    expect(text).toContain('"customType":"late"');
    expect(text).toContain('"new"');
    expect(system.fs.inner.openCount).toBe(0);
  });

  it("is in the log that was repaired (Verifies: P11)", async () => {
    const header = '{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/w"}\n';
    const system = lateSystem(Buffer.from(`${header}torn {\n`));
    const plan = await planRepair(path, { ports: system.ports });
    const { lateBytes } = await applyRepair(plan, { ports: system.ports });
    expect(lateBytes).toBe(late.length);
    const text = system.fs.inner.readFileSync(system.fs.key(path)).toString();
    expect(text).toBe(`${header}${late}`);
  });
});

/** What two processes may do to one session; `n` makes it different each time. */
const steps: readonly ((session: Session, n: number) => Promise<unknown>)[] = [
  (session, n) => session.append(userDraft(`text ${n}`)),
  (session, n) => session.appendAll([userDraft(`a ${n}`), userDraft(`b ${n}`)]),
  (session, n) => session.append({ type: "session_info", name: `name ${n}` }),
  async (session) => {
    const [first] = session.tips();
    if (first !== undefined) await session.moveTo(first.id);
  },
];

it("sessions hold the same on every system, whatever two writers do", async () => {
  const step = fc.tuple(fc.nat(steps.length - 1), fc.boolean(), fc.nat(99));
  const run = async (
    name: (typeof systemNames)[number],
    of: readonly [number, boolean, number][],
  ) => {
    const system = simulatedSystem(name);
    await written(system, "one");
    const sessions = [
      await openSession(path, optionsOf(system)),
      await openSession(name === "linux" ? path : otherSpelling, optionsOf(system)),
    ];
    for (const [at, isOther, n] of of) {
      const session = sessions[Number(isOther)];
      if (session !== undefined) await steps[at]?.(session, n);
    }
    const shown = await Promise.all(
      sessions.map(async (session) => [await textsOf(session), session.revision, session.name]),
    );
    for (const session of sessions) await session.close();
    return { shown, texts: await textsAt(path, system), open: system.fs.inner.openCount };
  };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (list) => {
      const expected = await run("linux", list);
      expect(expected.open).toBe(0);
      for (const name of others) expect([name, await run(name, list)]).toEqual([name, expected]);
    }),
    { numRuns: 40 },
  );
});
