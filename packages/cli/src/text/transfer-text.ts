/** The results of imports, exports and conversions, as text. Pure. */
import type { ExportedDocument, ImportedLog } from "@branchlog/agents/connectonion";
import type {
  ConversionResult,
  ImportReport,
  RedactionReport,
  TrajectoryImport,
} from "@branchlog/tools";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { countText, numberText } from "./quantities.ts";

/** Further findings are counted. */
const listedMax = 20;

export function importText(report: ImportReport, style: Style): string {
  const { path, kind, id, lines, imported, entries } = report;
  return [
    `${style.heading(oneLine(path, 400))}\n`,
    `session    ${oneLine(id, 80)}, from ${kind}\n`,
    `entries    ${numberText(entries)}\n`,
    `imported   ${numberText(imported)} of ${countText(lines, "line")}\n`,
    skippedText(report),
    findingsText(report, style),
  ].join("");
}

export function importedTurnsText(report: ImportedLog, style: Style): string {
  const { path, turns, entries, diagnostics } = report;
  const odd = diagnostics.map(({ message }) => `${style.warning(oneLine(message, 200))}\n`);
  return [
    `${style.heading(oneLine(path, 400))}\n`,
    `turns      ${numberText(turns)}, from connectonion\n`,
    `entries    ${numberText(entries)}\n`,
    ...odd,
  ].join("");
}

export function importedStepsText(report: TrajectoryImport, style: Style): string {
  const { path, id, steps, entries, subagents } = report;
  const left = subagents === 0 ? "" : `left out   ${countText(subagents, "subagent")}\n`;
  return [
    `${style.heading(oneLine(path, 400))}\n`,
    `session    ${oneLine(id, 80)}, from atif\n`,
    `steps      ${numberText(steps)}\n`,
    `entries    ${numberText(entries)}\n`,
    left,
  ].join("");
}

function skippedText({ skipped }: ImportReport): string {
  const reasons = Object.entries(skipped);
  if (reasons.length === 0) return "";
  const count = reasons.reduce((sum, [, times]) => sum + times, 0);
  const list = reasons.map(([reason, times]) => `${reason} ${numberText(times)}`).join(", ");
  return `skipped    ${numberText(count)}: ${list}\n`;
}

function findingsText({ diagnostics }: ImportReport, style: Style): string {
  const shown = diagnostics.slice(0, listedMax).map(({ line, kind, reason }) => {
    const place = line === undefined ? "" : `line ${line}: `;
    return `${style.warning(`${place}${kind}, ${oneLine(reason, 160)}`)}\n`;
  });
  const more = diagnostics.length - shown.length;
  if (more > 0) shown.push(`${style.warning(`and ${numberText(more)} more; --json lists them`)}\n`);
  return shown.join("");
}

/** By type; empty without changes. */
export function changedText(converted: ConversionResult["converted"]): string {
  const counts = Object.entries(converted).map(([type, count]) => `${type} ${numberText(count)}`);
  return counts.join(", ");
}

/** Empty without an added name. */
export function addedNameText(addedName: boolean): string {
  return addedName ? "added an entry with the name\n" : "";
}

/** pi does not know resets. */
export function resetsText(resets: number): string {
  if (resets === 0) return "";
  return `pi does not support ${countText(resets, "reset")}: its model sees what came before\n`;
}

/** Empty for an export that was not redacted. */
export function redactionText(report: RedactionReport | undefined): string {
  if (report === undefined) return "";
  const { secrets, replaced, entries, images } = report;
  const kinds = Object.entries(replaced).map(([kind, count]) => `${kind} ${numberText(count)}`);
  const list = kinds.length === 0 ? "" : `, ${kinds.toSorted().join(", ")}`;
  const where = `in ${countText(entries, "entry", "entries")}`;
  const left = images === 0 ? "" : `left out   ${countText(images, "image")}: not searched\n`;
  return `redacted   ${countText(secrets, "secret")} ${where}${list}\n${left}`;
}

export function lossText({ path, turns, lost }: ExportedDocument): string {
  const made = `wrote ${oneLine(path, 400)}, ${countText(turns, "turn")}\n`;
  if (lost.length === 0) return made;
  const list = lost.map(({ reason, count }) => `${reason} ${numberText(count)}`).join(", ");
  return `${made}left out   ${list}\n`;
}
