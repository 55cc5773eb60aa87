/** The report of `verify`, as text. Pure. */
import type { EntryPlace } from "@branchlog/core/types";
import type { VerifyReport } from "@branchlog/maintenance";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { divergenceText, findingsText } from "./findings.ts";
import { countText, numberText } from "./quantities.ts";

/** The report as text: what was read, each damage with its place, the verdict last. */
export function verifyText(report: VerifyReport, style: Style): string {
  const { pending } = report;
  const kinds = [
    badLines,
    invalidUtf8,
    changedLines,
    differences,
    damagedEntries,
    duplicateIds,
    orphans,
    cycles,
  ];
  const findings = kinds.map((listedOf) => listedText(listedOf(report), style));
  return [
    `${style.heading(oneLine(report.path, 400))}\n`,
    `${countText(report.bytes, "byte")}, ${linesText(report)}\n`,
    `checksums: ${checksumsText(report)}\n`,
    ...findings,
    unknownTypesText(report),
    linksText(report),
    pending === null ? "" : `the end: ${pendingText(pending)}\n`,
    findingsText(report.findings, style),
  ].join("");
}

/** What was found of one kind: its count, and lines about the first of it. */
interface Listed {
  readonly count: number;
  readonly title: string;
  readonly lines: readonly string[];
}

function listedText({ count, title, lines }: Listed, style: Style): string {
  return count === 0 ? "" : `${style.bad(title)}\n${listText(count, lines)}`;
}

function listText(count: number, lines: readonly string[]): string {
  const more = count - lines.length;
  const rest = more > 0 ? `  and ${numberText(more)} more\n` : "";
  return `${lines.map((line) => `  ${line}\n`).join("")}${rest}`;
}

function linesText({ lines, records, entries, blankLines, badLineCount }: VerifyReport): string {
  const kinds = [`${countText(records, "record")} (${countText(entries, "entry", "entries")})`];
  if (blankLines > 0) kinds.push(`${numberText(blankLines)} blank`);
  if (badLineCount > 0) kinds.push(`${numberText(badLineCount)} damaged`);
  return `${countText(lines, "line")}: ${kinds.join(", ")}`;
}

function checksumsText({ checksums }: VerifyReport): string {
  const { state, entries, unseenEntries } = checksums;
  if (state === "rewritten") return "not compared, the file was written anew since they were taken";
  if (state === "none") return "none yet";
  const unseen = unseenEntries > 0 ? `, ${numberText(unseenEntries)} not seen yet` : "";
  return `${countText(entries, "entry", "entries")} compared${unseen}`;
}

function changedLines({ changedLineCount: count, changedLines: list }: VerifyReport): Listed {
  return {
    count,
    title: `${countText(count, "changed line")}: not what a checkpoint saw`,
    lines: list.map(({ id, ...place }) => placeText({ id: id ?? "no entry", ...place })),
  };
}

function differences(report: VerifyReport): Listed {
  const { checkpointDifferenceCount: count, checkpointDifferences: list } = report;
  return {
    count,
    title: `${countText(count, "difference")} between the log and its checkpoint: delete the .ckpt`,
    lines: list.map(({ what, entry }) =>
      entry === null ? what : `${what} of ${placeText(entry)}`,
    ),
  };
}

function badLines({ badLineCount: count, badLineCounts, badLines: list }: VerifyReport): Listed {
  const kinds = Object.entries(badLineCounts)
    .filter(([, ofKind]) => ofKind > 0)
    .map(([kind, ofKind]) => `${numberText(ofKind)} ${kind}`);
  return {
    count,
    title: `${countText(count, "damaged line")}: ${kinds.join(", ")}`,
    lines: list.map(
      ({ line, offset, length, reason }) =>
        `line ${line} at byte ${offset}, ${countText(length, "byte")}: ${reason}`,
    ),
  };
}

function invalidUtf8({ invalidUtf8Count: count, invalidUtf8: list }: VerifyReport): Listed {
  return {
    count,
    title: `${countText(count, "record")} with bytes that are no UTF-8, read as U+FFFD`,
    lines: list.map(({ line, offset, length }) => {
      return `line ${line} at byte ${offset}, ${countText(length, "byte")}`;
    }),
  };
}

function damagedEntries({ damagedEntryCount: count, damagedEntries: list }: VerifyReport): Listed {
  return {
    count,
    title: countText(count, "damaged entry", "damaged entries"),
    lines: list.map((entry) => `${placeText(entry)}: ${entry.reason}`),
  };
}

function duplicateIds({ duplicateIdCount: count, duplicateIds: list }: VerifyReport): Listed {
  return {
    count,
    title: countText(count, "repeated id"),
    lines: list.map(({ hiddenOffset, isSame, ...entry }) => {
      const what = isSame ? "is the same line as the one" : "hides the one";
      return `${placeText(entry)} ${what} at byte ${hiddenOffset}`;
    }),
  };
}

function orphans({ orphanCount: count, orphans: list }: VerifyReport): Listed {
  return {
    count,
    title: countText(count, "entry has a missing parent", "entries have missing parents"),
    lines: list.map((entry) => `${placeText(entry)} names ${idText(entry.missingParentId)}`),
  };
}

function cycles({ cycleCount: count, cyclicEntryCount, cycles: list }: VerifyReport): Listed {
  const entries = countText(cyclicEntryCount, "entry", "entries");
  return {
    count,
    title: `${countText(count, "cycle")} of parents, with ${entries} on or below`,
    lines: list.map(({ size, ...entry }) => {
      const what = size === 1 ? "its own parent" : `${numberText(size)} entries`;
      return `${placeText(entry)}: ${what}`;
    }),
  };
}

/** Unmarked, since it is no damage. */
function unknownTypesText({ unknownTypeCount: count, unknownTypes: list }: VerifyReport): string {
  if (count === 0) return "";
  const lines = list.map(({ type, count: entries, nearest, ...first }) => {
    const meant = nearest === null ? "" : `; did you mean ${nearest}?`;
    const many = countText(entries, "entry", "entries");
    return `${oneLine(type, 60)}: ${many}, the first is ${placeText(first)}${meant}`;
  });
  return `${countText(count, "unknown type")}\n${listText(count, lines)}`;
}

/** Unmarked as well. */
function linksText(report: VerifyReport): string {
  const { danglingReferenceCount: dangling, danglingReferences } = report;
  const { divergenceCount: diverged, divergences } = report;
  const targets = danglingReferences.map(({ field, targetId, within, ...entry }) => {
    const where = within === "path" ? "is not on its path" : "is not in the log";
    return `${placeText(entry)}: its ${field}, ${idText(targetId)}, ${where}`;
  });
  const branches = divergences.map(
    (entry) => `${divergenceText(entry)}, line ${entry.line} at byte ${entry.offset}`,
  );
  const texts = [
    dangling === 0
      ? ""
      : `${countText(dangling, "reference leads nowhere", "references lead nowhere")}\n` +
        listText(dangling, targets),
    diverged === 0
      ? ""
      : `${countText(diverged, "branch that nobody chose", "branches that nobody chose")}\n` +
        listText(diverged, branches),
  ];
  return texts.join("");
}

function pendingText({ kind, length, offset }: NonNullable<VerifyReport["pending"]>): string {
  const what =
    kind === "record"
      ? "a whole record without its newline"
      : "an unfinished line, cut off or still being written";
  return `${what}, ${countText(length, "byte")} at byte ${offset}`;
}

function placeText({ id, line, offset }: EntryPlace): string {
  return `${idText(id)} in line ${line} at byte ${offset}`;
}

function idText(id: string): string {
  return oneLine(id, 60);
}
