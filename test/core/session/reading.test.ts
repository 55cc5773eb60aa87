import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import { createSession, memorySession, openSession } from "@branchlog/core";
import type { Session, SessionEntry } from "@branchlog/core";
import { fileOperations } from "@branchlog/core/entries";
import { userDraft } from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { runs } from "../../support/fault-seed.ts";

async function ids(entries: AsyncIterable<SessionEntry>): Promise<string[]> {
  const found: string[] = [];
  for await (const { id } of entries) found.push(id);
  return found;
}

/** root ─ a ─ b ─ c, and d under a. The leaf is d. */
async function forked(): Promise<Session> {
  const session = await memorySession();
  for (const id of ["root", "a", "b", "c"]) await session.append(userDraft(id), { id });
  await session.append(
    { type: "custom", customType: "x", data: 1 },
    { id: "d", parent: { id: "a" } },
  );
  return session;
}

describe("reading entries", () => {
  it("goes over the log or the branch, forwards or backwards, from any revision", async () => {
    const session = await forked();
    expect(await ids(session.entries())).toEqual(["root", "a", "b", "c", "d"]);
    expect(await ids(session.entries({ reverse: true }))).toEqual(["d", "c", "b", "a", "root"]);
    expect(await ids(session.entries({ from: 3 }))).toEqual(["b", "c", "d"]);
    expect(await ids(session.entries({ on: "branch" }))).toEqual(["root", "a", "d"]);
    expect(await ids(session.entries({ on: "branch", reverse: true }))).toEqual(["d", "a", "root"]);
    expect(await ids(session.entries({ type: "custom" }))).toEqual(["d"]);
    expect(await ids(session.entries({ customType: "x", type: "message" }))).toEqual([]);
    await expect(session.entries({ from: 0 }).next()).rejects.toMatchObject({
      code: "ERR_INVALID_ARGUMENT",
    });
  });

  const count = runs(50_000, 250_000);

  it(`finds the latest state of an extension among ${count} by parsing one (Verifies: P17)`, async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    await createSession(path);
    const lines: string[] = [];
    for (let i = 0; i < count; i += 1) {
      const id = i.toString(16).padStart(8, "0");
      const parent = i === 0 ? "null" : `"${(i - 1).toString(16).padStart(8, "0")}"`;
      const type = i === 1000 ? "rare" : "common";
      lines.push(
        `{"type":"custom","customType":"${type}","data":{"n":${i}},"id":"${id}","parentId":${parent},"timestamp":"2026-01-01T00:00:00.000Z"}\n`,
      );
    }
    appendFileSync(path, lines.join(""));
    const opening = decodeCounter.parses;
    const session = await openSession(path, { access: "read", bodyCacheBytesMax: 0 });
    // The header and the tip; every other line is indexed from its envelope.
    expect(decodeCounter.parses - opening).toBe(2);
    for (const [customType, n] of [
      ["common", count - 1],
      ["rare", 1000],
    ] as const) {
      const before = decodeCounter.parses;
      for await (const entry of session.entries({ type: "custom", customType, reverse: true })) {
        expect(entry).toMatchObject({ customType, data: { n } });
        break;
      }
      expect(decodeCounter.parses - before).toBe(1);
    }
  });

  it("gives undefined for an unknown id, and a typed error where an id must exist", async () => {
    const session = await forked();
    expect(await session.entry("none")).toBeUndefined();
    expect(await session.branch("none")).toEqual([]);
    const notFound = { code: "ERR_ENTRY_NOT_FOUND", id: "none", message: "Entry none not found" };
    await expect(session.context({ at: "none" })).rejects.toMatchObject(notFound);
    await expect(session.moveTo("none")).rejects.toMatchObject(notFound);
    await expect(session.append(userDraft("x"), { parent: { id: "none" } })).rejects.toMatchObject(
      notFound,
    );
    await expect(session.pick("none", ["type"])).rejects.toMatchObject(notFound);
  });

  it("picks inside a body without building it", async () => {
    const session = await forked();
    expect(await session.pick("b", ["message", "content"])).toBe("b");
    const tokens = [];
    for await (const token of session.bodyStream("d")) tokens.push(token);
    expect(tokens.length).toBeGreaterThan(10);
  });
});

describe("reading inside a body", () => {
  it("names damage, and values too large to be built, by code", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    await createSession(path);
    const line = (id: string, data: string): string =>
      `{"type":"custom","customType":"x","data":${data},"id":"${id}","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}\n`;
    appendFileSync(path, line("bad", "[1,}]") + line("good", "[1,2]").replace("null", '"bad"'));
    const session = await openSession(path);
    expect(await session.pick("good", ["data", 1])).toBe(2);
    await expect(session.pick("bad", ["data", 5])).rejects.toMatchObject({
      code: "ERR_ENTRY_DAMAGED",
      id: "bad",
    });
    await expect(session.bodyStream("bad").return(undefined)).resolves.toBeDefined();
    const tokens = async (): Promise<void> => {
      for await (const token of session.bodyStream("bad")) expect(token).toBeDefined();
    };
    await expect(tokens()).rejects.toMatchObject({ code: "ERR_ENTRY_DAMAGED" });
  });
});

describe("the tree of a session", () => {
  it("answers from the index alone", async () => {
    const session = await forked();
    const before = decodeCounter.parses;
    expect(session.tips().map(({ id }) => id)).toEqual(["c", "d"]);
    expect(session.children("a").map(({ id }) => id)).toEqual(["b", "d"]);
    expect(session.children(null).map(({ id }) => id)).toEqual(["root"]);
    const tree = session.tree();
    expect(tree).toMatchObject({ roots: ["root"], size: 5 });
    expect(tree.node("d")).toMatchObject({
      type: "custom",
      customType: "x",
      parentId: "a",
      revision: 5,
    });
    expect(decodeCounter.parses).toBe(before);
    await session.append(userDraft("later"), { id: "later" });
    expect([tree.size, tree.children("d"), tree.node("later")]).toEqual([5, [], undefined]);
  });

  it("names the files that a branch touched", async () => {
    const session = await forked();
    expect(fileOperations(await session.branch())).toEqual({ readFiles: [], modifiedFiles: [] });
  });

  it("keeps the leaf of a reader at the tail, until it moves (follow goes back)", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const writer = await createSession(path);
    const reader = await openSession(path, { access: "read" });
    const first = await writer.append(userDraft("1"));
    await reader.refresh();
    expect(reader.leaf).toBe(first.id);
    await reader.moveTo(null);
    const second = await writer.append(userDraft("2"));
    await reader.refresh();
    expect(reader.leaf).toBeNull();
    await reader.follow();
    expect(reader.leaf).toBe(second.id);
  });
});

describe("verifying a log", () => {
  const header =
    '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}';
  const custom = (id: string, parent: string | null): string =>
    `{"type":"custom","customType":"x","id":"${id}","parentId":${JSON.stringify(parent)},"timestamp":"2026-01-01T00:00:00.000Z"}`;

  it("reports every kind of damage with its place", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const lines = [
      header,
      custom("a", null),
      "{torn",
      "",
      custom("a", null),
      custom("orphan", "gone"),
      custom("p", "q"),
      custom("q", "p"),
      '{"type":"cus',
    ];
    writeFileSync(path, lines.join("\n"));
    const session = await openSession(path, { access: "read" });
    const report = await verifySession(session);
    const bytes = lines.join("\n").length;
    expect(report).toMatchObject({
      path,
      ok: false,
      sizeBytes: bytes,
      lines: 8,
      blankLines: 1,
      records: 6,
      entries: 5,
      badLineCount: 1,
      badLines: [
        {
          line: 3,
          offset: header.length + custom("a", null).length + 2,
          length: 5,
          reason: "not-json",
        },
      ],
      duplicateIdCount: 1,
      duplicateIds: [{ id: "a", line: 5 }],
      orphans: [{ id: "orphan", missingParentId: "gone" }],
      cycles: [{ id: "p", size: 2 }],
      pending: { kind: "fragment", length: 12, offset: bytes - 12 },
    });
  });

  it("finds nothing wrong with what this engine writes", async () => {
    const session = await forked();
    expect(await verifySession(session)).toMatchObject({ ok: true, entries: 5, pending: null });
  });
});

describe("a path that breaks off", () => {
  it("is reported, ends there by default, and can be bridged", async () => {
    const lost = `{"type":"message","id":"two","parentId":"gone","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"2"}}\n`;
    const path = join(temporaryDirectory(), "s.jsonl");
    await createSession(path);
    appendFileSync(path, lost.replace('"gone"', "null").replace("two", "one") + lost);
    const opened = await openSession(path);
    expect(await opened.context()).toMatchObject({
      truncatedAt: "gone",
      messages: [{ content: "2" }],
    });
    const bridged = await opened.context({ bridgeGaps: true });
    expect(bridged).toMatchObject({ truncatedAt: "gone", messages: [{}, { content: "2" }] });
    expect(opened.diagnostics).toMatchObject([{ kind: "missing-parent", id: "two", line: 3 }]);
  });
});
