/**
 * Output of commands for programs: one record per line, fields separated by tabs, nothing
 * shortened, times in ISO 8601, and an absent field empty. docs/cli.md names the fields of each
 * command. Pure.
 */
import type { ListedSession, SearchHit } from "@branchlog/library";
import type { AnyEntry } from "@branchlog/core/entries";
import { agentOf } from "../session-filter.ts";
import type { Counts, SessionInfo } from "../session-info.ts";
import { cleanText } from "./clean-text.ts";
import { gistOf } from "./entry-lines.ts";
import { isoTime, knownCost } from "./quantities.ts";
import { titleOf } from "./session-text.ts";
import type { SessionEventKind } from "./session-text.ts";
import { fieldOf, numberOf, stringOf } from "./stored-field.ts";

export type RecordField = string | number | null | undefined;

/** With its newline. */
export function recordLine(fields: readonly RecordField[]): string {
  return `${fields.map((field) => fieldText(field)).join("\t")}\n`;
}

/** Spaces are kept, for paths; white space with a tab or a line end in it becomes one. */
function fieldText(field: RecordField): string {
  if (typeof field !== "string") return field === null || field === undefined ? "" : String(field);
  if (/^[ -~]*$/.test(field)) return field;
  const whole = cleanText(field.replaceAll(/\r\n?/g, "\n"));
  return whole.replaceAll(/\s+/g, (run) => (/[\t\n\u2028\u2029]/u.test(run) ? " " : run));
}

/** `id, time, type, role, text`. */
export function entryRecord(entry: AnyEntry): string {
  const role = entry.type === "message" ? stringOf(entry.message, "role") : undefined;
  const { text } = gistOf(entry, Infinity);
  return recordLine([entry.id, isoTime(Date.parse(entry.timestamp)), entry.type, role, text]);
}

export interface TreeRecord {
  readonly id: string;
  readonly time: string | null;
  readonly type: string;
  readonly role: string | undefined;
  readonly parentId: string | null;
  readonly label: string | undefined;
  readonly isLeaf: boolean;
  /** Undefined if the body cannot be read. */
  readonly text: string | undefined;
}

/** `id, time, type, role, parent, label, "leaf" at the leaf, text`. */
export function treeRecord(node: TreeRecord): string {
  const { id, time, type, role, parentId, label, isLeaf, text } = node;
  return recordLine([id, time, type, role, parentId, label, isLeaf ? "leaf" : "", text]);
}

/** `id, time, kind, role, tool, path, text`. */
export function hitRecord(hit: SearchHit): string {
  const { entryId, timestamp, kind, role, tool, path, snippet } = hit;
  const time = isoTime(Date.parse(timestamp));
  return recordLine([entryId, time, kind, role, tool, path, snippet.text.trim()]);
}

/** `id, agent, time, messages, bytes, title, working directory, path`. */
export function sessionRecord(session: ListedSession, cwd: string): string {
  return recordLine(sessionFields(session, cwd));
}

/** What happened, and the fields of {@link sessionRecord}. */
export function changeRecord(kind: SessionEventKind, session: ListedSession): string {
  return recordLine([kind, ...sessionFields(session, session.header.cwd)]);
}

function sessionFields(session: ListedSession, cwd: string): readonly RecordField[] {
  const { header, modifiedMs, summary, sizeBytes, path } = session;
  const facts = [isoTime(modifiedMs), summary.messageCount, sizeBytes];
  return [header.id, agentOf(session), ...facts, titleOf(session), cwd, path];
}

/** `turn, time, passed, milliseconds, tokens, dollars, model, input, result, expected`. */
export function turnRecord(turn: object, place: number): string {
  const number = fieldOf(turn, "turn");
  const passed = fieldOf(turn, "passed");
  const text = (key: string): string | undefined => stringOf(turn, key)?.trim();
  return recordLine([
    typeof number === "number" ? number : place,
    // A document has local times without a zone.
    text("timestamp")?.replace(/^(\d{4}-\d\d-\d\d) /, "$1T"),
    typeof passed === "boolean" ? (passed ? "yes" : "no") : undefined,
    numberOf(turn, "duration_ms"),
    numberOf(turn, "tokens"),
    knownCost(numberOf(turn, "cost")),
    ...["model", "input", "result", "expected"].map((key) => text(key)),
  ]);
}

/** A line for each fact: its key and its value. Keys of branches and of divergences repeat. */
export function infoRecords(info: SessionInfo): string {
  const { header, model, usage } = info;
  const facts: readonly (readonly [string, RecordField])[] = [
    ["name", info.name],
    ["path", info.path],
    ["id", header.id],
    ["version", header.version],
    ["agent", info.agent],
    ["resume", info.resume],
    ["created", isoTime(Date.parse(header.created))],
    ["cwd", header.cwd],
    ["parent", header.parentSession],
    ["bytes", info.sizeBytes],
    ["entries", info.entries],
    ...countFacts("type", info.types),
    ...countFacts("role", info.roles),
    ...countFacts("customType", info.customTypes),
    ["leaf", info.leaf],
    ...info.tips.map(({ id }) => ["branch", id] as const),
    ...info.labels.map(({ targetId, label }) => [`label.${targetId}`, label] as const),
    ["model", model && `${model.provider}/${model.modelId}`],
    ["thinking", info.thinkingLevel],
    ["requests", usage?.requests ?? 0],
    ["input", usage?.input ?? 0],
    ["output", usage?.output ?? 0],
    ["cacheRead", usage?.cacheRead ?? 0],
    ["cacheWrite", usage?.cacheWrite ?? 0],
    ["cost", usage?.cost],
    ...info.findings.map(({ weight, kind, count }) => [`${weight}.${kind}`, count] as const),
    ...info.divergences.map(({ id }) => ["diverged", id] as const),
  ];
  return facts.map((fact) => recordLine(fact)).join("");
}

function countFacts(name: string, counts: Counts): (readonly [string, number])[] {
  return Object.entries(counts).map(([key, count]) => [`${name}.${key}`, count]);
}
