/** Entries that a caller names: ids that are none, and unknown ids. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memorySession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { rejection } from "../../support/typed-errors.ts";

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

  it("rejects non-strings, by law, and moves nothing", async () => {
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

  it("accepts every string, or reports that there is no such entry", async () => {
    const session = await oneEntry();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (id) => {
        const failure = await rejection(ask(session, id));
        if (failure !== undefined)
          expect(failure).toMatchObject({ code: "ERR_ENTRY_NOT_FOUND", id });
      }),
    );
  });
});
