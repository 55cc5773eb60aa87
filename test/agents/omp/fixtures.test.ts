/** The fixtures of omp through its manager, and through the functions over arrays. */
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { buildSessionContext } from "@branchlog/agents/omp";
import { managersWith } from "../../../packages/agents/src/omp/session-manager.ts";
import { fixtureNames, readFixture } from "../../core/projections/fixture-session.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const managers = managersWith({});
const names = fixtureNames().filter((name) => /^(?:seed-)?omp|^mixed/.test(name));

describe.each(names)("the fixture %s, opened as omp does", (name) => {
  const { expected } = readFixture(name);
  const path = fileURLToPath(new URL(`../../../fixtures/${name}.jsonl`, import.meta.url));

  it("has its expected contexts, through the manager and through the function", async () => {
    const manager = await managers.open(path, temporaryDirectory());
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
      expect(buildSessionContext(manager.getEntries(), leaf)).toEqual(context);
    }
  });

  it("has its expected name", async () => {
    const manager = await managers.open(path, temporaryDirectory());
    expect(manager.getSessionName() ?? null).toBe(expected.name);
  });
});
