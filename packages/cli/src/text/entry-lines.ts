/**
 * An entry on one line: its kind and as much of its text as fits. Pure, total; reads no more of a
 * body than that.
 */
import type { SearchHit } from "@branchlog/library";
import { entryParts, messageParts } from "@branchlog/core/entries";
import type { AnyEntry, EntryPart } from "@branchlog/core/entries";
import type { Paint, Style } from "../style.ts";
import { cleanText, oneLine } from "./clean-text.ts";
import { numberText, whenText } from "./quantities.ts";
import { fieldOf, jsonStart, numberOf, stringOf } from "./stored-field.ts";

export interface Gist {
  /** `user`, `assistant`, `compaction`, … */
  readonly kind: string;
  readonly text: string;
}

/** Text of at most `unitsMax` UTF-16 units. */
export function gistOf(entry: AnyEntry, unitsMax: number): Gist {
  const { kind, text } = rawGist(entry, unitsMax);
  return { kind: oneLine(kind, 40), text: oneLine(text, unitsMax) };
}

export function paintOf(kind: string, style: Style): Paint {
  switch (kind) {
    case "user":
      return style.user;
    case "assistant":
      return style.assistant;
    case "compaction":
    case "branch summary":
      return style.heading;
    case "tool result":
    case "shell":
      return style.tool;
    default:
      return style.faint;
  }
}

function rawGist(entry: AnyEntry, unitsMax: number): Gist {
  const text = (key: string): string => stringOf(entry, key) ?? "";
  switch (entry.type) {
    case "message":
      return messageGist(fieldOf(entry, "message"), unitsMax);
    case "compaction":
      return { kind: "compaction", text: text("summary") };
    case "branch_summary":
      return { kind: "branch summary", text: text("summary") };
    case "model_change":
      return { kind: "model", text: modelText(entry) };
    case "thinking_level_change":
      return { kind: "thinking", text: levelText(entry) };
    case "session_info":
      return { kind: "name", text: text("name") || "(cleared)" };
    case "title_change":
      return { kind: "name", text: text("title") || "(cleared)" };
    case "label":
      return { kind: "label", text: `${text("label") || "(cleared)"} on ${text("targetId")}` };
    case "custom":
      return { kind: "custom", text: `${text("customType")} ${json(entry, "data", unitsMax)}` };
    case "custom_message":
      return {
        kind: text("customType") || "custom",
        text: partsText(entryParts(entry)?.parts ?? [], unitsMax),
      };
    case "usage":
      return { kind: "usage", text: usageText(entry) };
    case "context_edit":
      return { kind: "context edit", text: editText(entry) };
    default:
      return { kind: entry.type, text: fieldsText(entry, unitsMax) };
  }
}

/** Its text may be longer, of several lines and unclean. */
export function messageGist(message: unknown, unitsMax: number): Gist {
  const { speaker, parts } = messageParts(message);
  const { role, tool = "", customType, isError } = speaker;
  const text = partsText(parts, unitsMax);
  switch (role) {
    case undefined:
      return { kind: "message", text: "(malformed)" };
    case "assistant":
      return { kind: role, text };
    case "toolResult":
      return { kind: "tool result", text: `${tool}${isError ? " failed" : ""}: ${text}` };
    case "bashExecution":
      return { kind: "shell", text };
    case "custom":
      return { kind: customType ?? role, text };
    default:
      return { kind: role, text };
  }
}

/** If there is no text, the called tools, other parts, the error, or the thinking. */
function partsText(parts: readonly EntryPart[], unitsMax: number): string {
  for (const gist of [spokenGist, otherGist, errorGist, thoughtGist]) {
    let text = "";
    for (const part of parts) {
      if (text.length > unitsMax) break;
      const more = gist(part, unitsMax);
      if (more !== undefined) text += `${text === "" ? "" : " "}${more}`;
    }
    if (text !== "") return text;
  }
  return "";
}

function spokenGist(part: EntryPart, unitsMax: number): string | undefined {
  // One more than fits, so that the cut is marked.
  return part.kind === "text" ? part.text.trimStart().slice(0, unitsMax * 5) : undefined;
}

function otherGist(part: EntryPart, unitsMax: number): string | undefined {
  switch (part.kind) {
    case "call": {
      const { tool = "?", arguments: given } = part;
      return `→ ${tool} ${given === undefined ? "" : jsonStart(given, unitsMax)}`;
    }
    case "image":
      return `(image ${part.mimeType})`;
    case "shell":
      return `$ ${part.command}`;
    default:
      return undefined;
  }
}

function errorGist(part: EntryPart): string | undefined {
  return part.kind === "error" ? part.text : undefined;
}

function thoughtGist(part: EntryPart, unitsMax: number): string | undefined {
  if (part.kind !== "thinking" || part.text === "") return undefined;
  return `(thinking) ${part.text.trimStart().slice(0, unitsMax * 5)}`;
}

function json(value: unknown, key: string, unitsMax: number): string {
  const field = fieldOf(value, key);
  return field === undefined ? "" : jsonStart(field, unitsMax);
}

/** omp stores null where thinking is off. */
function levelText(entry: unknown): string {
  const isOff = fieldOf(entry, "thinkingLevel") === null;
  return isOff ? "off" : (stringOf(entry, "thinkingLevel") ?? "");
}

/** pi stores provider and id apart, omp both in one field, with the role of the model. */
function modelText(entry: unknown): string {
  const [model, role] = [stringOf(entry, "model"), stringOf(entry, "role")];
  const name = model ?? `${stringOf(entry, "provider") ?? ""}/${stringOf(entry, "modelId") ?? ""}`;
  return role === undefined || role === "default" ? name : `${name} for ${role}`;
}

function usageText(entry: unknown): string {
  const tokens = numberText(numberOf(fieldOf(entry, "usage"), "totalTokens"));
  return `${stringOf(entry, "kind") ?? ""} ${stringOf(entry, "model") ?? ""} ${tokens} tokens`;
}

function editText(entry: unknown): string {
  const verb = fieldOf(entry, "replacement") === null ? "hides" : "changes";
  return `${verb} ${stringOf(entry, "targetId") ?? ""}`;
}

function fieldsText(entry: AnyEntry, unitsMax: number): string {
  const { type: _type, id: _id, parentId: _parentId, timestamp: _timestamp, ...fields } = entry;
  return Object.keys(fields).length === 0 ? "" : jsonStart(fields, unitsMax);
}

export interface EntryPlace {
  readonly columns: number;
  readonly style: Style;
  /** On a terminal: times are shown as ages. */
  readonly nowMs: number | undefined;
}

/** With its newline: id, time, kind, text. */
export function entryLine(entry: AnyEntry, { columns, style, nowMs }: EntryPlace): string {
  const id = oneLine(entry.id, 40).padEnd(8);
  const time = whenText(Date.parse(entry.timestamp), nowMs);
  const taken = id.length + time.length + 6;
  const { kind, text } = gistOf(entry, Math.max(textUnitsMin, columns - taken - kindUnits));
  return `${id}  ${style.faint(time)}  ${paintOf(kind, style)(kind)}  ${text}`
    .trimEnd()
    .concat("\n");
}

const textUnitsMin = 20;
const kindUnits = 14;

/** With its newline: the text around the match, which is marked. */
export function hitLine(
  { entryId, kind, role, timestamp, snippet }: SearchHit,
  { columns, style, nowMs }: EntryPlace,
): string {
  // Roles are stored texts.
  const source = oneLine(role ?? kind, 30);
  const time = whenText(Date.parse(timestamp), nowMs);
  const id = oneLine(entryId, 40).padEnd(8);
  const unitsMax = Math.max(textUnitsMin, columns - id.length - time.length - source.length - 8);
  const { text, matchStart, matchEnd } = snippet;
  const match = text.slice(matchStart, matchEnd);
  const before = text.slice(0, matchStart);
  // If the line is too long, its beginning is cut first, so that the match stays visible.
  const half = Math.max(0, Math.floor((unitsMax - match.length) / 2));
  const start = lastUnits(before, Math.min(before.length, half));
  const end = oneLine(text.slice(matchEnd), Math.max(1, unitsMax - start.length - match.length));
  const found = style.label(oneLine(match, unitsMax));
  const shown = `${start}${found}${spaceAfter(text, matchEnd)}${end}`;
  return `${id}  ${style.faint(time)}  ${source}  ${shown}`.trimEnd().concat("\n");
}

/** A search hit with full lines around the match, below a line with its position. */
export function hitText(
  { entryId, kind, role, timestamp, snippet }: SearchHit,
  { style, nowMs }: Omit<EntryPlace, "columns">,
): string {
  const { text, matchStart, matchEnd } = snippet;
  const match = style.label(cleanText(text.slice(matchStart, matchEnd)));
  const shown = `${cleanText(text.slice(0, matchStart))}${match}${cleanText(text.slice(matchEnd))}`;
  const where = [
    oneLine(entryId, 40),
    style.faint(whenText(Date.parse(timestamp), nowMs).trimEnd()),
  ];
  return `${where.join("  ")}  ${oneLine(role ?? kind, 30)}\n${shown.replaceAll(/^/gmu, "    ")}\n`;
}

function lastUnits(text: string, unitsMax: number): string {
  const cut = text.length > unitsMax;
  const piece = cut ? text.slice(text.length - Math.max(0, unitsMax - 1)) : text;
  const line = oneLine(piece, Math.max(1, unitsMax));
  const space = /\s$/u.test(piece) && line !== "" ? " " : "";
  return `${cut ? "…" : ""}${line}${space}`;
}

function spaceAfter(text: string, at: number): string {
  return /^\s/u.test(text.slice(at)) ? " " : "";
}
