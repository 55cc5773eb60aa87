/** Every operation can be taken back while its files are as it left them, and never otherwise. */
import { appendFileSync, existsSync, readFileSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nodePorts } from "@branchlog/core/testing";
import { applyRepair, migrateSession, planRepair } from "@branchlog/tools";
import {
  archiveSessions,
  deleteSession,
  operations,
  recordReplacement,
  undoOperation,
} from "@branchlog/library";
import { keptPlace, ledgerOf, write } from "./kept-sessions.ts";

const dayMs = 24 * 60 * 60 * 1000;

describe("undo", () => {
  it("restores a deleted session, and deletes it again when that is undone", async () => {
    const { root, dataDir, pi } = keptPlace();
    const before = ledgerOf(root);
    const { how, operation } = await deleteSession(pi, { dataDir });
    expect([how, existsSync(pi)]).toEqual(["trash", false]);
    const { undone, operation: undo } = await undoOperation(undefined, { dataDir });
    expect(undone.id).toBe(operation);
    expect(ledgerOf(root)).toEqual(before);
    await undoOperation(undo, { dataDir });
    expect(existsSync(pi)).toBe(false);
    const states = (await operations({ dataDir })).map(({ kind, undoneBy }) => [kind, undoneBy]);
    expect(states.map(([kind]) => kind)).toEqual(["delete", "undo", "undo"]);
    // It was undone, and that was: it is in force.
    expect(states[0]?.[1]).toBeUndefined();
  });

  it("changes everything or nothing", async () => {
    const { root, dataDir, pi, omp } = keptPlace();
    await archiveSessions([root], { dataDir });
    write(pi, "another\n");
    const before = ledgerOf(root);
    const refused = { code: "ERR_UNDO_REFUSED", path: pi };
    await expect(undoOperation(undefined, { dataDir })).rejects.toMatchObject(refused);
    expect(ledgerOf(root)).toEqual(before);
    renameSync(pi, `${pi}.mine`);
    await undoOperation(undefined, { dataDir });
    expect([existsSync(pi), existsSync(omp)]).toEqual([true, true]);
  });

  it("treats a session that was restored and appended to as existing", async () => {
    const { dataDir, pi } = keptPlace();
    const { operation } = await archiveSessions([pi], { dataDir });
    const undo = await undoOperation(undefined, { dataDir });
    appendFileSync(pi, '{"type":"custom","id":"new","parentId":null,"customType":"x:y"}\n');
    const grown = readFileSync(pi);
    await expect(undoOperation(undo.operation, { dataDir })).rejects.toMatchObject({
      code: "ERR_UNDO_REFUSED",
    });
    await expect(undoOperation(operation ?? "", { dataDir })).rejects.toMatchObject({
      message: expect.stringContaining("already undone") as unknown,
    });
    expect(readFileSync(pi)).toEqual(grown);
  });

  it("restores the original of a migration, unless it was appended to", async () => {
    for (const isAppended of [false, true]) {
      const { root, dataDir } = keptPlace();
      const path = write(
        join(root, "old.jsonl"),
        readFileSync(new URL("../../../fixtures/pi-v1.jsonl", import.meta.url)),
      );
      const before = readFileSync(path);
      const { original, sizeBytes } = await migrateSession(path);
      await recordReplacement(
        { kind: "migrate", path, original: original ?? "", sizeBytes },
        { dataDir },
      );
      if (isAppended) {
        appendFileSync(path, '{"type":"custom","id":"z","parentId":null,"customType":"x:y"}\n');
        const refused = { code: "ERR_UNDO_REFUSED", path };
        await expect(undoOperation(undefined, { dataDir })).rejects.toMatchObject(refused);
        expect(readFileSync(path).length).toBeGreaterThan(before.length);
        continue;
      }
      const { operation } = await undoOperation(undefined, { dataDir });
      expect(readFileSync(path)).toEqual(before);
      expect(readdirSync(root).filter((name) => name.startsWith("old."))).toEqual(["old.jsonl"]);
      await expect(undoOperation(operation, { dataDir })).rejects.toMatchObject({
        message: expect.stringContaining("migrate on the session again") as unknown,
      });
    }
  });

  it("restores the file replaced by a repair", async () => {
    const { dataDir, pi } = keptPlace();
    appendFileSync(pi, '{"type":"mess');
    write(pi, readFileSync(pi));
    const before = readFileSync(pi);
    const plan = await planRepair(pi);
    const { original, lateBytes } = await applyRepair(plan);
    const sizeBytes = plan.repaired.sizeBytes + lateBytes;
    const replacement = { kind: "repair", path: pi, original: original ?? "", sizeBytes } as const;
    await recordReplacement(replacement, { dataDir });
    await undoOperation(undefined, { dataDir });
    expect(readFileSync(pi)).toEqual(before);
  });

  it("keeps deleted files for 30 days", async () => {
    const { dataDir, pi, omp } = keptPlace();
    const { operation } = await deleteSession(pi, { dataDir });
    const at = (days: number): { readonly ports: object } => ({
      ports: { clock: { ...nodePorts.clock, now: () => Date.now() + days * dayMs } },
    });
    const packs = (): number => readdirSync(join(dataDir, "packs")).length;
    const undo = await deleteSession(omp, { dataDir, ...at(29) });
    expect(packs()).toBe(2);
    await undoOperation(undo.operation ?? "", { dataDir });
    await deleteSession(omp, { dataDir, ...at(31) });
    expect(packs()).toBe(2);
    await expect(undoOperation(operation ?? "", { dataDir })).rejects.toMatchObject({
      message: expect.stringContaining("30 days") as unknown,
    });
  });

  it("lists operations when nothing can be undone", async () => {
    const { dataDir } = keptPlace();
    for (const id of [undefined, "", "ffff"]) {
      await expect(undoOperation(id, { dataDir })).rejects.toMatchObject({
        code: "ERR_OPERATION_NOT_FOUND",
      });
    }
  });
});
