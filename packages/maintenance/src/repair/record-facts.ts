/**
 * The form of a record of a session, and what can still be read of one that is damaged: which
 * entry it was, its parent, what a header said. Pure. Nothing here is trusted beyond its
 * form: what was read of damage may itself be damaged.
 */
import { lineEdgeBytes, lineKind } from "@branchlog/streaming";
import type { DecodedLine, JsonObject } from "@branchlog/streaming";
import {
  isLinked,
  isObject,
  readRecord,
  sourceType,
  titleSlotType,
} from "@branchlog/core/internal";
import type { EntryForm } from "@branchlog/core/internal";
import type { SetAsideReason } from "./repair-plan.ts";

/** What a record is by its form. */
export type RecordKind = "header" | "entry" | "other";

/** What version 1 has: it knows no extensions. */
const legacyTypes: ReadonlySet<string> = new Set([
  "message",
  "thinking_level_change",
  "model_change",
  "compaction",
]);

/**
 * The kind of a record in a log of that form; without one, an entry of any form is an entry.
 * Stricter than reading, since it has to tell records from objects inside of records.
 */
export function recordKind(value: JsonObject, form: EntryForm | undefined): RecordKind {
  const record = readRecord(value, form ?? 1);
  if (record.kind !== "entry") return record.kind === "header" ? "header" : "other";
  if (form !== 1 && isLinked(value)) return "entry";
  const { id, timestamp } = value;
  const isLegacy =
    id === undefined && typeof timestamp === "string" && record.type !== titleSlotType;
  // Logs of all kinds have lines with a type and a time: without a header, only known types count.
  const isKnown = form === 1 || (form === undefined && legacyTypes.has(record.type));
  return isLegacy && isKnown ? "entry" : "other";
}

/** The id of a record and that of its parent, where it has them. */
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

/** The working directory of an imported session, in the entry that says where it is from. */
export function sourceCwd({ customType, data }: JsonObject): string | undefined {
  if (customType !== sourceType) return undefined;
  const cwd = isObject(data) ? data["cwd"] : undefined;
  return typeof cwd === "string" && cwd !== "" ? cwd : undefined;
}

/** An entry whose record is damaged, but not its place in the tree. */
export interface LostEntry {
  readonly id: string;
  readonly parentId: string | null;
  /** As stored; null if it could not be read. */
  readonly timestamp: string | null;
}

const text = String.raw`"(?:[^"\\]|\\.)*"`;
const stamp = String.raw`(?:, ?"timestamp": ?(${text}))?`;
const links = String.raw`"id": ?(${text}), ?"parentId": ?(null|${text})${stamp}`;
const headForm = new RegExp(String.raw`^\s*\{ ?"type": ?(${text}), ?${links}`);
const tailForm = new RegExp(String.raw`, ?${links}(?:, ?"firstKeptEntryId": ?${text})? ?\}\s*$`);

/** Bytes by their ends: more of each than an envelope takes, and perhaps all of them. */
export interface Edges {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** The entry that these bytes were, if its envelope is whole at one of their ends. */
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

/** Why bytes that were decoded are no record of the log. Linear. */
export function reasonOf(decoded: DecodedLine, bytes: () => Iterable<Buffer>): SetAsideReason {
  const kind = lineKind(decoded, bytes);
  // A whole object that is no record is taken for a part of its surroundings.
  return kind === "record" || kind === "blank" || kind === "too-long" ? "not-json" : kind;
}

/** What a header said, as far as it can be read. */
export interface HeaderFacts {
  readonly version?: number;
  readonly id?: string;
  readonly timestamp?: string;
  readonly cwd?: string;
  readonly parentSession?: string;
}

const keysOfHeader = ["id", "timestamp", "cwd", "parentSession"] as const;

/** What these bytes say if they were a header; null if nothing shows that they were. */
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

/** The value of a JSON string; undefined if it is none. */
function stringOf(json: string | undefined): string | undefined {
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
