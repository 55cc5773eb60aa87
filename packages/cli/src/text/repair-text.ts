/** The plan and the result of a repair, as text. Pure. */
import { isDamaged, isSound } from "@branchlog/tools";
import type {
  HeaderStep,
  RemainingDamage,
  RepairChange,
  RepairPlan,
  RepairResult,
  SetAsideReason,
  StandInStep,
} from "@branchlog/tools";
import { quoted } from "../failure.ts";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { findingsText, kindsText } from "./findings.ts";
import { countText, numberText } from "./quantities.ts";

export interface PlanTextOptions {
  readonly file: string;
  readonly apply: boolean;
  readonly output: string | undefined;
  readonly bridge: boolean;
  readonly cwd: string | undefined;
}

const changesMax = 100;
const idUnitsMax = 60;
const listedIdsMax = 5;

/** Each change with its place, the totals, the next step. */
export function planText(plan: RepairPlan, options: PlanTextOptions, style: Style): string {
  const { path, sizeBytes, findings, changes, repaired, remaining } = plan;
  const title = `${style.heading(oneLine(path, 400))}\n${countText(sizeBytes, "byte")}\n`;
  const shown = changes.slice(0, changesMax).map((change) => changeText(change));
  const more = changes.length - shown.length;
  const rest = more > 0 ? `and ${numberText(more)} more; --json lists all\n` : "";
  const after = `${countText(repaired.entries, "entry", "entries")}, ${asideText(changes)}`;
  const summary = changes.length === 0 ? "" : `repaired: ${after}\n`;
  const left = remainingText(remaining, options.bridge, style);
  const found = findingsText(findings, style);
  const next = nextText(plan, options, style);
  return `${title}${found}${shown.join("")}${rest}${summary}${left}${next}`;
}

export function resultText(result: RepairResult, style: Style): string {
  const { path, original, salvage, lateBytes } = result;
  const late = `${countText(lateBytes, "byte")} that another program wrote in the meantime`;
  const isSoundNow = !isDamaged(result.findings);
  const verdict = isSoundNow
    ? style.good("written and verified, no damage remains")
    : style.warning("written and verified, damage remains");
  return [
    `${verdict}\n`,
    isSoundNow ? "" : findingsText(result.findings, style),
    `repaired   ${oneLine(path, 400)}\n`,
    original === null ? "" : `original   ${oneLine(original, 400)}\n`,
    salvage === null ? "" : `set aside  ${oneLine(salvage, 400)}\n`,
    lateBytes === 0 ? "" : `added      ${late}\n`,
  ].join("");
}

function changeText(change: RepairChange): string {
  switch (change.kind) {
    case "set-aside": {
      const { line, offset, length, reason, id } = change;
      const what = `${reasonTexts[reason]}${id === null ? "" : ` (${idText(id)})`}`;
      return `line ${line} at byte ${offset}: sets ${countText(length, "byte")} aside, ${what}\n`;
    }
    case "recover": {
      const what =
        change.id === null ? "a complete record" : `the complete record ${idText(change.id)}`;
      return `line ${change.line} at byte ${change.offset}: moves ${what} to a line of its own\n`;
    }
    case "terminate":
      return `line ${change.line}: adds the missing newline after its complete record\n`;
    case "header":
      return headerText(change);
    case "stand-in":
      return standInText(change);
  }
}

const reasonTexts: Readonly<Record<SetAsideReason, string>> = {
  torn: "a truncated record",
  "nul-bytes": "with NUL bytes",
  "not-json": "not JSON",
  "not-object": "JSON, but not a record",
  "byte-order-mark": "a byte-order mark",
  repeated: "a duplicate record",
};

function headerText({ offset, header, sources }: HeaderStep): string {
  const fields = Object.entries(sources).map(([key, source]) => {
    const value = oneLine(String(Reflect.get(header, key)), idUnitsMax);
    const from = source === "unknown" ? "unknown, --cwd DIR sets it" : source;
    return `  ${key} ${value === "" ? '""' : value} (${from})\n`;
  });
  const why = "since no header can be read";
  return `at byte ${offset}: adds a header, ${why}\n${fields.join("")}`;
}

function standInText({ offset, id, parentId, source }: StandInStep): string {
  const place = parentId === null ? "as a root" : `below ${idText(parentId)}`;
  const why = source === "damaged" ? "according to its remains" : "the preceding entry, a guess";
  return `at byte ${offset}: adds a placeholder for the lost ${idText(id)} ${place}, ${why}\n`;
}

function asideText(changes: readonly RepairChange[]): string {
  let bytes = 0;
  for (const change of changes) if (change.kind === "set-aside") bytes += change.length;
  return bytes === 0 ? "nothing set aside" : `${countText(bytes, "byte")} set aside`;
}

function remainingText(remaining: RemainingDamage, bridge: boolean, style: Style): string {
  if (isSound(remaining)) return "";
  const { duplicateIdCount, orphanCount, cycleCount, others } = remaining;
  const orphans = remaining.orphans.map(({ id }) => id);
  const hint = bridge ? "" : "  --bridge connects them to the preceding entries\n";
  const parts = [
    leftText(duplicateIdCount, "repeated id", "repeated ids", remaining.duplicateIds),
    leftText(orphanCount, "entry without its parent", "entries without their parents", orphans),
    orphanCount === 0 ? "" : hint,
    leftText(cycleCount, "cycle of parents", "cycles of parents", remaining.cycles),
    others.length === 0 ? "" : `  ${kindsText(others, "damage")}; see branchlog verify\n`,
  ];
  return `${style.warning("not repaired:")}\n${parts.join("")}`;
}

function leftText(count: number, one: string, many: string, ids: readonly string[]): string {
  if (count === 0) return "";
  const listed = ids.slice(0, listedIdsMax).map((id) => idText(id));
  const more = count > listed.length ? ", …" : "";
  return `  ${countText(count, one, many)}: ${listed.join(", ")}${more}\n`;
}

function nextText(plan: RepairPlan, options: PlanTextOptions, style: Style): string {
  const { changes, findings, remaining } = plan;
  const { file, apply, output, bridge, cwd } = options;
  const verdict = isDamaged(findings) ? "" : `${style.good("nothing to repair")}\n`;
  if (output !== undefined || (apply && changes.length > 0)) return "";
  const bridges = bridge || remaining.orphanCount > 0;
  if (changes.length === 0 && bridges === bridge) return verdict;
  const given = `${bridges ? " --bridge" : ""}${cwd === undefined ? "" : ` --cwd ${quoted(cwd)}`}`;
  const command = `branchlog repair ${quoted(file)}${given} --apply`;
  const purpose = verdict === "" ? "To repair it" : "To make these changes anyway";
  const why = `nothing was changed. ${purpose}, and keep the original next to it:`;
  return `${verdict}${why}\n  ${command}\n`;
}

function idText(id: string): string {
  return oneLine(id, idUnitsMax);
}
