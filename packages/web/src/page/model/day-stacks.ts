/** Costs of days as the bars of a chart: the models that cost most, one above the other. Pure. */
import type { DayCosts } from "../../api.ts";

export interface DayStacks {
  /** Without gaps: days without costs are there as well. */
  readonly days: readonly string[];
  /** From the bottom to the top; the last one may be all others together. */
  readonly models: readonly ModelCosts[];
}

export interface ModelCosts {
  readonly name: string;
  /** US dollars, for each day. */
  readonly costs: readonly number[];
}

const modelsMax = 6;
const daysMax = 3_660;
const dayMs = 86_400_000;

/** All sums of a day together are the same, whatever is joined. */
export function dayStacks(given: readonly DayCosts[]): DayStacks {
  const days = given.map(({ day, models }) => ({ day, models: byShortName(models) }));
  const totals = new Map<string, number>();
  for (const { models } of days) {
    for (const [name, cost] of models) totals.set(name, (totals.get(name) ?? 0) + cost);
  }
  const names = [...totals].toSorted(([, one], [, other]) => other - one).map(([name]) => name);
  const shown = names.length > modelsMax ? names.slice(0, modelsMax - 1) : names;
  const others = names.slice(shown.length);
  const byDay = new Map(days.map(({ day, models }) => [day, models]));
  const all = everyDay(days.map(({ day }) => day));
  const costOf = (day: string, name: string): number => byDay.get(day)?.get(name) ?? 0;
  const models = shown.map((name) => ({ name, costs: all.map((day) => costOf(day, name)) }));
  if (others.length === 0) return { days: all, models };
  const rest = all.map((day) => others.reduce((sum, name) => sum + costOf(day, name), 0));
  return { days: all, models: [...models, { name: `${others.length} others`, costs: rest }] };
}

/** A model that several providers offer is one. */
function byShortName(models: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [name, cost] of Object.entries(models)) {
    const short = shortModel(name);
    sums.set(short, (sums.get(short) ?? 0) + cost);
  }
  return sums;
}

/** Without the provider. */
function shortModel(name: string): string {
  const id = name.slice(name.indexOf("/") + 1);
  return id === "" ? "no model" : id;
}

/** From the first to the last; damaged files can name days that are centuries apart. */
function everyDay(days: readonly string[]): readonly string[] {
  const [first, last] = [Date.parse(days[0] ?? ""), Date.parse(days.at(-1) ?? "")];
  const count = (last - first) / dayMs + 1;
  if (!(count <= daysMax)) return days;
  return Array.from({ length: count }, (_, at) =>
    new Date(first + at * dayMs).toISOString().slice(0, 10),
  );
}
