/**
 * Reads a fixture and its expected projections the plainest way: split, parse, migrate in memory as
 * pi does, without any of the code under test.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { SessionEntry, SessionHeader } from "@branchlog/core";
import type { TitleSlot } from "../../../packages/core/src/dialects/title-slot.ts";
import type { PathView } from "../../../packages/core/src/projections/projection.ts";
import { pathTo } from "./naive-tree.ts";

const directory = new URL("../../../fixtures/", import.meta.url);

/** One context that a fixture expects; README.md of the fixtures explains the fields. */
export interface ExpectedContext {
  /** What omp's context says besides, of a fixture in its dialect. */
  readonly omp?: unknown;
  readonly leaf?: string;
  readonly leafLine?: number;
  readonly selectedLines: readonly number[];
  readonly messages: readonly unknown[];
  readonly thinkingLevel: string;
  readonly model: unknown;
  readonly truncatedAt?: string;
  readonly llmMessages?: readonly unknown[];
  readonly problems?: readonly { readonly line: number; readonly reason: string }[];
}

export interface Expected {
  readonly contexts: readonly ExpectedContext[];
  readonly labels: readonly unknown[];
  readonly name: string | null;
  readonly summary: unknown;
  readonly usageTotal: unknown;
}

export interface FixtureSession extends FixtureRecords {
  readonly expected: Expected;
  readonly lineOf: (entryId: string) => number;
  readonly path: (context: ExpectedContext) => PathView;
}

/** What a session file holds, in the form of version 3. */
export interface FixtureRecords {
  /** In the order of the file. */
  readonly entries: readonly SessionEntry[];
  readonly header: SessionHeader;
  readonly slot: TitleSlot | undefined;
  /** The line of the first entry. */
  readonly firstLine: number;
}

/** The names of all fixtures of pi or omp with expected projections, without ending. */
export function fixtureNames(): string[] {
  const ending = ".expected.json";
  const files = readdirSync(directory).filter((name) => name.endsWith(ending));
  const named = files.filter((name) => /^(?:pi|omp|mixed)-|^seed-(?:pi|omp)\./.test(name));
  return named.map((name) => name.slice(0, -ending.length)).toSorted();
}

/** The entries of a session file, in the form of version 3 and in the order of the file. */
export function readEntries(file: URL | string): readonly SessionEntry[] {
  return readRecords(file).entries;
}

function readRecords(file: URL | string): FixtureRecords {
  const text = readFileSync(file, "utf8").replace(/^\uFEFF/u, "");
  const records = text
    .split(/\r?\n/u)
    .filter((line) => line !== "")
    // Test data that is known to be objects.
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const [first] = records;
  const slot = first?.["type"] === "title" ? records.shift() : undefined;
  migrate(records);
  // Past the types on purpose: what is stored is what projections get.
  return {
    entries: records.slice(1) as unknown as SessionEntry[],
    header: records[0] as unknown as SessionHeader,
    slot: slot as unknown as TitleSlot | undefined,
    firstLine: slot === undefined ? 2 : 3,
  };
}

export function readFixture(name: string): FixtureSession {
  const records = readRecords(new URL(`${name}.jsonl`, directory));
  const { entries, firstLine } = records;
  const expectedText = readFileSync(new URL(`${name}.expected.json`, directory), "utf8");
  return {
    ...records,
    expected: JSON.parse(expectedText) as Expected,
    lineOf: (entryId) => entries.findLastIndex((entry) => entry.id === entryId) + firstLine,
    path: ({ leaf, leafLine }) => {
      const last = entries.at(-1)?.id ?? "";
      const atLine = leafLine === undefined ? last : (entries[leafLine - firstLine]?.id ?? "");
      return pathTo(entries, leaf ?? atLine);
    },
  };
}

/** Versions 1 and 2 become 3, as pi does it in place; the new ids are line numbers. */
function migrate(records: Record<string, unknown>[]): void {
  const version = records[0]?.["version"] ?? 1;
  for (const [index, record] of records.entries()) {
    if (index === 0) continue;
    if (version === 1) chain(records, record, index);
    const message = record["message"];
    if (version !== 3 && typeof message === "object" && message !== null && "role" in message) {
      if (message.role === "hookMessage") message.role = "custom";
    }
  }
}

function chain(
  records: readonly Record<string, unknown>[],
  record: Record<string, unknown>,
  index: number,
): void {
  record["id"] = `line-${index + 1}`;
  record["parentId"] = index === 1 ? null : `line-${index}`;
  const kept = record["firstKeptEntryIndex"];
  if (typeof kept !== "number") return;
  if (kept !== 0) record["firstKeptEntryId"] = records[kept]?.["id"];
  delete record["firstKeptEntryIndex"];
}
