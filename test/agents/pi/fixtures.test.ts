/** Every fixture through a session manager: the contexts, labels and names that pi's files must give. */
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { buildSessionContext } from "@branchlog/agents/pi";
import type { SessionManager } from "@branchlog/agents/pi";
import { engineOf, managersWith } from "../../../packages/agents/src/pi/session-manager.ts";
import { fixtureNames, readFixture } from "../../core/projections/fixture-session.ts";
import type { ExpectedContext } from "../../core/projections/fixture-session.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const json = (value: unknown): string => JSON.stringify(value, null, 1);
const managers = managersWith({});

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
  const path = fileURLToPath(new URL(`../../../fixtures/${name}.jsonl`, import.meta.url));
  const open = (): SessionManager => managers.open(path, temporaryDirectory());

  it("has its expected contexts, through the manager and through the functions", () => {
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
  });

  it("has its expected labels and name", () => {
    const manager = open();
    expect(manager.getSessionName() ?? null).toBe(expected.name);
    const labels = manager.getEntries().flatMap(({ id }) => manager.getLabel(id) ?? []);
    const wanted = (expected.labels as { targetId: string; label: string }[]).filter(
      ({ targetId }) => manager.getEntry(targetId) !== undefined,
    );
    expect(labels.toSorted()).toEqual(wanted.map(({ label }) => label).toSorted());
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

  it("gives branches with the same context at every leaf (Verifies: P22)", () => {
    for (const context of expected.contexts) {
      const manager = open();
      const leaf = idOf(manager, context);
      manager.branch(leaf);
      const wanted = json(manager.buildSessionContext());
      manager.createBranchedSession(leaf);
      expect(json(manager.buildSessionContext())).toBe(wanted);
    }
  });
});
