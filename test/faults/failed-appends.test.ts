/**
 * Appends of which the n-th file-system call fails, for all n and in every way to fail: nothing
 * acknowledged is lost, a rejection tells what was written, the same ids complete the rest.
 */
import { describe, expect, it } from "vitest";
import type { Durability } from "@branchlog/core";
import { sampleTime } from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import { failEveryCall, failingWorld, failures } from "../support/failing-calls.ts";
import type { FailingWorld, Failure } from "../support/failing-calls.ts";
import { appendTo } from "../support/append-to.ts";
import { orphanIds, rawLog, repeatedIds } from "../support/raw-log.ts";
import { thrownBy, typedError } from "../support/typed-errors.ts";
import { BlockingSession } from "../support/blocking-session.ts";
import type { Offer } from "../support/engine-appends.ts";

const path = "/s.jsonl";
const lines = [
  '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}',
  '{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"Hi","timestamp":1}}',
  '{"type":"label","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:00.000Z","targetId":"a","label":"start"}',
];
const whole = `${lines.join("\n")}\n`;
const foreign = `{"type":"custom","customType":"peer","id":"f","parentId":"b","timestamp":"${sampleTime}"}\n`;

interface Start {
  readonly bytes: string;
  /** What another program appends after the session was opened. */
  readonly later?: string;
}

const starts: Readonly<Record<string, Start>> = {
  "a log that is whole": { bytes: whole },
  "a log with a torn end": { bytes: `${whole}{"type":"custom","cus` },
  "a log whose last newline is missing": { bytes: whole.slice(0, -1) },
  "a log that others appended to": { bytes: whole, later: foreign },
  "a log that others are appending to": { bytes: whole, later: foreign.slice(0, 30) },
};

const say = (content: string): Offer["draft"] => ({
  type: "message",
  message: { role: "user", content, timestamp: 2 },
});
const single: readonly Offer[] = [{ draft: say("one"), id: "new-0" }];
const batch: readonly Offer[] = [
  { draft: say("one"), id: "new-0" },
  { draft: { type: "custom", customType: "x", data: "y".repeat(300) }, id: "new-1" },
  { draft: { type: "session_info", name: "renamed" }, id: "new-2" },
  { draft: { type: "label", targetId: "b", label: "here" }, id: "new-3" },
];

interface World extends FailingWorld {
  readonly session: BlockingSession;
}

function worldAt({ bytes, later = "" }: Start, durability: Durability): World {
  const world = failingWorld({ [path]: bytes });
  const session = BlockingSession.open(path, { ports: world.ports, durability });
  session.moveTo("b");
  appendTo(world.memory, path, later);
  return { ...world, session };
}

const idsOf = (offers: readonly Offer[]): string[] => offers.map(({ id = "" }) => id);

/** Ids of `offers` that are in the file as whole lines. */
function writtenIn({ memory }: World, offers: readonly Offer[]): string[] {
  const stored = rawLog(memory.readFileSync(path)).entries.map(({ id }) => id);
  return idsOf(offers).filter((id) => stored.includes(id));
}

function expectWholeLog(world: World, start: Start, again: readonly string[] = []): void {
  const bytes = world.memory.readFileSync(path);
  expect(bytes.toString().startsWith(start.bytes + (start.later ?? ""))).toBe(true);
  const log = rawLog(bytes);
  expect(repeatedIds(log)).toEqual(again);
  expect(orphanIds(log)).toEqual([]);
}

/** With which an append fails that knows what became of it. */
const codes: readonly string[] = ["ERR_APPEND_FAILED", "ERR_DURABILITY_UNKNOWN"];

interface Run {
  readonly start: Start;
  readonly offers: readonly Offer[];
  readonly failure: Failure;
  readonly durability: Durability;
}

/** What a session that is opened now answers at the entry `b`. */
function meaningAtB(ports: Ports): string {
  const session = BlockingSession.open(path, { ports });
  session.moveTo("b");
  return session.meaning();
}

/** The law, for one failing call; says whether there was such a call. */
async function attempt(run: Run, n: number): Promise<boolean> {
  const { start, offers, failure, durability } = run;
  const world = worldAt(start, durability);
  const { session, failing, ports } = world;
  // What is known before, or after reading what others appended: neither is a change of ours.
  const before = [session.meaning(), meaningAtB(ports)];
  failing.arm(n, failure);
  const error = thrownBy(() => session.append(...offers));
  const hasFailed = failing.disarm();
  const written = writtenIn(world, offers);
  expectWholeLog(world, start);

  if (error === undefined) expect(written).toEqual(idsOf(offers));
  else if (typedError(error).code !== "ERR_APPEND_UNCERTAIN") {
    expect(codes).toContain(typedError(error).code);
    expect(typedError(error).written).toEqual(written);
    expect(session.has("new-0")).toBe(written.length > 0);
    // Or after a newline of ours, by which a record that lacked it counts.
    if (written.length === 0) expect([...before, meaningAtB(ports)]).toContain(session.meaning());
    else expect(session.leaf).not.toBe("b");
  }

  // Does nothing unless a sync has failed: then what is in doubt is there twice, as one.
  const { appendedAgain } = await session.recover();
  const retried = session.append(...offers);
  expect(retried.map(({ id }) => id)).toEqual(idsOf(offers));
  const next = session.append({ draft: say("next") });
  expect(writtenIn(world, offers)).toEqual(idsOf(offers));
  expectWholeLog(world, start, appendedAgain);
  const again = BlockingSession.open(path, { ports });
  expect(again.tail).toBe(next[0]?.id);
  expect(again.name).toBe(offers.length > 1 ? "renamed" : undefined);
  expect(session.meaning()).toBe(again.meaning());
  return hasFailed;
}

describe.each(Object.entries(starts))("appending to %s", (_, start) => {
  it.each(Object.entries(failures))(
    "reports the written entries and loses nothing: %s (Verifies: P12)",
    async (name, failure) => {
      for (const durability of ["os", "disk"] as const) {
        for (const offers of [single, batch]) {
          const run = { start, offers, failure, durability };
          const calls = await failEveryCall((n) => attempt(run, n));
          // Of all calls, only syncs are omitted without `disk`.
          expect(calls > 0).toBe(name !== "a failed sync" || durability === "disk");
        }
      }
    },
  );
});
