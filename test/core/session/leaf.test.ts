/** The leaf of a session after moves, failures and appends of others. */
import { appendFileSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, memorySession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts, userDraft } from "@branchlog/core/testing";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { runs } from "../../support/fault-seed.ts";

const stamp = "2026-01-01T00:00:00.000Z";

const newSession = (): Promise<Session> =>
  createSession(join(temporaryDirectory(), "s.jsonl"), { cwd: "/w" });

function line(id: string, parentId: string | null): string {
  const message = { role: "user", content: id, timestamp: 1 };
  return `${JSON.stringify({ type: "message", id, parentId, timestamp: stamp, message })}\n`;
}

/** A line that looks like a message and is none. */
function torn(id: string, parentId: string | null): string {
  const envelope = JSON.stringify({ type: "message", id, parentId, timestamp: stamp });
  return `${envelope.slice(0, -1)},"message":{"role":"assistant","content":[{"a":{"b":1}}`;
}

const idsOf = (entries: readonly { readonly id: string }[]): string[] =>
  entries.map(({ id }) => id);

describe("the leaf and other writers", () => {
  it("can append again after a rejection once the session looked, moved or followed", async () => {
    const session = await newSession();
    const { id } = await session.append(userDraft("1"));
    const reject = { onDiverged: "reject" } as const;
    const looks = [
      () => session.refresh(),
      () => session.moveTo(id),
      () => session.follow(),
    ] as const;
    for (const [number, look] of looks.entries()) {
      appendFileSync(session.path, line(`other ${number}`, id));
      const diverged = { code: "ERR_DIVERGED" };
      await expect(session.append(userDraft("2"), reject)).rejects.toMatchObject(diverged);
      await look();
      await session.append(userDraft("3"), reject);
    }
  });

  it("takes a label along at the tail, and leaves it behind elsewhere", async () => {
    const session = await newSession();
    const { id } = await session.append(userDraft("1"));
    appendFileSync(session.path, line("other", id));
    const label = { type: "label", targetId: id, label: "here" } as const;
    expect(await session.append(label)).toMatchObject({ attachedTo: "tail", parentId: "other" });
    expect(session.leaf).toBe(id);
    appendFileSync(session.path, line("another", id));
    await session.refresh();
    await session.follow();
    const followed = await session.append(label);
    expect(followed).toMatchObject({ attachedTo: "leaf", parentId: "another" });
    expect(session.leaf).toBe(followed.id);
  });

  it("moves in its turn among appends that were asked for before and after", async () => {
    const session = await newSession();
    const first = await session.append(userDraft("1"));
    const second = await session.append(userDraft("2"));
    mkdirSync(`${session.path}.branchlog-lock`);
    const third = session.append(userDraft("3"));
    const moved = session.moveTo(first.id);
    const fourth = session.append(userDraft("4"));
    rmdirSync(`${session.path}.branchlog-lock`);
    await moved;
    expect((await third).parentId).toBe(second.id);
    expect((await fourth).parentId).toBe(first.id);
  });

  it("follows in its turn, so that each append goes where it was when it was asked for", async () => {
    const session = await newSession();
    const first = await session.append(userDraft("1"));
    await session.append(userDraft("2"));
    await session.moveTo(first.id);
    mkdirSync(`${session.path}.branchlog-lock`);
    const before = session.append(userDraft("3"));
    const followed = session.follow();
    const behind = session.append(userDraft("4"));
    expect(session.leaf).toBe(first.id);
    rmdirSync(`${session.path}.branchlog-lock`);
    await followed;
    const third = await before;
    expect(third.parentId).toBe(first.id);
    expect((await behind).parentId).toBe(third.id);
  });

  it("continues following after an append that was asked for before", async () => {
    const session = await newSession();
    const { id } = await session.append(userDraft("1"));
    const appended = session.append(userDraft("2"));
    await session.follow();
    expect(session.leaf).toBe((await appended).id);
    appendFileSync(session.path, line("other", id));
    await session.refresh();
    expect(session.leaf).toBe("other");
    await session.close();
    await expect(session.follow()).rejects.toMatchObject({ code: "ERR_CLOSED" });
  });

  it("ends with the caller's own reason when the wait for the lock is given up", async () => {
    const session = await newSession();
    mkdirSync(`${session.path}.branchlog-lock`);
    const reason = new RangeError("enough");
    const given = new AbortController();
    const waiting = session.append(userDraft("1"), { signal: given.signal });
    setImmediate(() => given.abort(reason));
    await expect(waiting).rejects.toBe(reason);
    rmdirSync(`${session.path}.branchlog-lock`);
    expect((await session.append(userDraft("2"))).revision).toBe(1);
  });
});

describe("the leaf and failures", () => {
  it("is the last entry of a failed batch that was written", async () => {
    const fs = new MemoryFileSystem();
    const session = await memorySession({ ports: createMemoryPorts({ fs }) });
    await session.append(userDraft("1"));
    let writes = 0;
    fs.onCall = ({ name }) => {
      if (name !== "writeSync") return undefined;
      writes += 1;
      if (writes === 1) return "short";
      throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    };
    const failed = await session
      .appendAll([userDraft("2"), userDraft("x".repeat(500))])
      .catch((error: unknown) => error);
    fs.onCall = undefined;
    const { leaf } = session;
    expect(failed).toMatchObject({ code: "ERR_APPEND_FAILED", written: [leaf] });
    expect((await session.append(userDraft("3"))).parentId).toBe(leaf);
    expect(await session.branch()).toHaveLength(3);
  });

  it("stays where it is when an old append is retried", async () => {
    const session = await memorySession();
    await session.append(userDraft("1"), { id: "one" });
    const { id } = await session.append(userDraft("2"));
    expect(await session.append(userDraft("1"), { id: "one" })).toMatchObject({
      id: "one",
      revision: 1,
    });
    expect(session.leaf).toBe(id);
  });

  it("moves to a retried entry that had been written unnoticed", async () => {
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs });
    const session = await createSession("/s.jsonl", { ports, cwd: "/w" });
    const other = await openSession("/s.jsonl", { ports });
    await other.append(userDraft("1"), { id: "one" });
    await session.append(userDraft("1"), { id: "one" });
    expect((await session.append(userDraft("2"))).parentId).toBe("one");
  });

  it("is no parent once it is gone from the log", async () => {
    const session = await newSession();
    await session.append(userDraft("1"));
    writeFileSync(session.path, `${JSON.stringify(session.header)}\n${line("z", null)}`);
    await expect(session.append(userDraft("2"))).rejects.toMatchObject({ code: "ERR_DIVERGED" });
    expect(session.tips()).toMatchObject([{ id: "z" }]);
  });

  it("is never an entry without an id", async () => {
    const session = await memorySession();
    const invalid = { code: "ERR_INVALID_ARGUMENT" };
    await expect(session.append(userDraft("1"), { id: "" })).rejects.toMatchObject(invalid);
  });
});

describe("lines that only look like entries", () => {
  const open = (...lines: string[]): Promise<Session> => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const header = { type: "session", version: 3, id: "s", timestamp: stamp, cwd: "/w" };
    writeFileSync(path, `${JSON.stringify(header)}\n${lines.join("")}`);
    return openSession(path);
  };

  it("are no tips when an own append ended them", async () => {
    const session = await open(line("a", null), torn("b", "a"));
    const { id } = await session.append(userDraft("1"));
    expect(idsOf(session.tips())).toEqual([id]);
    expect(session.diagnostics).toMatchObject([{ kind: "damaged-entry", id: "b" }]);
  });

  it("are neither tail nor leaf though a child is before them", async () => {
    const session = await open(line("a", null), line("c", "b"), `${torn("b", "a")}\n`);
    expect([session.tail, session.leaf]).toEqual(["c", "c"]);
  });

  it("do not come back as tips from behind one another", async () => {
    const session = await open(line("a", null), `${torn("b", "a")}\n`, `${torn("b", "a")}\n`);
    expect(idsOf(session.tips())).toEqual(["a"]);
    expect(session.leaf).toBe("a");
  });

  it("are no tips when their only child moves elsewhere", async () => {
    const session = await open(line("a", null), `${torn("b", "a")}\n`, line("c", "b"));
    appendFileSync(session.path, line("c", "a"));
    await session.refresh();
    expect(idsOf(session.tips())).toEqual(["c"]);
  });

  it("never hide the entry whose id they repeat", async () => {
    const session = await open(line("a", null), line("b", "a"), `${torn("a", null)}\n`);
    expect(idsOf(await session.branch("b"))).toEqual(["a", "b"]);
    expect(await session.entry("a")).toMatchObject({ id: "a" });
  });

  it("cost a tree no more when each is below another", async () => {
    const count = runs(8_000, 30_000);
    const damaged = Array.from({ length: count }, (_, i) => `${torn(`d${i}`, `d${i - 1}`)}\n`);
    const below = Array.from({ length: count }, (_, i) => line(`c${i}`, `d${count - 1}`));
    const session = await open(line("d-1", null), ...damaged, ...below);
    for await (const _ of session.entries()) continue;
    // One walk per entry through all the damage would outlast the patience of the test.
    expect(session.tree().children("d-1")).toHaveLength(count);
    expect(session.diagnostics).toHaveLength(1000);
  });
});

describe("ids of odd forms", () => {
  it.each([
    ["a name of objects", "__proto__"],
    ["upper case", "ABCDEF01"],
    ["no ASCII", "é"],
    ["half a character", "\ud800"],
    ["half a character and more", "\udfff and more"],
    ["70,000 characters", "x".repeat(70_000)],
  ])("work as any other: %s", async (_, id) => {
    const session = await newSession();
    await session.append(userDraft("0"), { id: "\ud801" });
    await session.append(userDraft("1"), { id });
    await session.append(userDraft("2"));
    const again = await openSession(session.path, { access: "read" });
    for (const one of [session, again]) {
      expect(await one.entry(id)).toMatchObject({ id, parentId: "\ud801" });
      expect(await one.branch()).toHaveLength(3);
    }
  });
});
