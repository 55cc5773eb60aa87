/** Sums of turns, tokens and costs: as a table with bars, as records, CSV or JSON. Pure. */
import type { SpentGrouping, SpentGroups, SpentSums, UsageStatistics } from "@branchlog/tools";
import { tokensOf } from "../session-filter.ts";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { displayWidth, fitted, padded } from "./display-width.ts";
import {
  cacheText,
  costText,
  countText,
  estimateText,
  knownCost,
  numberText,
} from "./quantities.ts";
import { recordLine } from "./records.ts";

export type SpentGroup = readonly [name: string, sums: SpentSums];

/** Days in order, the last ones; others the largest first. Equal ones by name. */
export function shownGroups(
  { groups }: SpentGroups,
  by: SpentGrouping,
  limit: number = Infinity,
): readonly SpentGroup[] {
  const byName = Array.from(groups[by]).toSorted(([one], [other]) => (one < other ? -1 : 1));
  if (by === "day") return byName.slice(Math.max(0, byName.length - limit));
  return byName.toSorted(([, one], [, other]) => tokensOf(other) - tokensOf(one)).slice(0, limit);
}

export function sumsJson(sums: SpentSums, hasEstimate: boolean): object {
  const { turns, requests, unpriced, input, output, cacheRead, cacheWrite, cost } = sums;
  const tokens = tokensOf(sums);
  const spent = { tokens, input, output, cacheRead, cacheWrite, cost: knownCost(cost) };
  const { estimated, unestimated } = sums;
  const estimate = hasEstimate ? { estimatedCost: knownCost(estimated), unestimated } : {};
  return { turns, requests, unpriced, ...spent, ...estimate };
}

/** `name, turns, requests, requests without a price, input, output, read, written, dollars`. */
export function groupRecord([name, sums]: SpentGroup): string {
  return recordLine([name, ...fieldsOf(sums)]);
}

function fieldsOf(sums: SpentSums): readonly (number | null)[] {
  const { turns, requests, unpriced, input, output, cacheRead, cacheWrite, cost } = sums;
  return [turns, requests, unpriced, input, output, cacheRead, cacheWrite, knownCost(cost)];
}

const csvNames = ["turns", "requests", "unpriced", "input", "output", "cache_read", "cache_write"];

/** As RFC 4180 has it, with a line of names. */
export function statsCsv(groups: readonly SpentGroup[], by: SpentGrouping): string {
  const lines = groups.map(([name, sums]) => [csvText(name), ...fieldsOf(sums)]);
  return [[by, ...csvNames, "cost"], ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export interface StatsTextOptions {
  readonly by: SpentGrouping | undefined;
  readonly limit: number | undefined;
  /** Whether costs that are not stored are estimated. */
  readonly estimate: boolean;
  readonly columns: number;
  readonly style: Style;
}

/** Projects of a summary. */
const summaryGroupsMax = 5;

export function statsText(found: UsageStatistics, options: StatsTextOptions): string {
  const { by = "project", limit = options.by === undefined ? summaryGroupsMax : Infinity } =
    options;
  const groups = shownGroups(found, by, limit);
  const more = found.groups[by].size - groups.length;
  const rest = more > 0 ? options.style.faint(`and ${numberText(more)} more`).concat("\n") : "";
  const table = groups.length === 0 ? "" : `\n${tableText(groups, by, options)}${rest}`;
  return `${summaryText(found, options)}${table}`;
}

function summaryText({ total, sessions }: UsageStatistics, { estimate }: StatsTextOptions): string {
  const { turns, requests, input, output, cacheRead, cacheWrite } = total;
  const unpriced = estimate ? total.unestimated : total.unpriced;
  const counts = [countText(sessions, "session"), countText(turns, "turn")];
  const cached = cacheText(cacheRead, cacheWrite);
  const isPartial = unpriced > 0 && (estimate ? total.estimated : total.cost) > 0;
  const without = `, ${numberText(unpriced)} of ${countText(requests, "request")} without a price`;
  return (
    `${counts.join(", ")}, ${countText(requests, "request")}\n` +
    `${numberText(input)} tokens in, ${numberText(output)} out${cached}\n` +
    `${shownCost(total, "cost unknown", estimate)}${isPartial ? without : ""}\n`
  );
}

/** A lower bound where some requests have no price. */
function shownCost(sums: SpentSums, unknown: string, hasEstimate: boolean): string {
  const { cost, unpriced, estimated, unestimated } = sums;
  const isEstimate = hasEstimate && unpriced > unestimated;
  const [dollars, missing] = isEstimate ? [estimated, unestimated] : [cost, unpriced];
  const text = isEstimate ? estimateText(dollars) : costText(dollars, unknown);
  return `${missing > 0 && dollars > 0 ? "≥ " : ""}${text}`;
}

const unnamed: Readonly<Record<SpentGrouping, string>> = {
  project: "(no working directory)",
  day: "(no time)",
  model: "(no model)",
  agent: "(no agent)",
};

const barColumnsMin = 4;
const barColumnsMax = 40;
const gap = "  ";

function tableText(
  groups: readonly SpentGroup[],
  by: SpentGrouping,
  { columns, style, estimate }: StatsTextOptions,
): string {
  const rows = groups.map(([name, sums]) => ({
    name: oneLine(name, 400) || unnamed[by],
    tokens: tokensOf(sums),
    facts: [numberText(tokensOf(sums)), shownCost(sums, "unknown", estimate)],
  }));
  const widest = (texts: readonly string[]): number =>
    texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0);
  const heads = ["tokens", "cost"];
  const widths = heads.map((head, at) =>
    widest([head, ...rows.map(({ facts }) => facts[at] ?? "")]),
  );
  const room = Math.max(1, columns - widths.reduce((sum, width) => sum + width + gap.length, 0));
  const nameColumns = Math.min(widest([by, ...rows.map(({ name }) => name)]), Math.ceil(room / 2));
  const barColumns = Math.min(barColumnsMax, Math.max(0, room - nameColumns - gap.length));
  const most = rows.reduce((top, { tokens }) => Math.max(top, tokens), 1);
  const line = (name: string, bar: string, facts: readonly string[]): string => {
    const cells = facts.map((fact, at) => fact.padStart(widths[at] ?? 0));
    const shown = barColumns < barColumnsMin ? [] : [style.good(padded(bar, barColumns))];
    return [padded(fitted(name, nameColumns), nameColumns), ...shown, ...cells].join(gap);
  };
  const lines = rows.map(({ name, tokens, facts }) =>
    line(name, barText(tokens / most, barColumns), facts),
  );
  return [style.faint(line(by, "", heads)), ...lines].map((text) => `${text}\n`).join("");
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Of at most so many columns; a part that is not 0 is visible. */
function barText(part: number, columns: number): string {
  const units = Math.max(part > 0 ? 1 : 0, Math.round(part * columns * 8));
  return `${"█".repeat(Math.floor(units / 8))}${eighths[units % 8] ?? ""}`;
}
