/** The context of a session, requested again and again: what is kept of it never shows. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memorySession, openSession } from "@branchlog/core";
import type { EntryDraft, Session } from "@branchlog/core";
import { drafts, say, turns, newWorld } from "../live/support.ts";

const textsOf = async (session: Session): Promise<unknown[]> =>
  (await session.context()).messages.map((message) => "content" in message && message.content);

describe("the context at the leaf", () => {
  it("belongs to the caller, and does not change", async () => {
    const session = await memorySession();
    await session.append(say("one"));
    const first = await session.context();
    await session.append(say("two"));
    expect(first.messages.length).toBe(1);
    const second = await session.context();
    second.messages.pop();
    expect(await textsOf(session)).toEqual(["one", "two"]);
  });

  it("reports where its path is incomplete, also later", async () => {
    const { world, session } = await newWorld();
    await session.append(say("one"));
    await session.append(say("two"), { parent: { id: "lost" } }).catch(() => undefined);
    const text = world.fs.readFileSync("/s.jsonl").toString();
    world.fs.writeFileSync(
      "/s.jsonl",
      Buffer.from(text.replace('"parentId":null', '"parentId":"x"')),
    );
    await session.refresh();
    for (let turn = 0; turn < 3; turn += 1) {
      expect((await session.context()).truncatedAt).toBe("x");
      await session.append(say("more"));
    }
  });
});

it("a context is that at its call, whatever happens in between (Verifies: P15)", async () => {
  const act = fc.constantFrom("append", "ask", "move", "foreign", "wait");
  const script = fc.array(fc.tuple(act, fc.nat(100)), { maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(script, async (steps) => {
      const { world, session } = await newWorld();
      const other = await world.open();
      const asked: { got: Promise<unknown>; leaf: string | null }[] = [];
      const ids: string[] = [];
      // What a compaction or an edit names may be on another branch: then it is refused.
      const append = async (to: Session, draft: EntryDraft): Promise<void> => {
        const appended = await to.append(draft).catch(() => undefined);
        if (appended !== undefined) ids.push(appended.id);
      };
      for (const [what, pick] of steps) {
        const target = ids[pick % Math.max(1, ids.length)];
        const draft = drafts[pick % drafts.length]?.(target ?? "none") ?? say("");
        const isRefused = draft.type !== "message" && target === undefined;
        if (what === "ask") asked.push({ got: session.context(), leaf: session.leaf });
        else if (what === "wait") await turns(1);
        else if (what === "move" && target !== undefined) await session.moveTo(target);
        else if (what === "append" && !isRefused) await append(session, draft);
        else if (what === "foreign" && !isRefused) {
          await other.refresh();
          await append(other, draft);
          await session.refresh();
        }
      }
      const fresh = await openSession("/s.jsonl", { ports: world.ports, access: "read" });
      for (const { got, leaf } of asked) {
        expect(await got).toEqual(await fresh.context({ at: leaf }));
      }
    }),
    { numRuns: 150 },
  );
});
