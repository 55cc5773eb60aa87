/** The list of sessions as lines. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionLines } from "../../../packages/web/src/page/model/session-groups.ts";
import type { SessionItem } from "../../../packages/web/src/api.ts";

const everything = { text: "", agents: new Set<SessionItem["agent"]>() };

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
    ...given,
  };
}

function outline(sessions: readonly SessionItem[], filter = everything): readonly string[] {
  return sessionLines(sessions, filter).map((line) =>
    line.kind === "project"
      ? `${line.cwd} ${line.count}`
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
    const filter = { text: "", agents: new Set<SessionItem["agent"]>(["codex"]) };
    expect(outline(sessions, filter)).toEqual(["/work 1", "b"]);
  });

  it("has each session exactly once, even when parents form a ring", () => {
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
        );
        const shown = lines.flatMap((line) => (line.kind === "session" ? [line.item.key] : []));
        expect(shown.toSorted()).toEqual(given.map(({ key }) => key).toSorted());
      }),
    );
  });
});
