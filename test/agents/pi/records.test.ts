/** Records as text and as arrays: parsing, and migration in place. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  CURRENT_SESSION_VERSION,
  SessionManager,
  buildSessionContext,
  migrateSessionEntries,
  parseSessionEntries,
} from "@branchlog/agents/pi";
import type { FileEntry, SessionEntry } from "@branchlog/agents/pi";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

function fixture(name: string): { path: string; text: string } {
  const path = new URL(`../../../fixtures/${name}.jsonl`, import.meta.url).pathname;
  return { path, text: readFileSync(path, "utf8") };
}

/** The entries after the header. */
function entriesOf(records: readonly FileEntry[]): SessionEntry[] {
  return records.filter((record) => record.type !== "session");
}

it("parseSessionEntries gives every JSON object of the text, header or not, and skips the rest", () => {
  const text = '\uFEFF{"type":"a"}\r\n\n{bad}\n5\nnull\n[]\n{"type":"b"}';
  expect(parseSessionEntries(text)).toEqual([{ type: "a" }, { type: "b" }]);
  expect(parseSessionEntries("")).toEqual([]);
});

describe("migrateSessionEntries", () => {
  it.each(["pi-v1", "pi-v1-boundaries", "pi-v2"])(
    "gives the same as opening %s, in place",
    (name) => {
      const { path, text } = fixture(name);
      const records = parseSessionEntries(text);
      const [first] = records;
      migrateSessionEntries(records);
      expect(records[0]).toBe(first);
      expect(first).toHaveProperty("version", CURRENT_SESSION_VERSION);
      const manager = SessionManager.open(path, temporaryDirectory());
      expect(JSON.stringify(entriesOf(records))).toBe(JSON.stringify(manager.getEntries()));
      expect(JSON.stringify(first)).toBe(JSON.stringify(manager.getHeader()));
      expect(buildSessionContext(entriesOf(records))).toEqual(manager.buildSessionContext());
    },
  );

  it("keeps the ids of version 2 and does not change version 3", () => {
    const two = parseSessionEntries(fixture("pi-v2").text);
    const ids = entriesOf(two).map(({ id }) => id);
    migrateSessionEntries(two);
    expect(entriesOf(two).map(({ id }) => id)).toEqual(ids);
    const three = parseSessionEntries(fixture("pi-linear").text);
    const before = structuredClone(three);
    migrateSessionEntries(three);
    migrateSessionEntries(two);
    expect(three).toEqual(before);
  });

  it("treats records without a header as version 1", () => {
    const records = parseSessionEntries('{"type":"message","message":{"role":"user"}}\n');
    migrateSessionEntries(records);
    expect(Object.keys(records[0] ?? {})).toEqual(["type", "message", "id", "parentId"]);
  });
});
