/**
 * The one classification of what a log can hold besides sound lines. `verify`, `repair` and opening
 * report findings of these kinds, and nothing else decides whether a log is damaged. Pure.
 */

/**
 * What a finding says of the log. `damage`: something is lost, unreachable or not what was written.
 * `pending`: its last line may still be being written. `noted`: odd, but nothing is lost by it.
 */
export type FindingWeight = "damage" | "pending" | "noted";

/**
 * What was found.
 *
 * - Lines that are no record, also at the end: `torn`, `not-json`, `not-object`, `nul-bytes`,
 *   `too-long`.
 * - Records: `id-changed` (the line begins with another id than it has), `invalid-utf8` (bytes that
 *   are read as U+FFFD), `changed-line`, `checkpoint-difference` (a checkpoint says otherwise).
 * - The header: `damaged-header`, `before-header` (entries before it, which are not read),
 *   `second-header`, `byte-order-mark` (also before another line).
 * - The tree: `duplicate-id`, `repeated-line` (the same entry again, byte for byte),
 *   `missing-parent`, `cycle`.
 * - Links: `dangling-reference` (its target does not exist, or is not on the path), `diverged` (a
 *   branch that nobody chose).
 * - The end: `unfinished-line`, `unfinished-record` (whole but for its newline).
 * - `not-an-entry`, `unknown-type`: as in `session.diagnostics`.
 */
export type FindingKind =
  | "damaged-header"
  | "torn"
  | "not-json"
  | "not-object"
  | "nul-bytes"
  | "too-long"
  | "id-changed"
  | "invalid-utf8"
  | "changed-line"
  | "checkpoint-difference"
  | "before-header"
  | "duplicate-id"
  | "missing-parent"
  | "cycle"
  | "unfinished-line"
  | "unfinished-record"
  | "byte-order-mark"
  | "repeated-line"
  | "second-header"
  | "not-an-entry"
  | "unknown-type"
  | "dangling-reference"
  | "diverged";

/** Findings of one kind. */
export interface Finding {
  readonly kind: FindingKind;
  readonly weight: FindingWeight;
  /** Lines, entries, cycles or types. */
  readonly count: number;
}

/** How much was found of each kind. */
export type FindingCounts = Readonly<Partial<Record<FindingKind, number>>>;

/** Every kind with its weight, in the order of reports. */
const weights: readonly (readonly [FindingKind, FindingWeight])[] = [
  ["damaged-header", "damage"],
  ["torn", "damage"],
  ["not-json", "damage"],
  ["not-object", "damage"],
  ["nul-bytes", "damage"],
  ["too-long", "damage"],
  ["id-changed", "damage"],
  ["invalid-utf8", "damage"],
  ["changed-line", "damage"],
  ["checkpoint-difference", "damage"],
  ["before-header", "damage"],
  ["duplicate-id", "damage"],
  ["missing-parent", "damage"],
  ["cycle", "damage"],
  ["unfinished-line", "pending"],
  ["unfinished-record", "pending"],
  ["byte-order-mark", "noted"],
  ["repeated-line", "noted"],
  ["second-header", "noted"],
  ["not-an-entry", "noted"],
  ["unknown-type", "noted"],
  ["dangling-reference", "noted"],
  ["diverged", "noted"],
];

/** The findings of these counts, by weight and in the order of their kinds. */
export function findingsOf(counts: FindingCounts): readonly Finding[] {
  const found: Finding[] = [];
  for (const [kind, weight] of weights) {
    const count = counts[kind] ?? 0;
    if (count > 0) found.push({ kind, weight, count });
  }
  return found;
}

/** How many findings of a kind there are. */
export function countOf(findings: readonly Finding[], kind: FindingKind): number {
  return findings.find((found) => found.kind === kind)?.count ?? 0;
}

/** Whether a log with these findings is damaged. */
export function isDamaged(findings: readonly Finding[]): boolean {
  return findings.some(({ weight }) => weight === "damage");
}
