/** The turns of an open session: always those of the whole path. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memorySession, openSession } from "@branchlog/core";
import type { EntryDraft, Session } from "@branchlog/core";
import {
  messagesForReplay,
  messagesForResume,
  messagesOfTurn,
  sessionTurns,
  turnNotesIn,
  turnTotals,
  turnsOfEntries,
} from "@branchlog/agents/connectonion";
import type { SessionTurn } from "@branchlog/agents/connectonion";
import { collected } from "../../support/collected.ts";
import { fixture } from "../../cli/command-run.ts";
import { assistantMessage } from "../../core/projections/sample-entries.ts";

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
  const all = await collected(session.entries());
  return turnsOfEntries(await session.branch(), turnNotesIn(all));
}

const fixtures = readdirSync(fixture("")).filter((name) => name.endsWith(".jsonl"));

describe("the turns of a session", () => {
  it.each(fixtures)("are those of its path, at every tip: %s", async (name) => {
    const session = await openSession(fixture(name), { access: "read" });
    for (const { id } of session.tips().slice(-6)) {
      await session.moveTo(id);
      const turns = await sessionTurns(session);
      expect(turns).toEqual(await expected(session));
      const messages = await messagesForResume(session);
      const parts = await Promise.all(turns.map(({ turn }) => messagesOfTurn(session, turn)));
      expect(messages.slice(messages.length - parts.flat().length)).toEqual(parts.flat());
      const last = turns.at(-1);
      if (last === undefined) continue;
      const replayed = await messagesForReplay(session, last.turn);
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
          if (choice % 3 > 0) expect(await sessionTurns(session)).toEqual(await expected(session));
        }
        expect(await sessionTurns(session)).toEqual(await expected(session));
      }),
      { numRuns: 60 },
    );
  });

  it("fail with the requested numbers", async () => {
    const session = await memorySession({ cwd: "/w" });
    await session.append(user("one"));
    for (const turn of [0, 2, 1.5, Number.NaN]) {
      const code = "ERR_INVALID_ARGUMENT";
      await expect(messagesOfTurn(session, turn)).rejects.toMatchObject({ code });
      await expect(messagesForReplay(session, turn)).rejects.toMatchObject({ code });
    }
    expect(turnTotals(await sessionTurns(session))).toMatchObject({ count: 1 });
  });

  it("omit only bodies that cannot be read", async () => {
    const path = join(fixture(""), "pi-malformed-bodies.jsonl");
    const session = await openSession(path, { access: "read" });
    const path0 = await session.branch();
    expect(await sessionTurns(session)).toHaveLength(turnsOfEntries(path0).length);
  });
});
