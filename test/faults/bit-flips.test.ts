/**
 * Every bit of a small log with every type of entry, flipped: opening, walking, contexts and verify
 * end, with errors of ours at most; records that were not hit are read as before, and the hit is
 * reported.
 */
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { AnyDraft } from "@branchlog/core/entries";
import {
  MemoryFileSystem,
  createMemoryPorts,
  jsonLines,
  sampleHeader,
  sampleTime,
} from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import { isDamaged, openedFindings, verifySession } from "@branchlog/tools";
import type { Finding, VerifyReport } from "@branchlog/tools";
import { patience, runs } from "../support/fault-seed.ts";
import { sampled } from "../support/sampled.ts";
import { thrownBy, typedError } from "../support/typed-errors.ts";
import { BlockingSession } from "../support/blocking-session.ts";

const path = "/s.jsonl";
const header = jsonLines(sampleHeader());

/** Id, parent and draft of every entry. Ids differ in one bit, so that a flip makes two of one. */
const drafts: readonly (readonly [string, string | null, AnyDraft])[] = [
  ["e0", null, { type: "message", message: { role: "user", content: "Hé", timestamp: 1 } }],
  ["e1", "e0", { type: "thinking_level_change", thinkingLevel: "high" }],
  ["e2", "e1", { type: "model_change", provider: "p", modelId: "m" }],
  ["e3", "e2", { type: "custom", customType: "x", data: { n: [1.5, "a\\b"] } }],
  ["e4", "e3", { type: "custom_message", customType: "x", content: "c", display: true }],
  ["e5", "e4", { type: "label", targetId: "e0", label: "L" }],
  ["e6", "e5", { type: "session_info", name: "N" }],
  ["e7", "e6", { type: "compaction", summary: "S", firstKeptEntryId: "e4", tokensBefore: 9 }],
  ["f0", "e2", { type: "branch_summary", fromId: "e7", summary: "B" }],
  ["f1", "f0", { type: "context_edit", targetId: "e0", replacement: null }],
  ["f2", "f1", { type: "usage", kind: "k", provider: "p", model: "m", usage: { input: 1 } }],
  ["f3", "f2", { type: "x:unheard_of", field: null }],
];
const lines = [
  header,
  ...drafts.map(([id, parentId, { type, ...fields }]) =>
    jsonLines({ type, id, parentId, timestamp: sampleTime, ...fields }),
  ),
].map((line) => Buffer.from(line));
const whole = Buffer.concat(lines);

/** A log, and the same one to verify. */
interface World {
  readonly session: BlockingSession;
  readonly ports: Ports;
}

function worldOn(bytes: Buffer): World {
  const fs = new MemoryFileSystem();
  fs.writeFileSync(path, bytes);
  const ports = createMemoryPorts({ fs });
  return { session: BlockingSession.open(path, { ports }), ports };
}

/** The entries by the offset of their line, as text; what is hidden included. */
function textsByOffset(session: BlockingSession): Map<number, string> {
  const entries = [...session.entriesByOffset()];
  return new Map(entries.map(([offset, entry]) => [offset, JSON.stringify(entry)]));
}

interface Line {
  readonly id: string;
  readonly offset: number;
  readonly end: number;
  /** The entry as text. */
  readonly entry: string;
  /** The ids from the root to the entry. */
  readonly path: readonly string[];
}

const reference = worldOn(whole);
const stored: readonly Line[] = [...textsByOffset(reference.session)].map(([offset, entry], i) => {
  const id = drafts[i]?.[0] ?? "";
  const end = offset + (lines[i + 1]?.length ?? 0);
  return { id, offset, end, entry, path: reference.session.pathIds(id) };
});

/** Goes everywhere that a session can go. */
async function walk({ session, ports }: World): Promise<{
  readonly report: VerifyReport;
  readonly opened: readonly Finding[];
}> {
  session.tree();
  for (const id of session.tips()) session.context(id);
  session.context(session.tail, true);
  const verified = await openSession(path, { ports });
  const report = await verifySession(verified);
  return { report, opened: await openedFindings(verified) };
}

/** Entries that the flip at `at` did not hit. A newline belongs to the lines on both sides. */
function untouched(at: number): readonly Line[] {
  return stored.filter(({ offset, end }) => at < offset - 1 || at >= end);
}

/** What is wrong with a session on a log with a flip at `at`; nothing, if the promises hold. */
async function violations(world: World, at: number): Promise<string[]> {
  const { session } = world;
  const { report, opened } = await walk(world);
  const safe = untouched(at);
  // Reading all bodies, which no walk needs, is what finds the last of the damage.
  const harm = harmed(session, safe);
  const { diagnostics } = session;
  const isReported = diagnostics.some(
    ({ kind, offset = -1, length = 0 }) =>
      damage.has(kind) && offset <= at && at <= offset + length,
  );
  const reasons = report.findings.length + diagnostics.length;
  return [
    ...harm,
    ...secretOrphans(session, safe),
    // A bad end is not a line of the index: opening has it among its findings.
    ...(report.badLineCount > 0 && !isReported && !isDamaged(opened)
      ? ["the bad line is not reported"]
      : []),
    ...(report.ok || reasons > 0 ? [] : ["no reason given"]),
  ];
}

const damage: ReadonlySet<string> = new Set(["bad-line", "damaged-entry", "not-an-entry"]);

/** Entries that were not hit and are not what they were. */
function harmed(session: BlockingSession, safe: readonly Line[]): string[] {
  const entries = textsByOffset(session);
  const repeated = new Set<unknown>();
  for (const { kind, id } of session.diagnostics) if (kind === "duplicate-id") repeated.add(id);
  const safeIds = new Set(safe.map(({ id }) => id));
  return safe.flatMap(({ id, offset, entry, path: ids }) => {
    if (entries.get(offset) !== entry) return [`${id} is not read by its place`];
    // A later entry got its id: that one counts, and it is reported.
    if (repeated.has(id)) return [];
    if (JSON.stringify(session.entry(id)) !== entry) return [`${id} is not found`];
    const found = session.pathIds(id);
    const isHit = ids.some((one) => !safeIds.has(one) || repeated.has(one));
    const isWhole = isHit ? found.at(-1) === id : found.join() === ids.join();
    return isWhole ? [] : [`${id} has the path ${found.join()}`];
  });
}

/** Entries that lost their parent to the flip and do not say so. */
function secretOrphans(session: BlockingSession, safe: readonly Line[]): string[] {
  const { diagnostics } = session;
  return safe.flatMap(({ id }) => {
    const parentId = session.parentOf(id);
    const isOrphan = typeof parentId === "string" && !session.has(parentId);
    const isTold = diagnostics.some((one) => one.kind === "missing-parent" && one.id === id);
    return isOrphan && !isTold ? [`${id} is a secret orphan`] : [];
  });
}

interface Flip {
  readonly at: number;
  readonly bit: number;
  readonly bytes: Buffer;
}

function* flips(from: number, to: number): Generator<Flip> {
  for (const at of sampled(from, to, 200)) {
    for (let bit = at % runs(8, 1); bit < 8; bit += runs(8, 1)) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
      yield { at, bit, bytes };
    }
  }
}

describe("a log of every type of entry with one bit flipped", () => {
  const typeCount = 12;

  it("has every type before that, and is undamaged", async () => {
    expect(new Set(drafts.map(([, , { type }]) => type)).size).toBe(typeCount);
    expect(reference.session.diagnostics).toEqual([]);
    expect(await walk(reference)).toMatchObject({ report: { ok: true, entries: typeCount } });
  });

  it(
    "loses no entry that was not hit, and reports the hit (Verifies: P10, P18)",
    patience,
    async () => {
      for (const { at, bit, bytes } of flips(header.length, whole.length)) {
        const found = await violations(worldOn(bytes), at);
        if (found.length > 0) throw new Error(`byte ${at}, bit ${bit}: ${found.join("; ")}`);
      }
    },
  );

  it("in its header opens with all of its entries, or fails with a code", async () => {
    const codes = new Set<string>();
    for (const { at, bytes } of flips(0, header.length)) {
      let world: World | undefined;
      const error = thrownBy(() => (world = worldOn(bytes)));
      if (world === undefined) {
        codes.add(typedError(error).code);
        continue;
      }
      await walk(world);
      // Under a version that the flip made older, entries have other links, as in pi.
      const isCurrent = Number(world.session.header.version) >= 3;
      expect(isCurrent ? await violations(world, at) : []).toEqual([]);
      expect(unlinked(textsByOffset(world.session))).toEqual(
        unlinked(textsByOffset(reference.session)),
      );
    }
    expect([...codes].toSorted()).toEqual(["ERR_HEADER_DAMAGED"]);
  });
});

/** Entries without their ids and parents. */
function unlinked(entries: ReadonlyMap<number, string>): string[] {
  return [...entries.values()].map((text) =>
    text.replaceAll(/"(id|parentId)":("\w+"|null),?/gu, ""),
  );
}
