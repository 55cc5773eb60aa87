/** Sessions by working directory, forks under their parents, whatever headers say. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionGroups } from "@branchlog/library";
import type { ListedSession, SessionGroup } from "@branchlog/library";
import { runs } from "../../support/fault-seed.ts";

function session(id: string, parent?: object, cwd: unknown = "/w"): ListedSession {
  const header = { type: "session", id, timestamp: "t", cwd, ...parent };
  return {
    path: `/sessions/t_${id}.jsonl`,
    // A header may lack any field but the id.
    header: header as unknown as ListedSession["header"],
    name: undefined,
    summary: { messageCount: 0, firstMessage: undefined, lastActivityMs: undefined },
    dialect: "pi",
    modifiedMs: 0,
    sizeBytes: 0,
  };
}

function groupsOf(...sessions: readonly ListedSession[]): SessionGroup[] {
  return sessionGroups(sessions);
}

/** `id depth` of each session, in order. */
function placesOf(...sessions: readonly ListedSession[]): string[] {
  return groupsOf(...sessions).flatMap((group) =>
    group.sessions.map((one) => `${one.session.header.id} ${one.depth}`),
  );
}

describe("forks", () => {
  it("are below their parent, named by path, by id, or as in version 1", () => {
    const [a, b] = [session("a"), session("b", { parentSession: "/sessions/t_a.jsonl" })];
    const [c, d] = [session("c", { parentSession: "b" }), session("d", { branchedFrom: "a" })];
    expect(placesOf(d, c, b, a)).toEqual(["a 0", "d 1", "b 1", "c 2"]);
  });

  it("find a moved parent by the id in its name", () => {
    const fork = session("b", { parentSession: "/elsewhere/t_a.jsonl" });
    expect(placesOf(fork, session("a"))).toEqual(["a 0", "b 1"]);
  });

  it("of a missing parent name it", () => {
    const [group] = groupsOf(session("b", { parentSession: "/gone/x.jsonl" }));
    const parent = { reference: "/gone/x.jsonl", session: undefined };
    expect(group?.sessions[0]).toMatchObject({ depth: 0, parent });
  });

  it("of a parent in another working directory are in their own group", () => {
    const [a, b] = [session("a"), session("b", { parentSession: "a" }, "/v")];
    expect(groupsOf(b, a).map(({ cwd }) => cwd)).toEqual(["/v", "/w"]);
    expect(groupsOf(b, a)[0]?.sessions[0]).toMatchObject({ depth: 0, parent: { session: a } });
  });

  it("in a cycle are all listed, and so is one that is its own parent", () => {
    const [a, b] = [session("a", { parentSession: "b" }), session("b", { parentSession: "a" })];
    const [c, d] = [session("c", { parentSession: "b" }), session("d", { parentSession: "d" })];
    expect(placesOf(a, b, c, d)).toEqual(["d 0", "a 0", "b 1", "c 2"]);
  });

  it("without a working directory, or with one that is not text, are a group", () => {
    expect(groupsOf(session("a", { cwd: undefined }), session("b", {}, 5))).toMatchObject([
      { cwd: "", sessions: [{}, {}] },
    ]);
  });

  it("are each listed once, below their parent, for any parents (Verifies: P18)", () => {
    const parent = fc.option(fc.nat({ max: 12 }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(parent, { maxLength: 12 }), (parents) => {
        const all = parents.map((of, i) =>
          session(`s${i}`, of === undefined ? {} : { parentSession: `s${of}` }),
        );
        const places = groupsOf(...all).flatMap((group) => group.sessions);
        expect(new Set(places.map((one) => one.session)).size).toBe(all.length);
        expect(places).toHaveLength(all.length);
        const open: ListedSession[] = [];
        for (const { session: one, depth, parent: named } of places) {
          open.length = depth;
          if (depth > 0) expect(named?.session).toBe(open[depth - 1]);
          open.push(one);
        }
      }),
    );
  });

  const count = runs(20_000, 100_000);

  it(`can be a chain of ${count} (Verifies: P18)`, () => {
    const all = Array.from({ length: count }, (_, i) =>
      session(`s${i}`, i === 0 ? {} : { parentSession: `s${i - 1}` }),
    );
    expect(groupsOf(...all)[0]?.sessions.at(-1)?.depth).toBe(count - 1);
  });
});
