/** Entries that a caller names: ids that are none, unknown ids, ids of damaged lines. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memorySession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const stamp = "2026-01-01T00:00:00.000Z";
const header = JSON.stringify({ type: "session", version: 3, id: "s", timestamp: stamp, cwd: "/" });

function line(id: string, parentId: string | null): string {
  const message = { role: "user", content: id, timestamp: 1 };
  return JSON.stringify({ type: "message", id, parentId, timestamp: stamp, message });
}

/** A line that looks like a message and is none. */
const torn = (id: string, parentId: string | null): string =>
  line(id, parentId).replace('"content":', '"content"::');

function fileOf(...lines: readonly string[]): string {
  const path = join(temporaryDirectory(), "s.jsonl");
  writeFileSync(path, [header, ...lines, ""].join("\n"));
  return path;
}

/** Every question that names an entry; `id` need not be one. */
const questions = {
  entry: (session, id) => session.entry(id),
  children: async (session, id) => session.children(id),
  label: async (session, id) => session.label(id),
  branch: (session, id) => session.branch(id),
  context: (session, at) => session.context({ at }),
  moveTo: (session, id) => session.moveTo(id),
  pick: (session, id) => session.pick(id, ["type"]),
  bodyStream: (session, id) => session.bodyStream(id).next(),
  treeNode: async (session, id) => session.tree().node(id),
  treeChildren: async (session, id) => session.tree().children(id),
} satisfies Readonly<Record<string, (session: Session, id: string) => Promise<unknown>>>;

/** What means something though it is not an id: the place before all entries, and the leaf. */
const meanings = new Map<string, readonly unknown[]>([
  ["children", [null]],
  ["moveTo", [null]],
  ["branch", [null, undefined]],
  ["context", [null, undefined]],
]);

describe.each(Object.entries(questions))("%s", (name, ask) => {
  const oneEntry = async (): Promise<Session> => {
    const session = await memorySession();
    await session.append({ type: "custom", customType: "x" }, { id: "a" });
    return session;
  };

  it("refuses what is no string, by law, and moves nothing", async () => {
    const session = await oneEntry();
    const means = (value: unknown): boolean => meanings.get(name)?.includes(value) === true;
    const noId = fc.anything().filter((value) => typeof value !== "string" && !means(value));
    await fc.assert(
      fc.asyncProperty(noId, async (id) => {
        // What a caller in JavaScript may pass.
        const asked = ask(session, id as string);
        await expect(asked).rejects.toMatchObject({ code: "ERR_INVALID_ARGUMENT" });
        expect(session.leaf).toBe("a");
      }),
    );
  });

  it("answers every string, or says that there is no such entry", async () => {
    const session = await oneEntry();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (id) => {
        const failure = await ask(session, id).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failure !== undefined)
          expect(failure).toMatchObject({ code: "ERR_ENTRY_NOT_FOUND", id });
      }),
    );
  });
});

describe("moving to a damaged entry", () => {
  it("is moving to no entry, also if its line was not read before", async () => {
    const path = fileOf(line("a", null), torn("b", "a"), line("c", "b"));
    const session = await openSession(path, { access: "read" });
    const notFound = { code: "ERR_ENTRY_NOT_FOUND", id: "b" };
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(session.moveTo("b")).rejects.toMatchObject(notFound);
      expect(session.leaf).toBe("c");
    }
    expect(session.diagnostics).toMatchObject([{ kind: "damaged-entry", id: "b", line: 3 }]);
    await session.moveTo("a");
    expect(session.leaf).toBe("a");
  });

  it("is the same for a line too long to be built", async () => {
    const path = fileOf(line("a", null), torn("b", "a"), line("c", "b"));
    const session = await openSession(path, { access: "read", lineBytesMax: 10 });
    await expect(session.moveTo("b")).rejects.toMatchObject({ code: "ERR_ENTRY_NOT_FOUND" });
    await session.moveTo("a");
  });

  it("leads to the readable entry that it hid", async () => {
    const path = fileOf(line("a", null), line("b", "a"), torn("b", "a"), line("c", "b"));
    const session = await openSession(path, { access: "read" });
    await session.moveTo("b");
    expect((await session.branch()).map(({ id }) => id)).toEqual(["a", "b"]);
  });
});
