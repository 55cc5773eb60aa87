/** Ids of no entry, strings and others: both managers answer as pi does. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager as OmpManager } from "@branchlog/agents/omp";
import { SessionManager as PiManager } from "@branchlog/agents/pi";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { userMessage } from "../core/projections/sample-entries.ts";

// Cast: callers in JavaScript pass more than strings.
const given: readonly unknown[] = ["nonexistent", undefined, null, 7, Number.NaN, {}, ["a"], true];
const oddIds = given as readonly string[];
const noId = undefined as unknown as string;

function notFound(id: unknown): unknown {
  const message = `Entry ${String(id)} not found`;
  return expect.objectContaining({ code: "ERR_ENTRY_NOT_FOUND", message });
}

const adapters = [
  ["pi's manager", () => PiManager.inMemory("/work")],
  ["omp's manager", () => OmpManager.inMemory("/work")],
] as const;

describe.each(adapters)("%s", (_, newManager) => {
  it("finds no entry, label or child for an id that is not a string", () => {
    const manager = newManager();
    const root = manager.appendMessage(userMessage("1"));
    for (const id of oddIds) {
      expect(manager.getEntry(id)).toBeUndefined();
      expect(manager.getLabel(id)).toBeUndefined();
      const children = manager.getChildren(id).map((entry) => entry.id);
      expect(children).toEqual(id === null ? [root] : []);
      const branch = manager.getBranch(id).map((entry) => entry.id);
      expect(branch).toEqual(id === null || id === undefined ? [root] : []);
    }
    const parentId = manager.getEntry(root)?.parentId;
    expect(parentId === undefined || manager.getEntry(parentId as string)).toBeUndefined();
  });

  it("rejects an id that is not a string, and does not change", () => {
    const manager = newManager();
    const root = manager.appendMessage(userMessage("1"));
    for (const id of oddIds) {
      const refusal = notFound(id);
      expect(() => manager.branch(id)).toThrow(refusal);
      expect(() => manager.appendLabelChange(id, "L")).toThrow(refusal);
      if (id !== null) expect(() => manager.branchWithSummary(id, "s")).toThrow(refusal);
      if (manager instanceof PiManager) {
        expect(() => manager.appendContextEdit(id, null)).toThrow(refusal);
      }
      if (id !== null && id !== undefined) {
        expect(() => manager.createBranchedSession(id)).toThrow(refusal);
      }
    }
    expect(manager.getEntries().map((entry) => entry.id)).toEqual([root]);
    expect(manager.getLeafId()).toBe(root);
  });

  it("creates a session from the branch to its leaf without an id, if there is a leaf", () => {
    const manager = newManager();
    expect(() => manager.createBranchedSession(noId)).toThrow("Entry undefined not found");
    const first = manager.appendMessage(userMessage("1"));
    manager.appendMessage(userMessage("2"));
    manager.branch(first);
    const before = manager.getSessionId();
    expect(manager.createBranchedSession(noId)).toBeUndefined();
    expect(manager.getSessionId()).not.toBe(before);
    expect(manager.getEntries().map((entry) => entry.id)).toEqual([first]);
  });
});

it("a text file is not a valid session of the agent whose manager opens it", async () => {
  const path = join(temporaryDirectory(), "notes.jsonl");
  writeFileSync(path, "not a session\n");
  await expect(OmpManager.open(path)).rejects.toThrow(`is not a valid omp session: ${path}`);
  expect(() => PiManager.open(path)).toThrow(`is not a valid pi session: ${path}`);
});
