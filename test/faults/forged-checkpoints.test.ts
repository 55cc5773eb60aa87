/**
 * Forged checkpoints of this user, with right checksums and the right log: what is changed in them
 * is not taken up, or changes nothing, or `verify` reports it. Nothing hangs, no error is raw, and
 * no object but their own is touched.
 */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { BranchlogError, openSession } from "@branchlog/core";
import type { OpenOptions } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import type { VerifyReport } from "@branchlog/tools";
import { forged, forgeries, membersOf, rewritten } from "../core/checkpoint/forged-checkpoint.ts";
import type { Forgery } from "../core/checkpoint/forged-checkpoint.ts";
import { openedFacts } from "../core/checkpoint/session-facts.ts";
import { patience, runs, seed } from "../support/fault-seed.ts";
import { fixtureBytes } from "../support/fixture.ts";
import { everyCase } from "../support/law-time.ts";

const path = "/s.jsonl";
const names = [
  "pi-labels-and-names",
  "pi-duplicate-ids",
  "pi-v1",
  "pi-cycles",
  "omp-18",
  "damaged",
];

/** A log, its checkpoint, and what it says without one. */
interface Example {
  readonly fs: MemoryFileSystem;
  readonly options: OpenOptions;
  readonly log: Buffer;
  readonly isCurrent: boolean;
  readonly checkpoint: Buffer;
  readonly facts: unknown;
  readonly report: VerifyReport;
}

const examples: Example[] = [];

function logOf(name: string): Buffer {
  if (name !== "damaged") {
    return fixtureBytes(name);
  }
  const whole = logOf("pi-labels-and-names").toString().split("\n");
  const id = "an id that is not in hex";
  const end = [
    '{"type":"message","id":"0000000f","par',
    `{"type":"custom","customType":"x","id":"${id}","parentId":null,"timestamp":"t"}`,
    `{"type":"custom","customType":"x","id":"${id}2","parentId":null,"timestamp":"t","data":{"a":}}`,
    "",
    "[1]",
    `{"type":"session_info","id":"0000000e","parentId":"${id}","timestamp":"t","name":"é"}`,
    "",
  ];
  return Buffer.from([...whole.slice(0, -1), ...end].join("\n"));
}

async function exampleOf(name: string): Promise<Example> {
  const fs = new MemoryFileSystem();
  const options: OpenOptions = { ports: createMemoryPorts({ fs }), checkpoint: "read" };
  const log = logOf(name);
  fs.writeFileSync(path, log);
  const saving = { ...options, checkpoint: "auto", checkpointEveryBytes: 1 } as const;
  const saved = await openSession(path, saving);
  await saved.usage;
  await saved.close();
  const checkpoint = Buffer.from(fs.readFileSync(`${path}.ckpt`));
  const facts = await openedFacts(path, { ...options, checkpoint: "off" });
  const session = await openSession(path, { ...options, access: "read" });
  const report = await verifySession(session);
  const isCurrent = session.header.version === 3;
  return { fs, options, log, isCurrent, checkpoint, facts, report };
}

beforeAll(async () => {
  for (const name of names) examples.push(await exampleOf(name));
});

/** What a session says, or the code of its error; raw errors go on. */
async function outcome(options: OpenOptions): Promise<unknown> {
  try {
    return await openedFacts(path, options);
  } catch (error) {
    if (error instanceof BranchlogError) return error.code;
    throw error;
  }
}

/** Appends an entry, if that is possible: every byte before it stays. Restores the log. */
async function appendTo({ fs, options, log }: Example): Promise<void> {
  const session = await openSession(path, options);
  try {
    await session.append({ type: "custom", customType: "x" }).catch((error: unknown) => {
      expect(error).toBeInstanceOf(BranchlogError);
    });
    await session.close();
    const written = fs.readFileSync(path);
    expect(written.subarray(0, log.length)).toEqual(log);
    expect(written.at(-1)).toBe(10);
  } finally {
    fs.writeFileSync(path, log);
  }
}

/** The checkpoint with other members of what its text says of checksums. */
function withForgedSums(checkpoint: Buffer, changes: readonly Forgery[]): Buffer {
  return rewritten(checkpoint, ({ sums }) => {
    const places = [...membersOf(sums)];
    for (const { at, value } of changes) {
      const [owner, key] = places[at % places.length] ?? [];
      if (owner !== undefined && key !== undefined) owner[key] = value;
    }
  });
}

describe(`forged checkpoints, BRANCHLOG_SEED=${seed}`, () => {
  it("verify finds no difference when a checkpoint is unchanged", () => {
    const differences = examples.map(({ report }) => report.checkpointDifferences);
    expect(differences).toEqual(names.map(() => []));
  });

  it(
    "a session says what the log says, or verify reports the checkpoint, when one is forged " +
      "(Verifies: P18, P21)",
    patience,
    async () => {
      const count = { same: 0, reported: 0 };
      const rssBefore = process.resourceUsage().maxRSS;
      await fc.assert(
        fc.asyncProperty(fc.nat(names.length - 1), forgeries, fc.nat(9), async (at, changes, n) => {
          const example = examples[at];
          if (example === undefined) return;
          const { fs, options, checkpoint, facts } = example;
          fs.writeFileSync(`${path}.ckpt`, forged(checkpoint, changes));
          const said = await outcome(options);
          const isSame = isDeepStrictEqual(said, facts);
          count[isSame ? "same" : "reported"] += 1;
          const session = await openSession(path, { ...options, access: "read" });
          const { checkpointDifferenceCount } = await verifySession(session);
          if (!isSame) expect(checkpointDifferenceCount, JSON.stringify(said)).toBeGreaterThan(0);
          expect(Object.keys(Object.prototype)).toEqual([]);
          expect(({} as Record<string, unknown>)["forged"]).toBeUndefined();
          // An older log is migrated by the first append, which makes it another file.
          if (n === 0 && example.isCurrent) await appendTo(example);
        }),
        { seed, numRuns: runs(120, 10_000), ...everyCase },
      );
      const rssMb = (process.resourceUsage().maxRSS - rssBefore) / 1024;
      process.stdout.write(`forged checkpoints: ${JSON.stringify({ ...count, rssMb })}\n`);
      expect(count.same).toBeGreaterThan(0);
      expect(count.reported).toBeGreaterThan(0);
      expect(rssMb).toBeLessThan(300);
    },
  );

  it("verify ends when the checksums of a checkpoint are forged", patience, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(names.length - 1), forgeries, async (at, changes) => {
        const example = examples[at];
        if (example === undefined) return;
        const { fs, options, checkpoint, report } = example;
        fs.writeFileSync(`${path}.ckpt`, withForgedSums(checkpoint, changes));
        const session = await openSession(path, { ...options, access: "read" });
        const { entries, badLineCount } = await verifySession(session);
        expect([entries, badLineCount]).toEqual([report.entries, report.badLineCount]);
      }),
      { seed, numRuns: runs(100, 2_000) },
    );
  });
});
