/** Readers of a log that other programs replace, rewrite or cut short between any two calls. */
import { closeSync, ftruncateSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { Session, SessionEntry } from "@branchlog/core";
import type { Ports } from "@branchlog/core/types";
import { nodePorts, userDraft } from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import { temporaryFile } from "../../support/temporary-directory.ts";

const stamp = "2026-01-01T00:00:00.000Z";
const header = (version: number, cwd = "/w"): string =>
  `${JSON.stringify({ type: "session", version, id: "s", timestamp: stamp, cwd })}\n`;

/** Entries of 1 kB in a chain, so that reading them takes many reads. */
function chain(length: number, word: string): string[] {
  return Array.from({ length }, (_, i) => {
    const message = { role: "user", content: `${word} ${i} ${"x".repeat(1000)}`, timestamp: 1 };
    const links = { id: `e${i}`, parentId: i === 0 ? null : `e${i - 1}`, timestamp: stamp };
    return `${JSON.stringify({ type: "message", ...links, message })}\n`;
  });
}

function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** Reads everything, and does `once` after the first entry. */
async function readWith(session: Session, once: () => unknown): Promise<SessionEntry[]> {
  const entries: SessionEntry[] = [];
  for await (const entry of session.entries()) {
    entries.push(entry);
    if (entries.length === 1) await once();
  }
  return entries;
}

describe("reading a log that changes under the reader", () => {
  it("continues with its original file when the session migrates the log", async () => {
    const lines = chain(300, "old").map((line) => {
      const { id: _, parentId: __, ...rest } = JSON.parse(line) as Record<string, unknown>;
      return `${JSON.stringify(rest)}\n`;
    });
    const session = await openSession(temporaryFile(header(1) + lines.join("")));
    const entries = await readWith(session, () => session.append(userDraft("new")));
    expect(entries).toHaveLength(300);
    expect(session.diagnostics).toEqual([]);
  });

  it("continues with its original file when another one takes its name", async () => {
    const path = temporaryFile(header(3) + chain(300, "old").join(""));
    const session = await openSession(path);
    const entries = await readWith(session, async () => {
      replace(path, header(3, "/elsewhere") + chain(2, "new").join(""));
      await session.refresh();
    });
    expect(entries).toHaveLength(300);
    expect(session.revision).toBe(2);
  });

  it("fails when the file is rewritten in place, and hides nothing afterwards", async () => {
    const text = chain(300, "old").join("");
    const path = temporaryFile(header(3) + text);
    const session = await openSession(path);
    const reading = readWith(session, () => writeFileSync(path, header(3, "/elsewhere") + text));
    await expect(reading).rejects.toMatchObject({ code: "ERR_LOG_GONE" });
    await session.refresh();
    expect(await session.branch()).toHaveLength(300);
    expect(session.diagnostics).toEqual([]);
  });

  it("does not report a temporarily missing entry as damaged", async () => {
    const text = header(3) + chain(20, "old").join("");
    const path = temporaryFile(text);
    const session = await openSession(path);
    const fd = openSync(path, "r+");
    ftruncateSync(fd, 0);
    await expect(session.entry("e7")).rejects.toMatchObject({ code: "ERR_LOG_GONE" });
    writeSync(fd, text, 0);
    closeSync(fd);
    await session.refresh();
    expect(await session.entry("e7")).toMatchObject({ id: "e7" });
    expect(await session.branch()).toHaveLength(20);
  });

  it("never mixes the bodies of two files in one context", async () => {
    const path = temporaryFile(header(3) + chain(200, "old").join(""));
    const session = await openSession(path);
    const asked = session.context();
    replace(path, header(3) + chain(200, "new").toReversed().join(""));
    await session.refresh();
    const { messages } = await asked;
    const said = messages.map((message) => ("content" in message ? message.content : ""));
    expect(said.map((content) => JSON.stringify(content).slice(1).split(" x")[0])).toEqual(
      Array.from({ length: 200 }, (_, i) => `new ${i}`),
    );
  });
});

describe("queries in progress while the log grows", () => {
  it("include entries appended before their call", async () => {
    const session = await openSession(temporaryFile(header(3) + chain(200, "old").join("")));
    const early = session.summary;
    await session.append(userDraft("new"));
    expect((await session.summary).messageCount).toBe(201);
    expect((await early).messageCount).toBeLessThanOrEqual(201);
  });

  it("cover one log in verify when it is replaced", async () => {
    const path = temporaryFile(header(3) + chain(2000, "old").join(""));
    const session = await openSession(path);
    const asked = verifySession(session);
    await new Promise(setImmediate);
    replace(path, header(3, "/elsewhere") + chain(2, "new").join(""));
    await session.refresh();
    const { entries, records } = await asked;
    expect(records).toBe(entries + 1);
  });
});

it("an unreadable log is an error with a code for every query", async () => {
  const path = temporaryFile(header(3) + chain(3, "old").join(""));
  let isBroken = false;
  const fs: Ports["fs"] = {
    ...nodePorts.fs,
    readSync: (...call) => (isBroken ? failRead() : nodePorts.fs.readSync(...call)),
    read: async (...call) => (isBroken ? failRead() : nodePorts.fs.read(...call)),
  };
  const session = await openSession(path, { ports: { fs } });
  isBroken = true;
  const unreadable = { code: "ERR_LOG_UNREADABLE" };
  await expect(session.entry("e1")).rejects.toMatchObject(unreadable);
  await expect(session.context()).rejects.toMatchObject(unreadable);
  await expect(openSession(path, { ports: { fs } })).rejects.toMatchObject(unreadable);
  writeFileSync(path, chain(4, "old").slice(3).join(""), { flag: "a" });
  await expect(session.refresh()).rejects.toMatchObject(unreadable);
  await expect(session.append(userDraft("5"))).rejects.toMatchObject({
    code: "ERR_APPEND_FAILED",
  });
  isBroken = false;
  await session.refresh();
  expect(await session.branch()).toHaveLength(4);
});

function failRead(): never {
  throw Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" });
}
