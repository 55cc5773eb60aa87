/** Migrating when it is requested: the same as at the first append, without one. */
import { readFileSync, readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { migrateSession } from "@branchlog/tools";
import { fixtureBytes } from "../../support/fixture.ts";
import { fileOf, header, messagesAt, recordsIn } from "../../core/copies/session-files.ts";
import { temporaryFile } from "../../support/temporary-directory.ts";

const copyOf = (name: string): string => temporaryFile(fixtureBytes(name));

describe("migrateSession", () => {
  it.each([
    ["pi-v1", 1],
    ["pi-v1-boundaries", 1],
    ["pi-v2", 2],
  ])("migrates %s to version 3 and keeps the original", async (name, version) => {
    const path = copyOf(name);
    const before = readFileSync(path);
    const read = await openSession(path, { access: "read" });
    const ids = [...read.tree().roots];
    const messages = await messagesAt(path);
    const result = await migrateSession(path);
    const original = `${path}.v${version}-original`;
    expect(result).toEqual({
      path,
      version,
      migrated: true,
      original,
      sizeBytes: statSync(path).size,
    });
    expect(readFileSync(original).equals(before)).toBe(true);
    const session = await openSession(path);
    expect(session.header.version).toBe(3);
    expect([...session.tree().roots]).toEqual(ids);
    expect(await messagesAt(path)).toBe(messages);
  });

  it("does not change a session of version 3 or newer, and reports it", async () => {
    for (const version of [3, 4]) {
      const path = fileOf({ ...header, version });
      const before = readFileSync(path);
      const { size: sizeBytes } = statSync(path);
      const result = { path, version, migrated: false, original: null, sizeBytes };
      expect(await migrateSession(path)).toEqual(result);
      expect(readFileSync(path).equals(before)).toBe(true);
      expect(readdirSync(dirname(path))).toHaveLength(1);
    }
  });

  it("equals the migration at the first append", async () => {
    const [asked, appended] = [copyOf("pi-v1"), copyOf("pi-v1")];
    await migrateSession(asked);
    const session = await openSession(appended);
    await session.append({ type: "custom", customType: "x" });
    expect(recordsIn(appended).slice(0, -1)).toEqual(recordsIn(asked));
  });

  it("migrates once for concurrent callers", async () => {
    const path = copyOf("pi-v2");
    const results = await Promise.all([1, 2, 3].map(() => migrateSession(path)));
    expect(results.filter(({ migrated }) => migrated)).toHaveLength(1);
    expect(readdirSync(dirname(path))).toHaveLength(2);
  });

  it("does not change the session if it fails", async () => {
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs });
    const before = fixtureBytes("pi-v1");
    fs.writeFileSync("/s.jsonl", before);
    fs.onCall = ({ name }) => {
      if (name === "linkSync") throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      return undefined;
    };
    const migration = migrateSession("/s.jsonl", { ports });
    await expect(migration).rejects.toMatchObject({ code: "ERR_MIGRATION" });
    expect(fs.listSync("/")).toEqual(["s.jsonl"]);
    expect(fs.readFileSync("/s.jsonl").equals(before)).toBe(true);
  });
});
