/**
 * Turns a draft into the bytes of a line, in two steps: all the work that depends on its size comes
 * first, id and parent are spliced in under the lock. The bytes are those of `JSON.stringify` for
 * pi's object with pi's key order. The caller's code (toJSON, getters, proxies) runs only in
 * {@link encodeDraft}; what it throws becomes `ERR_UNSERIALIZABLE`.
 */
import type { JsonObject } from "@branchlog/streaming";
import { invalidArgument } from "../argument-checks.ts";
import { BranchlogError } from "../errors.ts";
import type { AnyDraft } from "./entry-draft.ts";
import { divergenceKey } from "./divergence.ts";
import { isKnownEntryType } from "./entry-types.ts";
import type { SessionEntry, SessionHeader } from "./entry-types.ts";
import { referencesOf } from "./references.ts";
import type { Reference } from "./references.ts";

/**
 * `JSON.stringify(fields)`: the text of one JSON object.
 *
 * @param what Names the object in the error.
 * @throws `ERR_UNSERIALIZABLE` for a cycle, a BigInt, a throwing toJSON or getter, nesting too deep
 * for the stack, a text over V8's string limit; the cause says which.
 */
export function objectText(fields: Readonly<Record<string, unknown>>, what: string): string {
  // JSON.stringify may give anything, also undefined, if all objects were given a toJSON.
  const text: string | undefined = guardEncoding(what, () => JSON.stringify(fields));
  if (text?.startsWith("{")) return text;
  throw new BranchlogError("ERR_UNSERIALIZABLE", `${what} is not written as an object`);
}

const plainText = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** `JSON.stringify(text)`, faster for short texts with nothing to escape, such as ids. */
function stringText(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/**
 * The result of `encode`, which may run code of the caller or outgrow what V8 can hold.
 *
 * @throws `ERR_UNSERIALIZABLE` with what was thrown as its cause; nothing else, whatever it was.
 */
export function guardEncoding<T>(what: string, encode: () => T): T {
  try {
    return encode();
  } catch (cause) {
    const message = `${what} cannot be written as JSON${reasonOf(cause)}`;
    throw new BranchlogError("ERR_UNSERIALIZABLE", message, { cause });
  }
}

function reasonOf(cause: unknown): string {
  try {
    return cause instanceof Error ? `: ${cause.message}` : "";
  } catch {
    // A thrown proxy, or a message getter that throws: the cause itself is still handed on.
    return "";
  }
}

// The fields of a caller's object in the order in which they are written.

/**
 * A copy of the fields of `record`: first those named, whether it has them or not, then its other
 * own ones, save `omitted`. Runs getters of the caller.
 */
function orderedFields(
  record: object,
  first: readonly string[],
  omitted?: string,
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const key of first) fields[key] = Reflect.get(record, key);
  for (const key of Object.keys(record)) {
    if (key === omitted || Object.hasOwn(fields, key)) continue;
    const value: unknown = Reflect.get(record, key);
    // A method has no JSON form; as a field of the copy this one would be called.
    if (key === "toJSON" && typeof value === "function") continue;
    if (key === "__proto__") defineOwn(fields, key, value);
    else fields[key] = value;
  }
  return fields;
}

/** Assigning `__proto__` would set the prototype, and the field would be lost. */
function defineOwn(fields: object, key: string, value: unknown): void {
  const traits = { value, enumerable: true, configurable: true, writable: true };
  Object.defineProperty(fields, key, traits);
}

/** A draft as bytes that wait for an id and a parent. */
export interface EncodedDraft {
  readonly type: string;
  /** The role of a message that has one; undefined for every other type. */
  readonly role: string | undefined;
  /** What the content of a message is; undefined without one, and for every other type. */
  readonly content: ContentForm | undefined;
  /** The line up to the key `id`, a comma included. */
  readonly before: Buffer;
  /** The line from the comma behind the value of `parentId`, without its newline. */
  readonly after: Buffer;
  /** Where in `after` the entry's own id belongs once more, as a JSON string; -1: nowhere. */
  readonly ownIdAt: number;
  /** As given; its text is part of `after`. */
  readonly timestamp: string;
  readonly references: readonly Reference[];
}

/** What content is, whatever is in it. */
export type ContentForm = "a text" | "a list" | "another value";

/** What a draft says, apart from its envelope. */
export interface DraftFields {
  readonly type: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Puts what a draft says into other words. Pure: it sees copies of the caller's fields. */
export type DraftTranslation = (draft: DraftFields) => DraftFields;

/** The keys behind the envelope, in the order of pi, those of omp in its order among them. */
const payloadKeys: { readonly [T in SessionEntry["type"]]: readonly string[] } = {
  message: ["message"],
  thinking_level_change: ["thinkingLevel", "configured"],
  model_change: ["provider", "modelId", "model", "role", "resolvedModelIsFallback"],
  compaction: [
    "summary",
    "shortSummary",
    "firstKeptEntryId",
    "tokensBefore",
    "tokensAfter",
    "method",
    "providerReplayThroughEntryId",
    "details",
    "usage",
    "fromHook",
    "fromExtension",
    "preserveData",
    "systemMessage",
  ],
  branch_summary: ["fromId", "summary", "details", "usage", "fromHook", "fromExtension"],
  custom: ["customType", "data"],
  custom_message: ["customType", "content", "display", "details", "attribution"],
  label: ["targetId", "label"],
  session_info: ["name"],
  usage: ["kind", "provider", "model", "usage", "note"],
  context_edit: ["targetId", "replacement"],
};

/**
 * Encodes everything but id and parent. Fields unknown to pi follow its own, in their order.
 *
 * @param timestamp ISO 8601 with milliseconds, as it is to be stored.
 * @param translate Translates the draft to the dialect of the log.
 * @throws `ERR_UNSERIALIZABLE` with the cause (cycle, BigInt, a throwing toJSON or getter, too deep
 * or too long, a message that is not an object), `ERR_INVALID_ARGUMENT` for a draft that is not an
 * object, has no type, has the type `session`, or has an id, parentId or timestamp. Nothing else.
 */
export function encodeDraft(
  draft: AnyDraft,
  timestamp: string,
  translate?: DraftTranslation,
): EncodedDraft {
  if (typeof timestamp !== "string") throw invalidArgument("The timestamp must be a string");
  const { type, payload } = translated(readDraft(draft), translate);
  const references = referencesOf(type, payload);
  const ownId = type === "compaction" && payload["firstKeptEntryId"] === null;
  const left = ownId ? takeUpToOwnId(payload) : "";
  const right = membersText(payload);
  const { role, content } = type === "message" ? messageIn(right) : nothing;
  return guardEncoding(`The ${type} entry`, () => {
    const stamp = `,"timestamp":${stringText(timestamp)}`;
    const behind = right === "" ? "" : `,${right}`;
    const payloadFirst = type === "custom" || type === "custom_message";
    const before =
      payloadFirst && right !== "" ? Buffer.from(`${opening(type)}${right},`) : openingBytes(type);
    const after = Buffer.from(payloadFirst ? `${stamp}}` : `${stamp}${left}${behind}}`);
    const ownIdAt = ownId ? Buffer.byteLength(`${stamp}${left}`) : -1;
    return { type, role, content, before, after, ownIdAt, timestamp, references };
  });
}

/**
 * One whole line, newline included. Copies bytes; costs nothing that depends on the draft's shape.
 *
 * @param divergedFrom The value of the mark of a diverged entry; undefined: no mark.
 * @throws `ERR_INVALID_ARGUMENT` if an id is not a string: the line would not be JSON.
 */
export function spliceDraft(
  encoded: EncodedDraft,
  id: string,
  parentId: string | null,
  divergedFrom?: string,
): Buffer {
  if (typeof id !== "string" || (parentId !== null && typeof parentId !== "string")) {
    throw invalidArgument("An id must be a string, a parent id a string or null");
  }
  const ownId = stringText(id);
  const links = `"id":${ownId},"parentId":${parentId === null ? "null" : stringText(parentId)}`;
  const { before, after, ownIdAt } = encoded;
  const again = ownIdAt < 0 ? 0 : Buffer.byteLength(ownId);
  const mark = divergedFrom === undefined ? "" : divergenceMark(divergedFrom);
  const own = before.length + Buffer.byteLength(links) + after.length + again;
  // The mark begins in the place of the closing brace, and ends with it.
  const length = own + Math.max(0, Buffer.byteLength(mark) - 1) + 1;
  const line = Buffer.allocUnsafe(length);
  let at = before.copy(line);
  at += line.write(links, at);
  if (ownIdAt >= 0) {
    at += after.copy(line, at, 0, ownIdAt);
    at += line.write(ownId, at);
  }
  at += after.copy(line, at, Math.max(ownIdAt, 0));
  if (mark !== "") at += line.write(mark, at - 1) - 1;
  line[at] = 0x0a;
  return line;
}

function divergenceMark(tailId: string): string {
  return `,${stringText(divergenceKey)}:${stringText(tailId)}}`;
}

/**
 * The entry as a reader of the log will see it: a snapshot that shares nothing with the draft. An
 * entry of an unknown type comes under the same type as in pi; see `isKnownEntry`.
 *
 * @throws As {@link encodeDraft} and {@link spliceDraft}.
 */
export function entryFromDraft(
  draft: AnyDraft,
  id: string,
  parentId: string | null,
  timestamp: string,
): SessionEntry {
  const line = spliceDraft(encodeDraft(draft, timestamp), id, parentId);
  // Decoding boundary: the line was made from a draft, whose fields are those of its entry.
  return guardEncoding("The entry", () => JSON.parse(line.toString()) as SessionEntry);
}

interface DraftParts {
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

function readDraft(draft: AnyDraft): DraftParts {
  if (typeof draft !== "object" || draft === null)
    throw invalidArgument("A draft must be an object");
  const type = guardEncoding("The draft", (): unknown => draft.type);
  if (typeof type !== "string" || type === "") throw invalidArgument("A draft needs a type");
  if (type === "session") throw invalidArgument("A header cannot be appended");
  const read = (): Record<string, unknown> => orderedFields(draft, keysOf(type), "type");
  const payload = guardEncoding(`The ${type} entry`, read);
  for (const key of ["id", "parentId", "timestamp"]) {
    if (payload[key] !== undefined)
      throw invalidArgument(`A draft has no ${key}; the log gives it one`);
  }
  return { type, payload };
}

function translated(parts: DraftParts, translate: DraftTranslation | undefined): DraftParts {
  if (translate === undefined) return parts;
  const { type, fields } = translate({ type: parts.type, fields: parts.payload });
  if (fields === parts.payload) return parts;
  return { type, payload: orderedFields(fields, keysOf(type)) };
}

function keysOf(type: string): readonly string[] {
  return isKnownEntryType(type) ? payloadKeys[type] : [];
}

function opening(type: string): string {
  return `{"type":${stringText(type)},`;
}

/** The openings of known types: every line of a type begins with the same bytes. */
const openings: ReadonlyMap<string, Buffer> = new Map(
  Object.keys(payloadKeys).map((type) => [type, Buffer.from(opening(type))]),
);

function openingBytes(type: string): Buffer {
  return openings.get(type) ?? Buffer.from(opening(type));
}

/** `"a":1,"b":2`, without braces; empty if there is nothing to write. */
function membersText(payload: Record<string, unknown>): string {
  return objectText(payload, "The entry").slice(1, -1);
}

/** Takes the members up to the own id out of the payload; the text ends with the key it goes to. */
function takeUpToOwnId(payload: Record<string, unknown>): string {
  const { summary: text, shortSummary } = payload;
  const summary = membersText({ summary: text, shortSummary });
  delete payload["summary"];
  delete payload["shortSummary"];
  delete payload["firstKeptEntryId"];
  return `${summary === "" ? "" : ","}${summary},"firstKeptEntryId":`;
}

type MessageForm = Pick<EncodedDraft, "role" | "content">;

const nothing: MessageForm = { role: undefined, content: undefined };

/** A role, members of plain values, and the first character of the content. */
const messageForm =
  /^"message":\{"role":"([^"\\]*)"(?:,"(?!content")[^"\\]*":(?:"[^"\\]*"|[-\w.+]+))*,"content":(.)/;

/** Reads the form from the text, as toJSON may have changed what the object says. */
function messageIn(members: string): MessageForm {
  const found = messageForm.exec(members);
  if (found !== null) return { role: found[1], content: formOf(found[2]) };
  // Decoding boundary: `members` is JSON text that we have just made.
  const message = (JSON.parse(`{${members}}`) as JsonObject)["message"];
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    throw new BranchlogError("ERR_UNSERIALIZABLE", "A message must be written as an object");
  }
  const { role, content } = message;
  return {
    role: typeof role === "string" ? role : undefined,
    content: content === undefined ? undefined : formOf(JSON.stringify(content)[0]),
  };
}

/** @param first The first character of a JSON value. */
function formOf(first: string | undefined): ContentForm {
  if (first === '"') return "a text";
  return first === "[" ? "a list" : "another value";
}

// Makes the header line of a session file, byte for byte as pi writes it. Pure.

const headerKeys = ["type", "version", "id", "timestamp", "cwd", "title", "parentSession"];

/**
 * The header as one line with its newline: pi's keys in pi's order, then all others in theirs. Keys
 * that are undefined are left out.
 *
 * @throws `ERR_INVALID_ARGUMENT` if readers would not take it for a header (type, id),
 * `ERR_UNSERIALIZABLE` if a value has no JSON form.
 */
export function encodeHeader(header: SessionHeader): Buffer {
  const fields = guardEncoding("The header", () => orderedFields(header, headerKeys));
  if (fields["type"] !== "session" || typeof fields["id"] !== "string") {
    const message = 'A header needs the type "session" and an id that is a string';
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
  }
  return Buffer.from(`${objectText(fields, "The header")}\n`);
}
