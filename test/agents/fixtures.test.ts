/** Every fixture through a session manager of its agent, and through the functions over arrays. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { buildSessionContext as ompContext } from "@branchlog/agents/omp";
import { buildSessionContext } from "@branchlog/agents/pi";
import type { SessionManager } from "@branchlog/agents/pi";
import { engineOf, managersWith } from "../../packages/agents/src/pi/session-manager.ts";
import { managersWith as ompManagersWith } from "../../packages/agents/src/omp/session-manager.ts";
import { fixtureNames, readFixture } from "../core/projections/fixture-session.ts";
import type { ExpectedContext } from "../core/projections/fixture-session.ts";
import { fixtureFile } from "../support/fixture.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const json = (value: unknown): string => JSON.stringify(value, null, 1);
const managers = managersWith({});
const ompManagers = ompManagersWith({});

function idOf(manager: SessionManager, { leaf, leafLine }: ExpectedContext): string {
  const { index, log, tailId } = engineOf(manager);
  if (leafLine === undefined) return leaf ?? tailId ?? "";
  const { lines } = log.state.indexer;
  const row = Array.from({ length: index.count }, (_, i) => i).find(
    (i) => lines.lineOfRow(i) === leafLine,
  );
  return index.idOf(row ?? -1);
}

describe.each(fixtureNames())("the fixture %s, opened as pi does", (name) => {
  const { expected } = readFixture(name);
  const path = fixtureFile(name);
  const open = (): SessionManager => managers.open(path, temporaryDirectory());

  it("has its expected contexts, and no byte is changed (Verifies: P8)", () => {
    const before = readFileSync(path);
    const manager = open();
    for (const context of expected.contexts) {
      const { messages, thinkingLevel, model } = context;
      const leaf = idOf(manager, context);
      manager.branch(leaf);
      const wanted = json({ messages, thinkingLevel, model });
      expect(json(manager.buildSessionContext())).toBe(wanted);
      expect(json(buildSessionContext(manager.getEntries(), leaf))).toBe(wanted);
      const { entries, ...rest } = manager.buildSessionProjection();
      expect(json(rest)).toBe(wanted);
      expect(entries.map(({ sourceEntry }) => sourceEntry)).toEqual(manager.buildContextEntries());
    }
    manager.getTree();
    expect(readFileSync(path)).toEqual(before);
  });

  it("forks into a session with the same contexts at every leaf (Verifies: P22)", () => {
    const manager = open();
    const fork = managers.forkFrom(path, "/other", temporaryDirectory());
    expect(fork.getSessionName()).toBe(manager.getSessionName());
    for (const context of expected.contexts) {
      const leaf = idOf(manager, context);
      manager.branch(leaf);
      fork.branch(leaf);
      expect(json(fork.buildSessionContext())).toBe(json(manager.buildSessionContext()));
    }
  });
});

const ompNames = fixtureNames().filter((name) => /^(?:seed-)?omp|^mixed/.test(name));

describe.each(ompNames)("the fixture %s, opened as omp does", (name) => {
  const { expected } = readFixture(name);
  const path = fixtureFile(name);

  it("has its expected name and contexts, through the manager and through the function", async () => {
    const manager = await ompManagers.open(path, temporaryDirectory());
    expect(manager.getSessionName() ?? null).toBe(expected.name);
    const last = manager.getLeafId();
    expect(expected.contexts.length).toBeGreaterThan(0);
    for (const { leaf, messages, thinkingLevel, omp } of expected.contexts) {
      manager.branch(leaf ?? last ?? "");
      const context = manager.buildSessionContext();
      expect(JSON.parse(JSON.stringify(context))).toEqual({
        messages,
        thinkingLevel,
        ...Object(omp),
      });
      expect(ompContext(manager.getEntries(), leaf)).toEqual(context);
    }
  });
});
