/** Laws of repairing: what is whole stays, nothing is lost, and a repaired log needs no repair. */
import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isBranchlogError, openSession } from "@branchlog/core";
import { isDamaged, isSound, openedFindings, verifySession } from "@branchlog/tools";
import type { RepairPlan } from "@branchlog/tools";
import { damagedSession, soundSession } from "./damaged-session.ts";
import type { DamagedSession } from "./damaged-session.ts";
import { apply, memoryLog, originalOf, plan, salvageLinesIn } from "./repaired-log.ts";
import type { MemoryLog } from "./repaired-log.ts";

/** A log, how it is to be repaired, and the result; undefined if it is not a session at all. */
interface Repair {
  readonly log: MemoryLog;
  readonly planned: RepairPlan;
  readonly repaired: Buffer;
  readonly salvage: Buffer;
}

async function repair({ bytes }: DamagedSession, bridge: boolean): Promise<Repair | undefined> {
  const log = memoryLog(bytes);
  try {
    const planned = await plan(log, { bridge });
    const { salvage } = await apply(log, planned);
    const empty = Buffer.alloc(0);
    return {
      log,
      planned,
      repaired: log.fs.readFileSync(log.path),
      salvage: salvage === null ? empty : log.fs.readFileSync(salvage),
    };
  } catch (error) {
    if (isBranchlogError(error, "ERR_NOT_A_SESSION")) return undefined;
    if (isBranchlogError(error, "ERR_LOG_EMPTY")) return undefined;
    throw error;
  }
}

function law(
  holds: (repaired: Repair, session: DamagedSession) => void | Promise<void>,
): Promise<void> {
  return fc.assert(
    fc.asyncProperty(damagedSession, fc.boolean(), async (session, bridge) => {
      const repaired = await repair(session, bridge);
      if (repaired !== undefined) await holds(repaired, session);
    }),
    { numRuns: 1500 },
  );
}

/** The lines of a log as they are, line ends and white space around them aside. */
function linesOf(bytes: Buffer): string[] {
  return bytes.toString("latin1").split("\n").map(trimmed);
}

function trimmed(line: string): string {
  return line.replaceAll(/^[ \t\r]+|[ \t\r]+$/g, "");
}

describe("a repaired log", () => {
  it("has every complete record byte for byte in the same order (Verifies: P10, P19)", async () => {
    await law(({ repaired }, { whole, doubtful }) => {
      const lines = linesOf(repaired);
      let at = -1;
      for (const record of whole) {
        const found = lines.indexOf(trimmed(record.toString("latin1")), at + 1);
        if (doubtful.has(record) && found < 0) continue;
        expect(found, record.toString()).toBeGreaterThan(at);
        at = found;
      }
    });
  });

  it("has nothing else, except lines that the plan adds", async () => {
    await law(({ planned, repaired }, { bytes, whole, seams }) => {
      const known = new Set(whole.map((record) => trimmed(record.toString("latin1"))));
      const original = bytes.toString("latin1");
      // Of a lost entry, a copy may be found that an extension had stored in one that is damaged.
      const isCopy = (line: string): boolean =>
        original.includes(`[${line}`) || original.includes(`,${line}`);
      // The rest of one entry and a damaged one after it may happen to be a record together.
      const isChance = (line: string): boolean => {
        const at = original.indexOf(line);
        return seams.some((seam) => at !== -1 && seam > at && seam < at + line.length);
      };
      const others = linesOf(repaired).filter((line) => line !== "" && !known.has(line));
      const added = planned.changes.filter(({ kind }) => kind === "header" || kind === "stand-in");
      expect(others.length).toBeGreaterThanOrEqual(added.length);
      const unexplained = others.filter((line) => !isCopy(line) && !isChance(line));
      expect(unexplained.length).toBeLessThanOrEqual(added.length);
    });
  });

  it("and its salvage file account for every byte of the original (Verifies: P9)", async () => {
    await law(({ log, planned, repaired, salvage }, { bytes }) => {
      const original = originalOf(planned, repaired, salvageLinesIn(salvage));
      expect(original.equals(bytes)).toBe(true);
      let end = 0;
      for (const step of planned.steps) {
        expect(step.offset).toBe(end);
        if ("length" in step) end += step.length;
      }
      expect(end).toBe(bytes.length);
      expect(repaired.length).toBe(planned.repaired.sizeBytes);
      if (planned.changes.length > 0) {
        expect(log.fs.readFileSync(`${log.path}.before-repair`).equals(bytes)).toBe(true);
      }
    });
  });

  it("needs no repair", async () => {
    await law(async ({ log, planned }) => {
      const again = await plan(log, { bridge: planned.changes.some(isGuess) });
      expect(again.changes).toEqual([]);
      expect(isDamaged(again.findings)).toBe(!isSound(again.remaining));
      expect(again.remaining).toEqual(planned.remaining);
      expect(again.repaired).toEqual(planned.repaired);
      const result = await apply(log, again);
      expect(result).toMatchObject({ original: null, salvage: null });
    });
  });

  it("has the findings of verify, and at least those of opening", async () => {
    await fc.assert(
      fc.asyncProperty(damagedSession, async ({ bytes }) => {
        const log = memoryLog(bytes);
        const opened = await openSession(log.path, { ports: log.ports, access: "read" }).catch(
          () => undefined,
        );
        if (opened === undefined) return;
        const { findings, ok } = await verifySession(opened);
        const planned = await plan(log);
        expect(planned.findings).toEqual(findings);
        expect(ok).toBe(!isDamaged(findings));
        if (!ok) expect(planned.changes.length === 0 && isSound(planned.remaining)).toBe(false);
        const known = findings.map(({ kind }) => kind);
        for (const { kind } of await openedFindings(opened)) expect(known).toContain(kind);
      }),
      { numRuns: 500 },
    );
  });

  it("is the same for any in-memory line limit", async () => {
    await fc.assert(
      fc.asyncProperty(
        damagedSession,
        fc.constantFrom(1, 16, 64),
        async (session, lineBytesMax) => {
          const { bytes } = session;
          const usual = await plan(memoryLog(bytes)).catch(codeOf);
          const strict = await plan(memoryLog(bytes), { lineBytesMax }).catch(codeOf);
          expect(strict).toEqual(usual);
        },
      ),
      { numRuns: 300 },
    );
  });
});

function codeOf(error: unknown): unknown {
  return isBranchlogError(error) ? error.code : error;
}

function isGuess(change: RepairPlan["changes"][number]): boolean {
  return change.kind === "stand-in" && change.source === "order";
}

describe("a log without damage", () => {
  it("needs no repair", async () => {
    await fc.assert(
      fc.asyncProperty(soundSession, async ({ bytes, whole }) => {
        const planned = await plan(memoryLog(bytes), { bridge: true });
        expect(planned.changes).toEqual([]);
        expect(planned.repaired).toEqual({ sizeBytes: bytes.length, entries: whole.length - 1 });
      }),
    );
  });

  const fixtures = fileURLToPath(new URL("../../../fixtures/", import.meta.url));
  const names = readdirSync(fixtures).filter((name) => name.endsWith(".jsonl"));

  it.each(names.filter((name) => name !== "pi-bom.jsonl"))("needs no repair: %s", async (name) => {
    const bytes = readFileSync(`${fixtures}${name}`);
    const planned = await plan(memoryLog(bytes));
    expect(planned.changes).toEqual([]);
    expect(planned.steps).toEqual([{ kind: "keep", offset: 0, length: bytes.length }]);
  });
});
