/** The report of `verify`, as text. Pure. */
import type { EntryPlace } from "@branchlog/core/types";
import type { VerifyReport } from "@branchlog/tools";
import { quoted } from "../failure.ts";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { divergenceText, findingsText } from "./findings.ts";
import { countText, numberText } from "./quantities.ts";

/** The lines read, each damage with its position, the verdict last. */
export function verifyText(report: VerifyReport, style: Style): string {
  const { pending } = report;
  return [
    `${style.heading(oneLine(report.path, 400))}\n`,
    `${countText(report.sizeBytes, "byte")}, ${linesText(report)}\n`,
    `checksums: ${checksumsText(report)}\n`,
    ...damageOf(report).map((listed) => listedText(listed, style)),
    unknownTypesText(report),
    linksText(report),
    pending === null ? "" : `the end: ${pendingText(pending)}\n`,
    findingsText(report.findings, style),
  ].join("");
}

interface Listed {
  readonly count: number;
  readonly one: string;
  readonly many?: string;
  readonly detail?: string;
  /** About the first findings. */
  readonly lines: readonly string[];
}

function damageOf(report: VerifyReport): readonly Listed[] {
  const badLineKinds = Object.entries(report.badLineCounts)
    .filter(([, ofKind]) => ofKind > 0)
    .map(([kind, ofKind]) => `${numberText(ofKind)} ${kind}`);
  const cyclic = countText(report.cyclicEntryCount, "entry", "entries");
  return [
    {
      count: report.badLineCount,
      one: "damaged line",
      detail: `: ${badLineKinds.join(", ")}`,
      lines: report.badLines.map((line) => `${bytesText(line)}: ${line.reason}`),
    },
    {
      count: report.invalidUtf8Count,
      one: "record",
      detail: " with bytes that are not UTF-8, read as U+FFFD",
      lines: report.invalidUtf8.map((line) => bytesText(line)),
    },
    {
      count: report.changedLineCount,
      one: "changed line",
      detail: ", or lines: they differ from a checkpoint",
      lines: report.changedLines.map(({ id, ...place }) =>
        id === null ? bytesText(place) : placeText({ id, ...place }),
      ),
    },
    {
      count: report.checkpointDifferenceCount,
      one: "difference",
      detail: " between the log and its checkpoint: delete the .ckpt",
      lines: report.checkpointDifferences.map(({ what, entry }) =>
        entry === null ? what : `${what} of ${placeText(entry)}`,
      ),
    },
    {
      count: report.damagedEntryCount,
      one: "damaged entry",
      many: "damaged entries",
      lines: report.damagedEntries.map((entry) => `${placeText(entry)}: ${entry.reason}`),
    },
    {
      count: report.duplicateIdCount,
      one: "repeated id",
      lines: report.duplicateIds.map(({ hiddenOffset, isSame, ...entry }) => {
        const what = isSame ? "is the same line as the one" : "hides the one";
        return `${placeText(entry)} ${what} at byte ${hiddenOffset}`;
      }),
    },
    {
      count: report.orphanCount,
      one: "entry has a missing parent",
      many: "entries have missing parents",
      lines: report.orphans.map(
        (entry) => `${placeText(entry)} names ${idText(entry.missingParentId)}`,
      ),
    },
    {
      count: report.cycleCount,
      one: "cycle",
      detail: ` of parents, with ${cyclic} on or below`,
      lines: report.cycles.map(({ size, ...entry }) => {
        const what = size === 1 ? "its own parent" : `${numberText(size)} entries`;
        return `${placeText(entry)}: ${what}`;
      }),
    },
    {
      count: report.lostEntryCount,
      one: "lost entry",
      many: "lost entries",
      detail: ` of the store: branchlog store recover ${quoted(report.path)}`,
      lines: report.lostEntries.map((id) => idText(id)),
    },
  ];
}

function listedText({ count, one, many, detail = "", lines }: Listed, style: Style): string {
  if (count === 0) return "";
  return `${style.bad(`${countText(count, one, many)}${detail}`)}\n${listText(count, lines)}`;
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
  if (state === "rewritten") return "not compared, the file was rewritten since they were taken";
  if (state === "none") return "none yet";
  const unseen = unseenEntries > 0 ? `, ${numberText(unseenEntries)} not in a checkpoint yet` : "";
  return `${countText(entries, "entry", "entries")} compared${unseen}`;
}

/** Unmarked, since it is not damage. */
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
      : `${countText(dangling, "dangling reference", "dangling references")}\n` +
        listText(dangling, targets),
    diverged === 0
      ? ""
      : `${countText(diverged, "unintended branch", "unintended branches")}\n` +
        listText(diverged, branches),
  ];
  return texts.join("");
}

function pendingText({ kind, length, offset }: NonNullable<VerifyReport["pending"]>): string {
  const what =
    kind === "record"
      ? "a complete record without its newline"
      : "an unfinished line, cut off or still being written";
  return `${what}, ${countText(length, "byte")} at byte ${offset}`;
}

function bytesText(place: Omit<EntryPlace, "id"> & { readonly length: number }): string {
  return `line ${place.line} at byte ${place.offset}, ${countText(place.length, "byte")}`;
}

function placeText({ id, line, offset }: EntryPlace): string {
  return `${idText(id)} in line ${line} at byte ${offset}`;
}

function idText(id: string): string {
  return oneLine(id, 60);
}
