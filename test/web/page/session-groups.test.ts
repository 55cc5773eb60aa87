/** The list of sessions as lines. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noFilter, sessionLines } from "../../../packages/web/src/page/model/session-groups.ts";
import type { SessionFilter } from "../../../packages/web/src/page/model/session-groups.ts";
import type { SessionItem } from "../../../packages/web/src/api.ts";

const everything: SessionFilter = { ...noFilter, by: "project" };

const nowMs = new Date(2026, 10, 26, 15).getTime();

function session(key: string, given: Partial<SessionItem> = {}): SessionItem {
  return {
    key,
    path: `/sessions/${key}.jsonl`,
    id: key,
    name: null,
    firstMessage: null,
    agent: "pi",
    cwd: "/work",
    modifiedMs: 0,
    sizeBytes: 1,
    messageCount: 1,
    tokens: null,
    models: [],
    parentKey: null,
    isSubagent: false,
    firstPrompt: null,
    isArchived: false,
    activity: null,
    cost: null,
    isEstimate: false,
    ...given,
  };
}

function outline(sessions: readonly SessionItem[], filter = everything): readonly string[] {
  return sessionLines(sessions, filter, nowMs).map((line) =>
    line.kind === "group"
      ? `${line.name} ${line.count}`
      : `${"-".repeat(line.depth)}${line.item.key}`,
  );
}

describe("sessionLines", () => {
  it("puts forks and subagents below their parents, wherever they ran", () => {
    const sessions = [
      session("fork", { parentKey: "main", cwd: "/elsewhere", modifiedMs: 5 }),
      session("main", { modifiedMs: 1 }),
      session("below", { parentKey: "fork", modifiedMs: 2 }),
      session("other", { cwd: "/site", modifiedMs: 4 }),
    ];
    expect(outline(sessions)).toEqual(["/work 3", "main", "-fork", "--below", "/site 1", "other"]);
  });

  it("keeps a session when its parent is filtered out", () => {
    const sessions = [
      session("a", { name: "parser" }),
      session("b", { name: "retry loop", parentKey: "a" }),
    ];
    expect(outline(sessions, { ...everything, text: "LOOP retry" })).toEqual(["/work 1", "b"]);
  });

  it("shows only the chosen agents", () => {
    const sessions = [session("a"), session("b", { agent: "codex" })];
    const filter = { ...everything, agents: ["codex"] };
    expect(outline(sessions, filter)).toEqual(["/work 1", "b"]);
  });

  it("groups by recent days, then by months, with forks in the group of their family", () => {
    const at = (...parts: [number, number, number, number]): { modifiedMs: number } => ({
      modifiedMs: new Date(...parts).getTime(),
    });
    const sessions = [
      session("now", { ...at(2026, 10, 26, 1), cost: 1.5 }),
      session("old", at(2026, 8, 2, 9)),
      session("fork", { ...at(2026, 10, 25, 23), parentKey: "old" }),
      session("week", at(2026, 10, 20, 0)),
      session("month", at(2026, 10, 2, 9)),
      session("year", at(2025, 0, 1, 9)),
    ];
    const lines = ["Today 1", "now", "Yesterday 2", "old", "-fork", "This week 1", "week"];
    const months = ["November 2026 1", "month", "January 2025 1", "year"];
    expect(outline(sessions, noFilter)).toEqual([...lines, ...months]);
    expect(sessionLines(sessions, noFilter, nowMs)[0]).toMatchObject({ cost: 1.5 });
  });

  it("has each session exactly once, even when parents form a cycle", () => {
    const keys = fc.constantFrom("a", "b", "c", "d", "e", "f");
    const sessions = fc.uniqueArray(
      fc.record({ key: keys, parentKey: fc.option(keys), cwd: fc.constantFrom("/x", "/y") }),
      { selector: ({ key }) => key },
    );
    fc.assert(
      fc.property(sessions, (given) => {
        const lines = sessionLines(
          given.map(({ key, ...rest }) => session(key, rest)),
          everything,
          nowMs,
        );
        const shown = lines.flatMap((line) => (line.kind === "session" ? [line.item.key] : []));
        expect(shown.toSorted()).toEqual(given.map(({ key }) => key).toSorted());
      }),
    );
  });
});
