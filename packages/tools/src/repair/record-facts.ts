/** Classifies records, and reads the remains of damaged ones: id, parent, header fields. */
import { lineEdgeBytes, lineKind } from "@branchlog/streaming";
import type { DecodedLine, JsonObject } from "@branchlog/streaming";
import { isLinked, isObject, readRecord, sourceType, titleSlotType } from "@branchlog/core/rows";
import type { EntryForm } from "@branchlog/core/rows";
import type { SetAsideReason } from "./repair-plan.ts";

export type RecordKind = "header" | "entry" | "other";

/** Version 1 has no extensions. */
const legacyTypes: ReadonlySet<string> = new Set([
  "message",
  "thinking_level_change",
  "model_change",
  "compaction",
]);

/** Stricter than reading, to exclude objects inside of records. */
export function recordKind(value: JsonObject, form: EntryForm | undefined): RecordKind {
  const record = readRecord(value, form ?? 1);
  if (record.kind !== "entry") return record.kind === "header" ? "header" : "other";
  if (form !== 1 && isLinked(value)) return "entry";
  const { id, timestamp } = value;
  const isLegacy =
    id === undefined && typeof timestamp === "string" && record.type !== titleSlotType;
  // Without a header, only known types count: other logs have lines with a type and a time, too.
  const isKnown = form === 1 || (form === undefined && legacyTypes.has(record.type));
  return isLegacy && isKnown ? "entry" : "other";
}

export function linksOf(value: JsonObject): {
  readonly id: string | null;
  readonly parentId: string | null;
} {
  const { id, parentId } = value;
  return {
    id: typeof id === "string" ? id : null,
    parentId: typeof parentId === "string" ? parentId : null,
  };
}

export function sourceCwd({ customType, data }: JsonObject): string | undefined {
  if (customType !== sourceType) return undefined;
  const cwd = isObject(data) ? data["cwd"] : undefined;
  return typeof cwd === "string" && cwd !== "" ? cwd : undefined;
}

/** Its place in the tree is known. */
export interface LostEntry {
  readonly id: string;
  readonly parentId: string | null;
  /** As stored; null if unreadable. */
  readonly timestamp: string | null;
}

const text = String.raw`"(?:[^"\\]|\\.)*"`;
const stamp = String.raw`(?:, ?"timestamp": ?(${text}))?`;
const links = String.raw`"id": ?(${text}), ?"parentId": ?(null|${text})${stamp}`;
const headForm = new RegExp(String.raw`^\s*\{ ?"type": ?(${text}), ?${links}`);
const tailForm = new RegExp(String.raw`, ?${links}(?:, ?"firstKeptEntryId": ?${text})? ?\}\s*$`);

export interface Edges {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** Null unless its envelope is whole at either end. */
export function lostEntry({ head, tail }: Edges): LostEntry | null {
  const atHead = headForm.exec(head.toString("utf8", 0, lineEdgeBytes));
  if (atHead !== null) {
    const [, type, ...found] = atHead;
    return stringOf(type) === "session" ? null : entryOf(found);
  }
  const atTail = tailForm.exec(tail.toString("utf8", Math.max(0, tail.length - lineEdgeBytes)));
  return atTail === null ? null : entryOf(atTail.slice(1));
}

function entryOf([id, parent, time]: readonly (string | undefined)[]): LostEntry | null {
  const [ownId, parentId] = [stringOf(id), parent === "null" ? null : stringOf(parent)];
  if (ownId === undefined || parentId === undefined) return null;
  return { id: ownId, parentId, timestamp: stringOf(time) ?? null };
}

/** Why these bytes are not a record. Linear. */
export function reasonOf(decoded: DecodedLine, bytes: () => Iterable<Buffer>): SetAsideReason {
  const kind = lineKind(decoded, bytes);
  // A whole object that was rejected is a part of its surroundings.
  return kind === "record" || kind === "blank" || kind === "too-long" ? "not-json" : kind;
}

export interface HeaderFacts {
  readonly version?: number;
  readonly id?: string;
  readonly timestamp?: string;
  readonly cwd?: string;
  readonly parentSession?: string;
}

const keysOfHeader = ["id", "timestamp", "cwd", "parentSession"] as const;

/** Null if nothing shows that the bytes were a header. */
export function lostHeader(head: Buffer): HeaderFacts | null {
  const said = head.toString("utf8", 0, lineEdgeBytes);
  if (!/^\s*\{ ?"type": ?"session"|"cwd": ?"/.test(said)) return null;
  const facts: Record<string, string | number> = {};
  const version = /"version": ?(\d{1,3})\b/.exec(said)?.[1];
  if (version !== undefined) facts["version"] = Number(version);
  for (const key of keysOfHeader) {
    const value = stringOf(new RegExp(`"${key}": ?(${text})`).exec(said)?.[1]);
    if (value !== undefined) facts[key] = value;
  }
  return facts;
}

function stringOf(json: string | undefined): string | undefined {
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
