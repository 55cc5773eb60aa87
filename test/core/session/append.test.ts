import { appendFileSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import { createSession, memorySession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { userDraft } from "@branchlog/core/testing";
import { reproducible } from "../../support/reproducible-ports.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

async function newSession(name = "s.jsonl"): Promise<Session> {
  const path = join(temporaryDirectory(), name);
  return createSession(path, { cwd: "/w", id: "s", ports: reproducible() });
}

function linesOf(session: Session): string[] {
  return readFileSync(session.path, "utf8").split("\n");
}

describe("appending", () => {
  it("writes the same bytes on every run with a given clock and ids", async () => {
    const session = await newSession();
    const { id } = await session.append(userDraft("Hello"));
    await session.append({ type: "label", targetId: id, label: "start" });
    await session.append({ type: "custom", customType: "x", data: { n: 1 } });
    expect(linesOf(session)).toMatchInlineSnapshot(`
      [
        "{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}",
        "{"type":"message","id":"3e69971e","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"Hello","timestamp":1}}",
        "{"type":"label","id":"6ebec678","parentId":"3e69971e","timestamp":"2026-01-01T00:00:00.000Z","targetId":"3e69971e","label":"start"}",
        "{"type":"custom","customType":"x","data":{"n":1},"id":"e64b729a","parentId":"6ebec678","timestamp":"2026-01-01T00:00:00.000Z"}",
        "",
      ]
    `);
  });

  it("makes each entry the child of the one before and moves the leaf", async () => {
    const session = await newSession();
    const first = await session.append(userDraft("1"));
    const second = await session.append(userDraft("2"));
    expect(first.parentId).toBeNull();
    expect(second).toMatchObject({ parentId: first.id, revision: 2, displaced: false });
    expect(session.leaf).toBe(second.id);
    expect(statSync(session.path).mode & 0o777).toBe(0o600);
  });

  it("branches from an entry that the session moved to", async () => {
    const session = await newSession();
    const first = await session.append(userDraft("1"));
    await session.append(userDraft("2"));
    await session.moveTo(first.id);
    const third = await session.append(userDraft("3"));
    expect(third.parentId).toBe(first.id);
    expect(session.children(first.id)).toHaveLength(2);
    expect(session.tips()).toHaveLength(2);
    await session.moveTo(null);
    expect((await session.append(userDraft("4"))).parentId).toBeNull();
  });

  it("persists a move as an entry that is the leaf of other programs", async () => {
    const session = await newSession();
    const first = await session.append(userDraft("1"));
    await session.append(userDraft("2"));
    await session.moveTo(first.id, { persist: true });
    const again = await openSession(session.path);
    expect((await again.context()).messages).toHaveLength(1);
  });

  it("parses nothing and reads nothing back (Verifies: P17)", async () => {
    const session = await newSession();
    for (let i = 0; i < 50; i += 1) await session.append(userDraft(`${i}`));
    const before = decodeCounter.parses;
    for (let i = 0; i < 50; i += 1) await session.append(userDraft(`${i}`));
    expect(decodeCounter.parses).toBe(before);
  });

  it("appends a batch as one chain", async () => {
    const session = await newSession();
    const results = await session.appendAll([userDraft("1"), userDraft("2"), userDraft("3")]);
    expect(results.map(({ parentId }) => parentId)).toEqual([null, results[0]?.id, results[1]?.id]);
    expect(session.leaf).toBe(results[2]?.id);
    expect(await session.appendAll([])).toEqual([]);
  });

  it("refuses a batch over the limit and writes nothing", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const session = await createSession(path, { batchBytesMax: 1000 });
    const before = readFileSync(path);
    const batch = session.appendAll([userDraft("x".repeat(600)), userDraft("y".repeat(600))]);
    await expect(batch).rejects.toMatchObject({ code: "ERR_INVALID_ARGUMENT" });
    expect(readFileSync(path)).toEqual(before);
    await session.append(userDraft("x".repeat(5000)));
  });

  it("refuses what JSON cannot hold and leaves everything as it was (Verifies: P12)", async () => {
    const session = await newSession();
    await session.append(userDraft("1"));
    const before = [session.leaf, session.revision, readFileSync(session.path, "utf8")];
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    for (const data of [cyclic, 1n]) {
      const draft = { type: "custom", customType: "x", data } as const;
      await expect(session.append(draft)).rejects.toMatchObject({ code: "ERR_UNSERIALIZABLE" });
    }
    expect([session.leaf, session.revision, readFileSync(session.path, "utf8")]).toEqual(before);
    await session.append(userDraft("2"));
    expect(session.revision).toBe(2);
  });

  it("refuses to write when opened for reading, or after close", async () => {
    const session = await newSession();
    const reader = await openSession(session.path, { access: "read" });
    await expect(reader.append(userDraft("1"))).rejects.toMatchObject({ code: "ERR_READ_ONLY" });
    await session.close();
    await expect(session.append(userDraft("1"))).rejects.toMatchObject({ code: "ERR_CLOSED" });
    expect(() => session.tips()).toThrow(expect.objectContaining({ code: "ERR_CLOSED" }));
  });

  it("does not recreate a log that was deleted", async () => {
    const session = await newSession();
    await session.append(userDraft("1"));
    unlinkSync(session.path);
    await expect(session.append(userDraft("2"))).rejects.toMatchObject({ code: "ERR_LOG_GONE" });
    expect(() => statSync(session.path)).toThrow("ENOENT");
  });

  it("creates no log over a file that is there", async () => {
    const session = await newSession();
    const before = readFileSync(session.path);
    const again = createSession(session.path);
    await expect(again).rejects.toMatchObject({ code: "ERR_LOG_EXISTS" });
    expect(readFileSync(session.path)).toEqual(before);
  });

  it("keeps a memory session off the disk", async () => {
    const session = await memorySession({ cwd: "/w" });
    await session.append(userDraft("1"));
    expect((await session.context()).messages).toMatchObject([{ content: "1" }]);
    expect(() => statSync(session.path)).toThrow("ENOENT");
  });
});

describe("appending behind what others left", () => {
  const entry = (id: string, parent: string | null): string =>
    `{"type":"message","id":"${id}","parentId":${JSON.stringify(parent)},"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"x"}}`;

  it("fences off a torn fragment and keeps it (Verifies: P9)", async () => {
    const session = await newSession();
    const torn = entry("aaaaaaaa", null).slice(0, 77);
    appendFileSync(session.path, torn);
    const { id } = await session.append(userDraft("1"));
    expect(linesOf(session)).toMatchObject([/./, torn, /./, ""]);
    const again = await openSession(session.path);
    expect(again.leaf).toBe(id);
    expect(again.diagnostics).toMatchObject([{ kind: "bad-line", line: 2 }]);
  });

  it("gives a whole record its newline and continues from there (Verifies: P9)", async () => {
    const created = await newSession();
    appendFileSync(created.path, entry("aaaaaaaa", null));
    const session = await openSession(created.path);
    expect(session.leaf).toBe("aaaaaaaa");
    const { parentId } = await session.append(userDraft("1"));
    expect(parentId).toBe("aaaaaaaa");
    const again = await openSession(created.path);
    expect(again.revision).toBe(2);
    expect(again.diagnostics).toEqual([]);
  });

  it("starts over when a record that looked whole turns out to continue", async () => {
    const created = await newSession();
    appendFileSync(created.path, entry("aaaaaaaa", null));
    const session = await openSession(created.path);
    appendFileSync(created.path, "oops\n");
    await session.refresh();
    expect(session.tail).toBeNull();
    expect(session.diagnostics).toMatchObject([{ kind: "bad-line", line: 2 }]);
    const { parentId } = await session.append(userDraft("1"));
    expect(parentId).toBeNull();
  });

  it("sees entries of others, and branches from its own leaf by default", async () => {
    const one = await newSession();
    const { id } = await one.append(userDraft("1"));
    const two = await openSession(one.path);
    const foreign = await two.append(userDraft("2"));
    const own = await one.append(userDraft("3"));
    expect(own.parentId).toBe(id);
    expect(one.children(id).map((child) => child.id)).toEqual([foreign.id, own.id]);
  });

  it("follows or rejects instead, if asked", async () => {
    const one = await newSession();
    await one.append(userDraft("1"));
    const two = await openSession(one.path);
    const foreign = await two.append(userDraft("2"));
    const rejected = one.append(userDraft("3"), { onDiverged: "reject" });
    await expect(rejected).rejects.toMatchObject({ code: "ERR_DIVERGED", tail: foreign.id });
    const followed = await one.append(userDraft("3"), { onDiverged: "follow" });
    expect(followed.parentId).toBe(foreign.id);
  });

  it("checks the expected tail under the lock (Verifies: P2)", async () => {
    const one = await newSession();
    const first = await one.append(userDraft("1"), { expectedTail: null });
    const two = await openSession(one.path);
    const second = await two.append(userDraft("2"), { expectedTail: first.id });
    const late = one.append(userDraft("3"), { expectedTail: first.id });
    await expect(late).rejects.toMatchObject({ code: "ERR_CONFLICT", tail: second.id });
    expect(linesOf(one)).toHaveLength(4);
  });

  it("attaches a name to a foreign tail and leaves the leaf where it was", async () => {
    const one = await newSession();
    const first = await one.append(userDraft("1"));
    const two = await openSession(one.path);
    const foreign = await two.append(userDraft("2"));
    const named = await one.append({ type: "session_info", name: "n" });
    expect(named).toMatchObject({ parentId: foreign.id, attachedTo: "tail" });
    expect(one.leaf).toBe(first.id);
    expect(one.name).toBe("n");
    const labelled = await one.append({ type: "label", targetId: first.id, label: "l" });
    expect(labelled).toMatchObject({ parentId: named.id, attachedTo: "tail" });
    expect(one.leaf).toBe(first.id);
  });

  it("returns the first result when the same id and content come again (Verifies: P4)", async () => {
    const session = await newSession();
    const first = await session.append(userDraft("1"), { id: "retry-1" });
    await session.append(userDraft("2"));
    const again = await session.append(userDraft("1"), { id: "retry-1" });
    expect(again).toMatchObject({
      id: "retry-1",
      revision: first.revision,
      position: first.position,
    });
    const other = session.append(userDraft("other"), { id: "retry-1" });
    await expect(other).rejects.toMatchObject({ code: "ERR_DUPLICATE_ID" });
    expect(linesOf(session)).toHaveLength(4);
  });

  it("mints no id that another process took meanwhile", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const created = await createSession(path);
    const ids = { sessionId: () => "x", jitter: () => 0, urlSafeId: () => "x" };
    const ofOne = ["00000001", "00000002"];
    const one = await openSession(path, {
      ports: { ids: { ...ids, entryId: () => ofOne.shift() ?? "" } },
    });
    const two = await openSession(path, { ports: { ids: { ...ids, entryId: () => "00000001" } } });
    expect((await two.append(userDraft("two"))).id).toBe("00000001");
    expect((await one.append(userDraft("one"))).id).toBe("00000002");
    await created.refresh();
    expect(created.revision).toBe(2);
  });
});

describe("a log that is not the one that was read", () => {
  it("is read anew when it was rewritten in place, and what is lost is reported", async () => {
    const session = await newSession();
    const kept = await session.append(userDraft("kept"));
    const lost = await session.append(userDraft("lost"));
    const lines = linesOf(session);
    writeFileSync(
      session.path,
      `${lines[0]}\n${lines[1]}\n${lines[1]?.replace(kept.id, "ffffffff")}\n`,
    );
    await session.refresh();
    expect(session.revision).toBe(2);
    expect(session.diagnostics).toMatchObject([{ kind: "lost-entries", id: lost.id }]);
    expect(await session.entry(kept.id)).toBeDefined();
  });

  it("is read anew when it was truncated or replaced", async () => {
    const session = await newSession();
    await session.append(userDraft("1"));
    const [first] = linesOf(session);
    writeFileSync(session.path, `${first}\n`);
    await session.refresh();
    expect(session.tail).toBeNull();
    unlinkSync(session.path);
    writeFileSync(
      session.path,
      `${first}\n${JSON.stringify({ type: "custom", id: "z", parentId: null, customType: "c" })}\n`,
    );
    await session.refresh();
    expect(session.tail).toBe("z");
    // Below the leaf, which is gone, the entry would have no parent.
    await expect(session.append(userDraft("2"))).rejects.toMatchObject({ code: "ERR_DIVERGED" });
    await session.follow();
    const { parentId, position } = await session.append(userDraft("2"));
    expect(parentId).toBe("z");
    expect(position.generation).toBe(3);
  });
});
