/**
 * Writes that the system cuts off at every byte, with room for the rest or without: fragments are
 * fenced off, whole lines count, and nothing is merged into what comes next.
 */
import { describe, expect, it } from "vitest";
import {
  MemoryFileSystem,
  createMemoryPorts,
  fileError,
  jsonLines,
  sampleHeader,
} from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import { patience, runs } from "../support/fault-seed.ts";
import { observedFileSystem } from "../support/observed-file-system.ts";
import { orphanIds, rawLog, repeatedIds } from "../support/raw-log.ts";
import type { RawLog } from "../support/raw-log.ts";
import { reproducible } from "../support/reproducible-ports.ts";
import { thrownBy, typedError } from "../support/typed-errors.ts";
import { BlockingSession } from "../support/blocking-session.ts";
import type { Offer } from "../support/engine-appends.ts";
import { sampled } from "../support/sampled.ts";

const path = "/s.jsonl";
const header = jsonLines(sampleHeader({ timestamp: "2026-01-01T00:00:00.000Z" }));
const offers: readonly Offer[] = ["new-0", "new-1", "new-2"].map((id) => ({
  draft: { type: "custom", customType: "x", data: id },
  id,
}));

/** How much of each write is taken, in turn; -1: the disk is full. Beyond the list, everything. */
type Cuts = readonly number[];

interface Outcome {
  readonly session: BlockingSession;
  readonly ports: Ports;
  readonly error: unknown;
  readonly log: () => RawLog;
  /** From now on writes are taken whole. */
  readonly mend: () => void;
}

function appendWith(cuts: Cuts): Outcome {
  const memory = new MemoryFileSystem();
  memory.writeFileSync(path, Buffer.from(header));
  const left = [...cuts];
  const fs = observedFileSystem(memory, (call, effect) => {
    const cut = call.name === "writeSync" ? left.shift() : undefined;
    if (cut === -1) throw fileError("ENOSPC", "write", path);
    return effect(cut);
  });
  const ports = createMemoryPorts({ fs, ...reproducible() });
  const session = BlockingSession.open(path, { ports });
  const log = (): RawLog => rawLog(memory.readFileSync(path));
  const mend = (): void => void left.splice(0);
  const error = thrownBy(() => session.append(...offers));
  return { session, ports, log, mend, error };
}

/** Every whole line is an entry or a fragment of one, never a fragment with an entry after it. */
function expectFenced(log: RawLog): void {
  expect([repeatedIds(log), orphanIds(log)]).toEqual([[], []]);
  for (const line of log.debris) expect(line.lastIndexOf('{"type":"custom"')).toBeLessThan(1);
}

function expectGoesOn({ session, ports, log }: Outcome, ids: readonly string[]): void {
  const [result] = session.append({ draft: { type: "custom", customType: "next" } });
  expectFenced(log());
  expect(log().entries.map(({ id }) => id)).toEqual([...ids, result?.id]);
  expect(session.meaning()).toBe(BlockingSession.open(path, { ports }).meaning());
}

const ids = offers.map(({ id = "" }) => id);
const whole = appendWith([]);
const bytes = Buffer.byteLength(
  whole.log().entries.reduce((text, entry) => `${text}${JSON.stringify(entry)}\n`, ""),
);

describe("a batch whose write is truncated at any byte", () => {
  it("is written to its end, every line once (Verifies: P9, P12)", patience, () => {
    for (const cut of sampled(0, bytes, 80)) {
      const outcome = appendWith([cut]);
      expect(outcome.error).toBeUndefined();
      expectFenced(outcome.log());
      expectGoesOn(outcome, ids);
    }
  });

  it("is truncated again without losing written entries (Verifies: P9, P12)", patience, () => {
    for (let cut = 0; cut < bytes; cut += runs(29, 11)) {
      for (let second = 0; second < bytes - cut; second += runs(31, 17)) {
        const outcome = appendWith([cut, second]);
        expect(outcome.error).toBeUndefined();
        expectGoesOn(outcome, ids);
      }
    }
  });

  it("reports the written entries when the disk is then full (Verifies: P9, P12)", patience, () => {
    for (const cut of sampled(0, bytes, 80)) {
      const outcome = appendWith([cut, -1, -1, -1, -1]);
      const { error, log, session } = outcome;
      const written = log().entries.map(({ id }) => id);
      expect(written).toEqual(ids.slice(0, written.length));
      expect(typedError(error)).toMatchObject({ code: "ERR_APPEND_FAILED", written });
      expect(session.leaf).toBe(written.at(-1) ?? null);
      outcome.mend();
      const retried = session.append(...offers);
      expect(retried.map(({ id }) => id)).toEqual(ids);
      expectGoesOn(outcome, ids);
    }
  });

  it("fails with a report when every write is truncated (Verifies: P12)", () => {
    for (const cut of sampled(0, Math.ceil(bytes / 3), 60)) {
      const outcome = appendWith([cut, cut, cut]);
      const { error, log, session } = outcome;
      const written = log().entries.map(({ id }) => id);
      if (error !== undefined) {
        expect(typedError(error)).toMatchObject({ code: "ERR_APPEND_UNCERTAIN", written });
      }
      expect(session.append(...offers)).toHaveLength(ids.length);
      expectGoesOn(outcome, ids);
    }
  });
});
