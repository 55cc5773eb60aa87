/** Turns, branches and times of a list, against the plainest way to find them. */
import { appendFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSessions } from "@branchlog/library";
import { openSession } from "@branchlog/core";
import { readSessionFacts } from "./read-facts.ts";
import { large, list } from "./saved-directory.ts";
import { entry, header, jsonl, message, startMs, user, writeLines } from "./session-lines.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const fixtures = fileURLToPath(new URL("../../../fixtures/", import.meta.url));

async function activityOf(...lines: readonly (object | string)[]) {
  const facts = await readSessionFacts(writeLines(temporaryDirectory(), "s.jsonl", lines));
  return facts?.activity;
}

function at(seconds: number): string {
  return new Date(startMs + seconds * 1000).toISOString();
}

/** Entries of a tree: each continues an earlier one, by its number, or none. */
const tree = fc.array(fc.nat(), { minLength: 1, maxLength: 40 });

function treeLines(parents: readonly number[], idOf: (number: number) => string): object[] {
  return parents.map((parent, number) => ({
    type: "message",
    id: idOf(number),
    parentId: parent % (number + 1) === number ? null : idOf(parent % (number + 1)),
    timestamp: at(number),
    message: { role: number % 2 === 0 ? "user" : "toolResult", content: `said ${number}` },
  }));
}

const idForms: readonly (readonly [string, (number: number) => string])[] = [
  ["hex digits", (number) => number.toString(16).padStart(8, "0")],
  ["other texts", (number) => `entry-ü-${number}`],
];

describe("the activity of a listed session", () => {
  it.each(idForms)(
    "has as many branches as entries without children, with ids of %s",
    async (...form) => {
      const [, idOf] = form;
      await fc.assert(
        fc.asyncProperty(tree, async (parents) => {
          const lines = treeLines(parents, idOf);
          const named = new Set(lines.map((line) => Reflect.get(line, "parentId") as unknown));
          const tips = lines.filter((line) => !named.has(Reflect.get(line, "id")));
          const activity = await activityOf(header(), ...lines);
          expect(activity?.branchCount).toBe(tips.length);
          expect(activity?.turns).toBe(Math.ceil(lines.length / 2));
          expect(activity?.counts.reduce((sum, count) => sum + count, 0)).toBe(lines.length);
        }),
        { numRuns: 40 },
      );
    },
  );

  it("is the same when its file is read incrementally or completely", async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.nat(), async (parents, cut) => {
        const lines = treeLines(parents, (number) => number.toString(16).padStart(8, "0"));
        const before = lines.slice(0, cut % (lines.length + 1));
        const directory = temporaryDirectory();
        const path = writeLines(directory, "s.jsonl", [header(), large, ...before]);
        await list(directory);
        appendFileSync(path, jsonl(lines.slice(before.length)));
        const [session] = await list(directory);
        expect(session?.activity).toEqual((await readSessionFacts(path))?.activity);
      }),
      { numRuns: 15 },
    );
  });

  it("has the first prompt that is not a command of the agent", async () => {
    const activity = await activityOf(
      header(),
      user("/mode plan"),
      user("  /home/me/project does not build\nwhy?"),
      user("later"),
    );
    expect(activity).toMatchObject({
      firstPrompt: "/home/me/project does not build\nwhy?",
      turns: 3,
    });
    expect((await activityOf(header(), user("/mode")))?.firstPrompt).toBeUndefined();
    const halved = `${"x".repeat(999)}😀`;
    expect((await activityOf(header(), user(halved)))?.firstPrompt).toBe("x".repeat(999));
  });

  it("adds up pauses of at most five minutes, and counts entries by time", async () => {
    const times = [0, 10, 70, 1000, 1001];
    const lines = times.map((seconds) => entry("custom", { customType: "c" }, at(seconds)));
    const activity = await activityOf(header(), ...lines);
    expect(activity).toMatchObject({
      startedMs: startMs,
      activeMs: 71_000,
      partMs: 64_000,
      turns: 0,
    });
    expect(activity?.counts).toEqual([2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
  });

  it("handles invalid and missing times", async () => {
    const lines = ["never", "9999-12-31T00:00:00.000Z", "-1", at(0)].map((time) =>
      entry("custom", {}, time),
    );
    const activity = await activityOf(header(), ...lines, message("user", null));
    expect(activity?.counts.length).toBeLessThanOrEqual(24);
    expect(activity?.turns).toBe(1);
  });

  it("exists for the sessions of every agent, and agrees with the opened session", async () => {
    const names = ["claude", "codex", "pi-branches.jsonl", "omp-18.jsonl"];
    const directory = temporaryDirectory();
    for (const name of names) {
      cpSync(join(fixtures, name), join(directory, name), { recursive: true });
    }
    const { sessions } = await findSessions([directory]);
    expect(sessions.length).toBeGreaterThan(4);
    for (const { path, activity } of sessions) {
      const session = await openSession(path, { access: "read", checkpoint: "off" });
      expect([path, activity?.branchCount]).toEqual([path, session.tips().length]);
      await session.close();
    }
  });
});
