/** What `verify` found, as people read it. Pure. */
import type { VerifyReport } from "@branchlog/core";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { findingsText } from "./findings.ts";
import { countText, numberText } from "./quantities.ts";

/** The report as text: what was read, each damage with its place, the verdict last. */
export function verifyText(report: VerifyReport, style: Style): string {
  const { pending, ok } = report;
  return [
    `${style.heading(report.path)}\n`,
    `${countText(report.bytes, "byte")}, ${linesText(report)}\n`,
    badLinesText(report, style),
    duplicatesText(report, style),
    listText(
      "entry has a missing parent",
      "entries have missing parents",
      report.orphans,
      style,
      (orphan) => `${idText(orphan.id)} names ${idText(orphan.missingParentId)}`,
    ),
    listText(
      "cycle of parents",
      "cycles of parents",
      report.cycles,
      style,
      (id) => `through ${idText(id)}`,
    ),
    pending === null ? "" : `pending: ${pendingText(pending)}\n`,
    ok ? `${style.good("no damage")}\n` : `${style.bad("damaged")}\n`,
  ].join("");
}

function linesText({ lines, records, entries, blankLines, badLineCount }: VerifyReport): string {
  const kinds = [`${countText(records, "record")} (${countText(entries, "entry", "entries")})`];
  if (blankLines > 0) kinds.push(`${numberText(blankLines)} blank`);
  if (badLineCount > 0) kinds.push(`${numberText(badLineCount)} damaged`);
  return `${countText(lines, "line")}: ${kinds.join(", ")}`;
}

function badLinesText({ badLines, badLineCount }: VerifyReport, style: Style): string {
  if (badLineCount === 0) return "";
  const lines = badLines.map(
    ({ line, offset, length, reason }) =>
      `  line ${line} at byte ${offset}, ${countText(length, "byte")}: ${reason}\n`,
  );
  const title = style.bad(countText(badLineCount, "damaged line"));
  return `${title}\n${lines.join("")}${moreText(badLineCount - badLines.length)}`;
}

function duplicatesText({ duplicateIds, duplicateIdCount }: VerifyReport, style: Style): string {
  if (duplicateIdCount === 0) return "";
  const lines = duplicateIds.map(({ id = "", line, offset }) => {
    const place = line === undefined ? "" : ` in line ${line} at byte ${offset ?? 0}`;
    return `  ${idText(id)}${place}\n`;
  });
  const title = style.bad(countText(duplicateIdCount, "repeated id"));
  return `${title}\n${lines.join("")}${moreText(duplicateIdCount - duplicateIds.length)}`;
}

function listText<T>(
  one: string,
  many: string,
  list: readonly T[],
  style: Style,
  textOf: (item: T) => string,
): string {
  if (list.length === 0) return "";
  const lines = list.map((item) => `  ${textOf(item)}\n`);
  return `${style.bad(findingsText(list.length, one, many))}\n${lines.join("")}`;
}

function pendingText({ kind, length, offset }: NonNullable<VerifyReport["pending"]>): string {
  const what =
    kind === "record"
      ? "a whole record without its newline"
      : "an unfinished line, cut off or still being written";
  return `${what}, ${countText(length, "byte")} at byte ${offset}`;
}

function idText(id: string): string {
  return oneLine(id, 60);
}

function moreText(count: number): string {
  return count > 0 ? `  and ${numberText(count)} more\n` : "";
}
