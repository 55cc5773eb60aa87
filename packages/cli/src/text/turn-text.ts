/** Turns as text: one a line, or all facts of one. Pure, total. */
import type { Style } from "../style.ts";
import type { ShownTotals } from "../turn-source.ts";
import { oneLine } from "./clean-text.ts";
import {
  agoText,
  cacheText,
  costText,
  countText,
  durationText,
  estimateText,
  numberText,
} from "./quantities.ts";
import { fieldOf, jsonStart, numberOf, stringOf } from "./stored-field.ts";

export interface LinePlace {
  readonly columns: number;
  readonly style: Style;
  /** Whether any turn has passed or failed, so that there is a column for it. */
  readonly isJudged: boolean;
}

const widths = { turn: 4, mark: 6, time: 8, tokens: 9, cost: 8 };
const gap = "  ";
/** For a terminal that breaks lines early. */
const freeUnits = 2;
const textUnitsMin = 20;

function takenUnits(hasMark: boolean): number {
  const { mark, ...others } = widths;
  const taken = hasMark ? [mark, ...Object.values(others)] : Object.values(others);
  return taken.reduce((sum, width) => sum + width + gap.length, 0);
}

export function isJudged(turn: object): boolean {
  return typeof fieldOf(turn, "passed") === "boolean";
}

export function turnsHeading({ style, isJudged: hasMark }: LinePlace): string {
  const cells = [
    "turn".padStart(widths.turn),
    ...(hasMark ? ["passed".padEnd(widths.mark)] : []),
    "time".padStart(widths.time),
    "tokens".padStart(widths.tokens),
    "cost".padStart(widths.cost),
    "input → result",
  ];
  return `${style.faint(cells.join(gap))}\n`;
}

/** With a second line if the expected result is stored. */
export function turnLine(turn: object, place: number, on: LinePlace): string {
  const { columns, style } = on;
  const taken = takenUnits(on.isJudged);
  const number = fieldOf(turn, "turn");
  const shown = typeof number === "number" ? number : place;
  const { word, paint } = verdictOf(turn, style);
  const cells = [
    String(shown).padStart(widths.turn),
    ...(on.isJudged ? [paint(word.padEnd(widths.mark))] : []),
    style.faint(durationText(numberOf(turn, "duration_ms")).padStart(widths.time)),
    style.faint(numberText(numberOf(turn, "tokens")).padStart(widths.tokens)),
    style.faint(turnCost(turn, "unknown").padStart(widths.cost)),
    gistOf(turn, Math.max(textUnitsMin, columns - taken - freeUnits), style),
  ];
  const expected = stringOf(turn, "expected");
  const below = expected === undefined ? "" : expectedLine(expected, taken, on);
  return `${cells.join(gap).trimEnd()}\n${below}`;
}

function turnCost(turn: object, unknown: string): string {
  const [cost, estimate] = [numberOf(turn, "cost"), fieldOf(turn, "estimated_cost")];
  return isMore(estimate, cost) ? estimateText(estimate) : costText(cost, unknown);
}

/** Sums in another order differ in their last digits. */
function isMore(estimate: unknown, cost: number): estimate is number {
  return typeof estimate === "number" && estimate > cost * (1 + 1e-9);
}

function expectedLine(expected: string, taken: number, { columns, style }: LinePlace): string {
  const room = Math.max(textUnitsMin, columns - taken - freeUnits - "expected ".length);
  return `${" ".repeat(taken)}${style.faint("expected")} ${oneLine(expected, room)}\n`;
}

/** The input gets at least half of the room. */
function gistOf(turn: object, unitsMax: number, style: Style): string {
  const input = oneLine(stringOf(turn, "input") ?? "", unitsMax);
  const whole = oneLine(stringOf(turn, "result") ?? "", unitsMax);
  const arrow = " → ";
  const half = Math.max(1, Math.floor((unitsMax - arrow.length) / 2));
  const room = unitsMax - arrow.length - Math.min(whole.length, half);
  const asked = oneLine(input, Math.max(1, room));
  const left = unitsMax - asked.length - arrow.length;
  if (whole === "" || left < 1) return style.user(asked);
  return `${style.user(asked)}${style.faint(arrow)}${oneLine(whole, left)}`;
}

function verdictOf(turn: object, style: Style): { word: string; paint: (text: string) => string } {
  const passed = fieldOf(turn, "passed");
  if (passed === true) return { word: "yes", paint: style.good };
  return passed === false ? { word: "no", paint: style.bad } : { word: "", paint: style.faint };
}

export function turnsSummary(
  totals: ShownTotals,
  diagnostics: readonly { readonly message: string }[],
  style: Style,
): string {
  const { passed, failed } = totals;
  const cached = cacheText(
    totals.total_cache_read_tokens ?? 0,
    totals.total_cache_write_tokens ?? 0,
  );
  const tokens = countText(totals.total_tokens, "token");
  const { total_cost: stored, total_estimated_cost: estimate } = totals;
  const cost = isMore(estimate, stored) ? estimateText(estimate) : costText(stored);
  const took = `${countText(totals.count, "turn")}, ${tokens}${cached}, ${cost}`;
  const judged = passed + failed;
  const verdict = judged === 0 ? "" : `, ${numberText(passed)} of ${numberText(judged)} passed`;
  const warnings = diagnostics.map(({ message }) => `${style.warning(oneLine(message, 200))}\n`);
  return `${took}${verdict}\n${warnings.join("")}`;
}

const known = ["turn", "timestamp", "model", "duration_ms", "tokens", "cost", "passed", "expected"];
const caches = ["cache_read_tokens", "cache_write_tokens", "estimated_cost"];
const done = ["errors", "files"];
const hidden: ReadonlySet<string> = new Set([
  ...known,
  ...caches,
  ...done,
  "input",
  "result",
  "fields",
  "messages",
]);

const nameUnits = 12;

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

/** Without its messages. */
export function turnDetails(
  turn: object,
  { style, nowMs }: { readonly style: Style; readonly nowMs?: number | undefined },
): string {
  const number = fieldOf(turn, "turn");
  const cached = cacheText(
    numberOf(turn, "cache_read_tokens"),
    numberOf(turn, "cache_write_tokens"),
  );
  const facts = [
    turnTimeText(stringOf(turn, "timestamp") ?? "", nowMs),
    stringOf(turn, "model"),
    durationText(numberOf(turn, "duration_ms")),
    `${countText(numberOf(turn, "tokens"), "token")}${cached}`,
    turnCost(turn, "cost unknown"),
    numberOf(turn, "errors") > 0 ? `${numberText(numberOf(turn, "errors"))} failed` : undefined,
  ];
  const said = facts.filter((fact) => fact !== undefined && fact !== "");
  const heading = style.heading(`turn ${typeof number === "number" ? number : "?"}`);
  const { word, paint } = verdictOf(turn, style);
  const all = Object.entries({ ...turn, ...objectOf(fieldOf(turn, "fields")) });
  const lines = [
    `${heading} · ${said.map((fact) => oneLine(fact ?? "", 80)).join(" · ")}`,
    ...(word === "" ? [] : [`${style.faint("passed".padEnd(nameUnits))}  ${paint(word)}`]),
    ...factLines("expected", fieldOf(turn, "expected"), style),
    ...all
      .filter(([key]) => !hidden.has(key))
      .flatMap(([key, value]: [string, unknown]) => factLines(key, value, style)),
    ...factLines("files", filesOf(turn), style),
  ];
  return `${lines.join("\n")}\n`;
}

/** Which its calls changed; documents do not say it. */
function filesOf(turn: object): readonly string[] {
  const files = fieldOf(turn, "files");
  if (!Array.isArray(files)) return [];
  return files.map(objectOf).map((file) => {
    const [added, removed] = [numberOf(file, "added"), numberOf(file, "removed")];
    return `${stringOf(file, "path") ?? ""} +${numberText(added)} −${numberText(removed)}`;
  });
}

/** A document has local times of its machine, whose age is unknown. */
function turnTimeText(stored: string, nowMs: number | undefined): string {
  const isKnown = nowMs !== undefined && /^\d{4}-.*Z$/.test(stored);
  return isKnown ? agoText(Date.parse(stored), nowMs) : stored;
}

/** One line for each item of a list. */
function factLines(key: string, value: unknown, style: Style): string[] {
  if (value === undefined) return [];
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const name = oneLine(key, 40).padEnd(nameUnits);
  return items.map((item, place) => {
    const text = typeof item === "string" ? item : jsonStart(item, 200);
    return `${style.faint(place === 0 ? name : " ".repeat(nameUnits))}  ${oneLine(text, 160)}`;
  });
}
