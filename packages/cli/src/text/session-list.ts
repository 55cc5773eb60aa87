/**
 * The list of sessions: for people in aligned columns below the working directories, with ages and
 * as much of each id as names it; for programs a record each. Pure.
 */
import { basename } from "node:path";
import type { ListedTranscript, GroupedSession, SessionGroup } from "@branchlog/library";
import { agentOf } from "../session-filter.ts";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { displayWidth, fitted, padded } from "./display-width.ts";
import { ageText, countText, sizeText } from "./quantities.ts";
import { sessionRecord } from "./records.ts";
import { titleOf } from "./session-text.ts";

export interface ListTextOptions {
  readonly nowMs: number;
  readonly columns: number;
  readonly style: Style;
  /** How much of each id tells it from the others. */
  readonly prefixes: ReadonlyMap<string, number>;
}

interface Row {
  readonly indent: string;
  readonly title: string;
  readonly facts: readonly string[];
  readonly id: string;
  /** How much of the id tells it from the others. */
  readonly idUnits: number;
  /** A line below it. */
  readonly note: string | undefined;
}

const titleColumnsMin = 16;
const shownDepthMax = 8;
/** Sizes, tokens and models are left out of narrower terminals. */
const wideColumns = 100;
/** The number of messages is left out of narrower ones, and then the agent. */
const usualColumns = 72;
const narrowColumns = 56;
const idUnitsMin = 8;

/** Every group, with an empty line between two; each line with its newline. */
export function listText(groups: readonly SessionGroup[], options: ListTextOptions): string {
  const tables = groups.map((group) => ({ group, rows: rowsOf(group, options) }));
  const all = tables.flatMap(({ rows }) => rows);
  const widths = [0, 1, 2, 3, 4, 5].map((at) =>
    largest(all.map(({ facts }) => displayWidth(facts[at] ?? ""))),
  );
  const facts = widths.reduce((sum, width) => sum + (width === 0 ? 0 : width + 2), 0);
  const room = Math.max(0, options.columns - facts);
  const longest = largest(all.map(({ id }) => id.length));
  const id = Math.min(longest, Math.max(idUnitsMin, room - titleColumnsMin - 2));
  const titles = all.map(({ indent, title }) => indent.length + displayWidth(title));
  const titleRoom = Math.max(1, room - (id === 0 ? 0 : id + 2));
  const layout = { widths, id, title: Math.min(titleRoom, largest(titles)) };
  const text = ({ group, rows }: (typeof tables)[number]): string =>
    `${options.style.heading(fitted(headingOf(group), options.columns))}\n` +
    rows.map((row) => rowText(row, layout, options)).join("");
  return tables.map(text).join("\n");
}

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
  { nowMs, columns, prefixes }: ListTextOptions,
): Row {
  const { header, summary, transcript, modifiedMs, sizeBytes } = session;
  const isWide = columns >= wideColumns;
  const facts = [
    ageText(nowMs - modifiedMs),
    columns >= usualColumns ? countText(summary.messageCount, "message") : "",
    isWide ? sizeText(sizeBytes) : "",
    isWide ? tokensText(transcript) : "",
    isWide ? modelText(transcript) : "",
    columns >= narrowColumns ? agentOf(session) : "",
  ];
  const idUnits = prefixes.get(header.id) ?? header.id.length;
  return {
    indent: "  ".repeat(Math.min(depth, shownDepthMax) + 1),
    title: oneLine(titleOf(session), 400),
    facts,
    id: oneLine(header.id.slice(0, Math.max(idUnitsMin, idUnits)), 40),
    idUnits,
    note: depth > 0 ? undefined : parentText(parent),
  };
}

function parentText(parent: GroupedSession["parent"]): string | undefined {
  if (parent === undefined) return undefined;
  const { reference, session } = parent;
  if (session !== undefined) return `fork of ${oneLine(titleOf(session), 400)}`;
  return `fork of ${oneLine(basename(reference), 400)}, which is not listed`;
}

function tokensText(transcript: ListedTranscript | undefined): string {
  const { tokens = 0 } = transcript ?? {};
  return tokens === 0 ? "" : countText(tokens, "token");
}

function modelText(transcript: ListedTranscript | undefined): string {
  const [model, ...others] = transcript?.models ?? [];
  if (model === undefined) return "";
  return `${oneLine(model, 30)}${others.length > 0 ? ` +${others.length}` : ""}`;
}

function rowText(
  { indent, title, facts, id, idUnits, note }: Row,
  layout: { readonly widths: readonly number[]; readonly id: number; readonly title: number },
  { style, columns }: ListTextOptions,
): string {
  const room = Math.max(1, layout.title - indent.length);
  const cells = facts.flatMap((fact, at) => {
    const width = layout.widths[at] ?? 0;
    return width === 0 ? [] : [padded(fact, width)];
  });
  const start = `${indent}${padded(fitted(title, room), room)}  ${style.faint(cells.join("  "))}`;
  const line =
    id === "" ? start.trimEnd() : `${start}  ${idText(fitted(id, layout.id), idUnits, style)}`;
  if (note === undefined) return `${line}\n`;
  return `${line}\n${style.faint(fitted(`${indent}  ${note}`, columns))}\n`;
}

/** As jj shows changes: what has to be typed, and the rest. */
function idText(shown: string, units: number, style: Style): string {
  const rest = shown.slice(units);
  return `${style.heading(shown.slice(0, units))}${rest === "" ? "" : style.faint(rest)}`;
}

export function listRecords(groups: readonly SessionGroup[]): string {
  const records = groups.flatMap(({ cwd, sessions }) =>
    sessions.map(({ session }) => sessionRecord(session, cwd)),
  );
  return records.join("");
}
