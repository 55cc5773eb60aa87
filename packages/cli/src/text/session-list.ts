/**
 * The list of sessions: for people in aligned columns below the working directories, with ages and
 * as much of each id as names it; for programs a record each. Pure.
 */
import { basename } from "node:path";
import type { ListedUsage, GroupedSession, SessionGroup } from "@branchlog/library";
import { agentOf, tokensOf } from "../session-filter.ts";
import type { Estimator } from "../cost-estimate.ts";
import type { Style } from "../style.ts";
import type { ShortId } from "../unique-prefixes.ts";
import { oneLine } from "./clean-text.ts";
import { displayWidth, fitted, padded } from "./display-width.ts";
import { ageText, costText, countText, estimateText, sizeText } from "./quantities.ts";
import { sessionRecord } from "./records.ts";
import { titleOf } from "./session-text.ts";

export interface ListTextOptions {
  readonly nowMs: number;
  readonly columns: number;
  readonly style: Style;
  /** The unique form of each id. */
  readonly ids: ReadonlyMap<string, ShortId>;
  /** Undefined: stored costs are shown. */
  readonly estimateOf: Estimator | undefined;
}

interface Row {
  readonly indent: string;
  readonly title: string;
  readonly facts: Readonly<Record<FactName, string>>;
  readonly id: ShortId;
  /** A line below it. */
  readonly note: string | undefined;
}

const factNames = ["age", "messages", "size", "tokens", "cost", "model", "agent"] as const;
type FactName = (typeof factNames)[number];

/** The order of omission, to make space for titles. The age and the id never are. */
const leftOutFirst: readonly FactName[] = ["model", "size", "tokens", "messages", "cost", "agent"];

const shownDepthMax = 8;
/** Space for longer titles while facts can be omitted: columns, or a part of them. */
const titleColumnsMin = 32;
const titlePart = 0.4;

/** Every group, with an empty line between two; each line with its newline. */
export function listText(groups: readonly SessionGroup[], options: ListTextOptions): string {
  const tables = groups.map((group) => ({ group, rows: rowsOf(group, options) }));
  const layout = layoutOf(
    tables.flatMap(({ rows }) => rows),
    options.columns,
  );
  const text = ({ group, rows }: (typeof tables)[number]): string =>
    `${options.style.heading(fitted(headingOf(group), options.columns))}\n` +
    rows.map((row) => rowText(row, layout, options)).join("");
  return tables.map(text).join("\n");
}

interface Layout {
  readonly facts: readonly { readonly name: FactName; readonly width: number }[];
  readonly title: number;
}

/** Titles get what is left; facts are left out while that is less than they need. */
function layoutOf(rows: readonly Row[], columns: number): Layout {
  const longest = largest(rows.map(({ indent, title }) => indent.length + displayWidth(title)));
  const idWidth = largest(rows.map(({ id }) => displayWidth(id.text)));
  const widths = factNames.map((name) => {
    return { name, width: largest(rows.map(({ facts }) => displayWidth(facts[name]))) };
  });
  const wanted = Math.min(longest, Math.max(titleColumnsMin, Math.floor(columns * titlePart)));
  let facts = widths.filter(({ width }) => width > 0);
  const room = (): number =>
    facts.reduce((left, { width }) => left - width - gap, columns - idWidth - gap);
  for (const name of leftOutFirst) {
    if (room() >= wanted) break;
    facts = facts.filter((fact) => fact.name !== name);
  }
  return { facts, title: Math.min(longest, Math.max(1, room())) };
}

const gap = 2;

/** Of any number of widths, more than a call has arguments. */
function largest(widths: readonly number[]): number {
  return widths.reduce((most, width) => Math.max(most, width), 0);
}

function headingOf({ cwd }: SessionGroup): string {
  return cwd === "" ? "(no working directory)" : oneLine(cwd, 400);
}

function rowsOf({ sessions }: SessionGroup, options: ListTextOptions): readonly Row[] {
  return sessions.map((session) => sessionRow(session, options));
}

function sessionRow(
  { session, depth, parent }: GroupedSession,
  { nowMs, ids, estimateOf }: ListTextOptions,
): Row {
  const { header, summary, usage, modifiedMs, sizeBytes } = session;
  const { messageCount } = summary;
  return {
    indent: "  ".repeat(Math.min(depth, shownDepthMax) + 1),
    title: oneLine(titleOf(session), 400),
    facts: {
      age: ageText(nowMs - modifiedMs),
      messages: messageCount === undefined ? "" : countText(messageCount, "message"),
      size: sizeBytes === undefined ? "" : sizeText(sizeBytes),
      tokens: tokensText(usage),
      cost: spentText(usage, estimateOf),
      model: modelText(usage),
      agent: agentOf(session),
    },
    id: shownId(ids.get(header.id) ?? { text: header.id, units: header.id.length }),
    note: depth > 0 ? undefined : parentText(parent),
  };
}

/** Ids of other programs may be anything. */
function shownId({ text, units }: ShortId): ShortId {
  return { text: oneLine(text, idUnitsMax), units };
}

const idUnitsMax = 40;

function parentText(parent: GroupedSession["parent"]): string | undefined {
  if (parent === undefined) return undefined;
  const { reference, session } = parent;
  if (session !== undefined) return `fork of ${oneLine(titleOf(session), 400)}`;
  return `fork of ${oneLine(basename(reference), 400)}, which is not listed`;
}

function tokensText(usage: ListedUsage | undefined): string {
  const tokens = tokensOf(usage?.total);
  return tokens === 0 ? "" : countText(tokens, "token");
}

/** A partly estimated sum is an estimate. */
function spentText(usage: ListedUsage | undefined, estimateOf: Estimator | undefined): string {
  const stored = usage?.total.cost ?? 0;
  if (estimateOf === undefined || usage === undefined) return costText(stored, "");
  const { cost = 0, estimated, unknown } = estimateOf(usage);
  if (cost === 0) return "";
  const text = estimated > 0 ? estimateText(cost) : costText(stored, "");
  return `${unknown.length > 0 ? "≥ " : ""}${text}`;
}

function modelText(usage: ListedUsage | undefined): string {
  const [model, ...others] = usage?.models ?? [];
  if (model === undefined) return "";
  return `${oneLine(model, 30)}${others.length > 0 ? ` +${others.length}` : ""}`;
}

function rowText(
  { indent, title, facts, id, note }: Row,
  layout: Layout,
  { style, columns }: ListTextOptions,
): string {
  const room = Math.max(1, layout.title - indent.length);
  const cells = layout.facts.map(({ name, width }) => padded(facts[name], width));
  const start = `${indent}${padded(fitted(title, room), room)}  ${style.faint(cells.join("  "))}`;
  const line = `${start}  ${idText(id, style)}`;
  if (note === undefined) return `${line}\n`;
  return `${line}\n${style.faint(fitted(`${indent}  ${note}`, columns))}\n`;
}

/** Like changes in jj: the part to type, and the rest. */
function idText({ text, units }: ShortId, style: Style): string {
  const rest = text.slice(units);
  return `${style.heading(text.slice(0, units))}${rest === "" ? "" : style.faint(rest)}`;
}

export function listRecords(groups: readonly SessionGroup[]): string {
  const records = groups.flatMap(({ cwd, sessions }) =>
    sessions.map(({ session }) => sessionRecord(session, cwd)),
  );
  return records.join("");
}
