/** The leaf of a session after moves, failures and appends of others. */
import { appendFileSync, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, memorySession, openSession } from "@branchlog/core";
import type { OpenOptions, Session } from "@branchlog/core";
import { jsonLines, sampleHeader, userDraft, userEntry } from "@branchlog/core/testing";
import { temporaryDirectory, temporaryFile } from "../../support/temporary-directory.ts";
import { runs } from "../../support/fault-seed.ts";
import { tornEntry } from "../../support/torn-entry.ts";

const newSession = (): Promise<Session> =>
  createSession(join(temporaryDirectory(), "s.jsonl"), { cwd: "/w" });

const line = (id: string, parentId: string | null): string =>
  jsonLines(userEntry(id, parentId, id));

const idsOf = (entries: readonly { readonly id: string }[]): string[] =>
  entries.map(({ id }) => id);

describe("the leaf and other writers", () => {
  it("follows in order, so that each append goes to the leaf at its call", async () => {
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

  it("continues following after an earlier append", async () => {
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

  it("ends with the caller's reason when the wait for the lock is aborted", async () => {
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

it("the leaf stays where it is when an old append is retried", async () => {
  const session = await memorySession();
  await session.append(userDraft("1"), { id: "one" });
  const { id } = await session.append(userDraft("2"));
  expect(await session.append(userDraft("1"), { id: "one" })).toMatchObject({
    id: "one",
    revision: 1,
  });
  expect(session.leaf).toBe(id);
});

describe("lines that only look like entries", () => {
  const open = (lines: readonly string[], options: OpenOptions = {}): Promise<Session> =>
    openSession(temporaryFile(jsonLines(sampleHeader()) + lines.join("")), options);

  it("are not tips when an own append terminated them", async () => {
    const session = await open([line("a", null), tornEntry("b", "a")]);
    const { id } = await session.append(userDraft("1"));
    expect(idsOf(session.tips())).toEqual([id]);
    expect(session.diagnostics).toMatchObject([{ kind: "damaged-entry", id: "b" }]);
  });

  it.each([1_000_000, 10])(
    "are not valid targets of a move, lineBytesMax %i",
    async (lineBytesMax) => {
      const lines = [line("a", null), `${tornEntry("b", "a")}\n`, line("c", "b")];
      const session = await open(lines, { access: "read", lineBytesMax });
      const notFound = { code: "ERR_ENTRY_NOT_FOUND", id: "b" };
      for (let attempt = 0; attempt < 2; attempt += 1) {
        await expect(session.moveTo("b")).rejects.toMatchObject(notFound);
        expect(session.leaf).toBe("c");
      }
      expect(session.diagnostics).toMatchObject([{ kind: "damaged-entry", id: "b", line: 3 }]);
      await session.moveTo("a");
      expect(session.leaf).toBe("a");
    },
  );

  it("do not hide the readable entry with their id from a move, also when saved", async () => {
    const lines = [line("a", null), line("b", "a"), `${tornEntry("b", "a")}\n`, line("c", "b")];
    const options = { checkpointEveryBytes: 1 };
    const session = await open(lines, options);
    await session.moveTo("b");
    expect(idsOf(await session.branch())).toEqual(["a", "b"]);
    await session.close();
    const again = await openSession(session.path, options);
    await again.moveTo("b");
    expect(idsOf(await again.branch())).toEqual(["a", "b"]);
  });

  it("cost a tree no more when each is below another", async () => {
    const count = runs(8_000, 30_000);
    const damaged = Array.from({ length: count }, (_, i) => `${tornEntry(`d${i}`, `d${i - 1}`)}\n`);
    const below = Array.from({ length: count }, (_, i) => line(`c${i}`, `d${count - 1}`));
    const session = await open([line("d-1", null), ...damaged, ...below]);
    for await (const _ of session.entries()) continue;
    // One walk per entry through all the damage would outlast the patience of the test.
    expect(session.tree().children("d-1")).toHaveLength(count);
    expect(session.diagnostics).toHaveLength(1000);
  });
});
