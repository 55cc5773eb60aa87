/**
 * Opening and creating logs while the n-th file-system call fails: opening reports it by code and
 * changes nothing; a log is created whole or not at all, and never over another one.
 */
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { failEveryCall, failingWorld, failures } from "../support/failing-calls.ts";
import { fixtureBytes } from "../support/fixture.ts";
import { typedError } from "../support/typed-errors.ts";
import { BlockingSession } from "../support/blocking-session.ts";

const path = "/d/s.jsonl";

/** Codes with which opening may fail when the file cannot be read. */
const openingCodes = new Set(["ERR_LOG_UNREADABLE", "ERR_LOG_GONE"]);

describe.each(["seed-pi", "pi-v1", "pi-cycles", "pi-bom"])("opening %s", (name) => {
  const bytes = fixtureBytes(name);
  const { ports } = failingWorld({ [path]: bytes });
  const meant = BlockingSession.open(path, { ports }).meaning();

  it.each(Object.entries(failures))(
    "fails with a code or works, and changes no byte: %s (Verifies: P8, P12)",
    async (_, failure) => {
      for (const isAsync of [false, true]) {
        await failEveryCall(async (n) => {
          const { memory, failing, ports: own } = failingWorld({ [path]: bytes });
          failing.arm(n, failure);
          const open = async (): Promise<unknown> =>
            isAsync
              ? openSession(path, { ports: own })
              : BlockingSession.open(path, { ports: own });
          const [outcome] = await Promise.allSettled([open()]);
          const hasFailed = failing.disarm();
          if (outcome.status === "rejected") {
            expect(openingCodes).toContain(typedError(outcome.reason).code);
          }
          expect(memory.readFileSync(path).equals(bytes)).toBe(true);
          expect(memory.listSync("/d")).toEqual(["s.jsonl"]);
          expect(BlockingSession.open(path, { ports: own }).meaning()).toBe(meant);
          return hasFailed;
        });
      }
    },
  );
});

describe("creating a session", () => {
  const options = { cwd: "/w", id: "s" };

  it.each(Object.entries(failures))(
    "leaves a complete log or none, and a retry succeeds: %s (Verifies: P12)",
    async (_, failure) => {
      const calls = await failEveryCall(async (n) => {
        const { memory, failing, ports } = failingWorld();
        failing.arm(n, failure);
        const [outcome] = await Promise.allSettled([createSession(path, { ports, ...options })]);
        const hasFailed = failing.disarm();
        const stands = memory.statSync(path) !== null;
        if (outcome.status === "fulfilled") expect(stands).toBe(true);
        if (stands) expect((await openSession(path, { ports })).header.id).toBe("s");

        const [again] = await Promise.allSettled([createSession(path, { ports, ...options })]);
        // What is left after a failed attempt is a log like any other, which is never replaced.
        if (stands) expect(again).toMatchObject({ reason: { code: "ERR_LOG_EXISTS" } });
        else expect(again.status).toBe("fulfilled");
        const session = await openSession(path, { ports });
        const { id } = await session.append({ type: "custom", customType: "first" });
        expect((await openSession(path, { ports })).leaf).toBe(id);
        return hasFailed;
      });
      expect(calls).toBeGreaterThan(0);
    },
  );
});
