/** The turns of an open session: always those of the whole path, for the price of what is new. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import { memorySession, openSession } from "@branchlog/core";
import type { EntryDraft, Session, SessionEntry } from "@branchlog/core";
import { turnsOfEntries } from "@branchlog/core/entries";
import type { SessionTurn } from "@branchlog/core/entries";
import { turnNotes } from "../../../packages/core/src/projections/turns.ts";
import { fixture } from "../../cli/command-run.ts";
import { assistantMessage } from "../projections/sample-entries.ts";
import { foldAll } from "../projections/fold.ts";

const user = (content: string): EntryDraft => ({
  type: "message",
  message: { role: "user", content, timestamp: 1 },
});
const answer = (text: string): EntryDraft => ({ type: "message", message: assistantMessage(text) });
const say = (targetId: string, fields: object): EntryDraft => ({
  type: "custom",
  customType: "branchlog.turn",
  data: { targetId, fields },
});

/** The turns as the pure projection makes them of everything that the session holds. */
async function expected(session: Session): Promise<SessionTurn[]> {
  const all: SessionEntry[] = [];
  for await (const entry of session.entries()) all.push(entry);
  return turnsOfEntries(await session.branch(), foldAll(turnNotes, all));
}

const fixtures = readdirSync(fixture("")).filter((name) => name.endsWith(".jsonl"));

describe("the turns of a session", () => {
  it.each(fixtures)("are those of its path, at every tip: %s", async (name) => {
    const session = await openSession(fixture(name), { access: "read" });
    for (const { id } of session.tips().slice(-6)) {
      await session.moveTo(id);
      const turns = await session.turns();
      expect(turns).toEqual(await expected(session));
      expect(await session.turns(id)).toEqual(turns);
      const messages = await session.messagesForResume();
      const parts = await Promise.all(turns.map(({ turn }) => session.messagesOfTurn(turn)));
      expect(messages.slice(messages.length - parts.flat().length)).toEqual(parts.flat());
      const last = turns.at(-1);
      if (last === undefined) continue;
      const replayed = await session.messagesForReplay(last.turn);
      expect(replayed).toEqual(messages.slice(0, replayed.length));
      expect(replayed).toHaveLength(messages.length - (parts.at(-1)?.length ?? 0) + 1);
    }
  });

  it("are those of its path, whatever is appended, and wherever it moves. Law", async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constant("user" as const) },
      { weight: 4, arbitrary: fc.constantFrom("answer" as const, "label" as const) },
      fc.constantFrom("note" as const, "move" as const, "root" as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.nat(99)), { maxLength: 25 }), async (steps) => {
        const session = await memorySession({ cwd: "/w" });
        const ids: string[] = [];
        for (const [kind, choice] of steps) {
          const id = ids[choice % Math.max(1, ids.length)] ?? "none";
          if (kind === "move" && ids.length > 0) await session.moveTo(id);
          else if (kind === "root") await session.moveTo(null);
          else if (kind === "user") ids.push((await session.append(user(`ask ${choice}`))).id);
          else if (kind === "answer") ids.push((await session.append(answer(`say ${choice}`))).id);
          else if (kind === "note") await session.append(say(id, { passed: choice % 2 === 0 }));
          else if (ids.length > 0)
            await session.append({ type: "label", targetId: id, label: "l" });
          if (choice % 3 > 0) expect(await session.turns()).toEqual(await expected(session));
        }
        expect(await session.turns()).toEqual(await expected(session));
      }),
      { numRuns: 60 },
    );
  });

  it("at a leaf that moved forward cost what was added", async () => {
    const session = await openSession(fixture("realistic-session.jsonl"), {
      bodyCacheBytesMax: 0,
      access: "read",
    });
    const { tips } = { tips: session.tips() };
    await session.moveTo(tips.at(-1)?.id ?? null);
    const path = await session.branch();
    await session.moveTo(path.at(-4)?.id ?? null);
    await session.turns();
    await session.moveTo(path.at(-1)?.id ?? null);
    const before = decodeCounter.parses;
    const turns = await session.turns();
    expect(decodeCounter.parses - before).toBeLessThanOrEqual(3);
    expect(turns).toEqual(await expected(session));
  });

  it("fail with the numbers that were asked for", async () => {
    const session = await memorySession({ cwd: "/w" });
    await session.append(user("one"));
    await expect(session.turns("nope")).rejects.toMatchObject({ code: "ERR_ENTRY_NOT_FOUND" });
    for (const turn of [0, 2, 1.5, Number.NaN]) {
      const code = "ERR_INVALID_ARGUMENT";
      await expect(session.messagesOfTurn(turn)).rejects.toMatchObject({ code });
      await expect(session.messagesForReplay(turn)).rejects.toMatchObject({ code });
    }
    expect(await session.turns(null)).toEqual([]);
    expect(await session.turnTotals()).toMatchObject({ count: 1 });
  });

  it("leave bodies out that cannot be read, and nothing else", async () => {
    const path = join(fixture(""), "pi-malformed-bodies.jsonl");
    const session = await openSession(path, { access: "read" });
    const path0 = await session.branch();
    expect(await session.turns()).toHaveLength(turnsOfEntries(path0).length);
  });
});
