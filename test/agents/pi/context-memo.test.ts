/** The context that is kept between two questions: never another one than built anew, and cheap. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import { buildSessionContext } from "@branchlog/agents/pi";
import type { SessionManager } from "@branchlog/agents/pi";
import { managersWith } from "../../../packages/agents/src/pi/session-manager.ts";
import { user } from "../../core/projections/sample-entries.ts";
import { answer, directory, inMemory, inMemoryFiles, say } from "./managers.ts";

const json = (value: unknown): string => JSON.stringify(value);

/** What the context builder makes of the same entries, without anything kept. */
function anew(manager: SessionManager): string {
  return json(buildSessionContext(manager.getEntries(), manager.getLeafId()));
}

type Move = (manager: SessionManager, ids: readonly string[]) => void;
const pick = (ids: readonly string[], n: number): string => ids[n % ids.length] ?? "";

const move: fc.Arbitrary<Move> = fc.nat().chain((n) =>
  fc.constantFrom<Move>(
    (manager) => say(manager, `${n}`),
    (manager) => answer(manager, `${n}`),
    (manager) => manager.appendMessage({ role: "system", content: `${n}`, timestamp: n }),
    (manager) => manager.appendModelChange("p", `m${n}`),
    (manager) => manager.appendThinkingLevelChange(`t${n}`),
    (manager) => manager.appendCustomEntry("x", n),
    (manager) => manager.appendCustomMessageEntry("x", `${n}`, true),
    (manager, ids) => ids.length > 0 && manager.appendLabelChange(pick(ids, n), "l"),
    (manager, ids) => manager.appendCompaction("s", n % 4 === 0 ? null : pick(ids, n), n),
    (manager, ids) => ids.length > 0 && manager.branch(pick(ids, n)),
    (manager, ids) => ids.length > 0 && manager.branchWithSummary(pick(ids, n), `${n}`),
    (manager) => manager.resetLeaf(),
    (manager) => {
      const { entries } = manager.buildSessionProjection();
      const target = entries.find(({ sourceEntry: { type } }) => type === "custom_message");
      if (target) manager.appendContextEdit(target.sourceEntry.id, n % 2 ? null : { content: "e" });
    },
  ),
);

describe("the kept context", () => {
  it("equals the one built anew, after any appends and moves (Verifies: P15)", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        const manager = inMemory();
        for (const one of moves) {
          one(
            manager,
            manager.getEntries().map(({ id }) => id),
          );
          expect(json(manager.buildSessionContext())).toBe(anew(manager));
        }
      }),
      { numRuns: 100 },
    );
  });

  it("equals the one built anew when others append as well (Verifies: P15)", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), move), { maxLength: 30 }), (moves) => {
        const { managers } = inMemoryFiles();
        const one = managers.create("/work", directory);
        say(one, "first");
        const both = [one, managers.open(one.getSessionFile() ?? "")];
        for (const [isOther, act] of moves) {
          const manager = both[isOther ? 1 : 0] ?? one;
          act(
            manager,
            manager.getEntries().map(({ id }) => id),
          );
          for (const each of both) expect(json(each.buildSessionContext())).toBe(anew(each));
        }
      }),
      { numRuns: 50 },
    );
  });

  it("notices a parent that comes later, and an id that is taken over", () => {
    const { managers, fs } = inMemoryFiles();
    const header = { type: "session", version: 3, id: "s", timestamp: "", cwd: "/w" };
    const write = (...records: readonly unknown[]): void =>
      fs.writeFileSync("/s.jsonl", Buffer.from(records.map((one) => `${json(one)}\n`).join("")));
    const records = [header, user("b", "a", "child"), user("c", "b", "leaf")];
    write(...records);
    const manager = managers.open("/s.jsonl");
    expect(manager.buildSessionContext().messages).toHaveLength(2);
    write(...records, user("a", null, "parent"));
    manager.appendCustomEntry("reads on");
    expect(manager.buildSessionContext().messages).toHaveLength(3);
    write(...records, user("a", null, "parent"), user("b", null, "again"));
    manager.branch("c");
    manager.appendCustomEntry("reads on");
    expect(json(manager.buildSessionContext())).toBe(anew(manager));
  });

  it("costs what was appended, and parses nothing that was appended here (Verifies: P17)", () => {
    const manager = inMemory();
    for (let i = 0; i < 500; i += 1) say(manager, `${i}`);
    manager.buildSessionContext();
    const before = decodeCounter.parses;
    say(manager, "one more");
    expect(manager.buildSessionContext().messages).toHaveLength(501);
    expect(decodeCounter.parses).toBe(before);
  });

  it("is the caller's own array each time", () => {
    const manager = inMemory();
    say(manager, "1");
    manager.buildSessionContext().messages.length = 0;
    expect(manager.buildSessionContext().messages).toHaveLength(1);
  });

  it("is not kept where it is larger than the cache for bodies (Verifies: P16)", () => {
    const manager = managersWith({ bodyCacheBytesMax: 1_000 }).inMemory("/work");
    for (let i = 0; i < 20; i += 1) say(manager, "x".repeat(100));
    manager.buildSessionContext();
    const before = decodeCounter.parses;
    expect(manager.buildSessionContext().messages).toHaveLength(20);
    expect(decodeCounter.parses).toBeGreaterThan(before + 10);
    say(manager, "more");
    expect(json(manager.buildSessionContext())).toBe(anew(manager));
  });
});
