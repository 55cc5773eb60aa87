/**
 * Encodes drafts in two steps: everything that depends on size first, then id and parent under the
 * lock. The bytes are those of `JSON.stringify` in pi's key order. Code of the caller (toJSON,
 * getters, proxies) runs only in {@link encodeDraft}; what it throws becomes `ERR_UNSERIALIZABLE`.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { invalidArgument } from "../argument-checks.ts";
import { BranchlogError } from "../errors.ts";
import type { AnyDraft, ContentForm, DraftTranslation, EncodedDraft } from "./entry-draft.ts";
import { divergenceKey } from "./divergence.ts";
import { isKnownEntryType } from "./entry-types.ts";
import { plainObjectCopy } from "./plain-copy.ts";
import type { SessionEntry, SessionHeader } from "./entry-types.ts";
import { referencesOf } from "./references.ts";

/**
 * `JSON.stringify(fields)` of an object.
 * @param what Names the object in the error.
 * @throws `ERR_UNSERIALIZABLE` with the cause: a cycle, a BigInt, a throwing toJSON or getter,
 * nesting too deep, a text too long for V8.
 */
export function objectText(fields: Readonly<Record<string, unknown>>, what: string): string {
  // A toJSON on Object.prototype can make the result anything, also undefined.
  const text: string | undefined = guardEncoding(what, () => JSON.stringify(fields));
  if (text?.startsWith("{")) return text;
  throw new BranchlogError("ERR_UNSERIALIZABLE", `${what} does not serialize to an object`);
}

const plainText = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Like `JSON.stringify`, faster for short texts without escapes, such as ids. */
function stringText(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/**
 * Runs code of the caller.
 * @throws `ERR_UNSERIALIZABLE` with whatever was thrown as its cause; nothing else.
 */
function guardEncoding<T>(what: string, encode: () => T): T {
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
    // A thrown proxy, or a throwing message getter: the cause is still passed on.
    return "";
  }
}

/**
 * Copies a record: the named fields first, present or not, then its other own fields, except
 * `omitted`. Runs getters of the caller.
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
    // A method has no JSON form, but would be called as a field of the copy.
    if (key === "toJSON" && typeof value === "function") continue;
    if (key === "__proto__") defineOwn(fields, key, value);
    else fields[key] = value;
  }
  return fields;
}

/** Assigning `__proto__` would set the prototype and lose the field. */
function defineOwn(fields: object, key: string, value: unknown): void {
  const traits = { value, enumerable: true, configurable: true, writable: true };
  Object.defineProperty(fields, key, traits);
}

/** The keys after the envelope, in pi's order, with those of omp in its order. */
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
 * Encodes everything but id and parent. Unknown fields follow in their order.
 * @param timestamp ISO 8601 with milliseconds, as stored.
 * @param translate Translates to the dialect of the log.
 * @throws `ERR_UNSERIALIZABLE` as {@link objectText}, or for a message that is not an object;
 * `ERR_INVALID_ARGUMENT` for a draft that is not an object, has no type or the type `session`, or
 * has an id, parentId or timestamp. Nothing else.
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
  const copy = ownId
    ? undefined
    : guardEncoding(`The ${type} entry`, () => plainObjectCopy(payload));
  const left = ownId ? takeUpToOwnId(payload) : "";
  // Of the copy, so that both say the same whatever a getter returns the second time.
  const right = membersText(copy ?? payload);
  const { role, content } = type === "message" ? messageIn(copy ?? parsed(right)) : nothing;
  return guardEncoding(`The ${type} entry`, () => {
    const stamp = `,"timestamp":${stringText(timestamp)}`;
    const behind = right === "" ? "" : `,${right}`;
    const payloadFirst = isPayloadFirst(type);
    const before =
      payloadFirst && right !== ""
        ? Buffer.from(`${opening(type)}${right},`)
        : (openings.get(type) ?? Buffer.from(opening(type)));
    const after = Buffer.from(payloadFirst ? `${stamp}}` : `${stamp}${left}${behind}}`);
    const ownIdAt = ownId ? Buffer.byteLength(`${stamp}${left}`) : -1;
    return { type, role, content, before, after, ownIdAt, timestamp, references, copy };
  });
}

/**
 * One line, newline included. Only copies bytes.
 * @param divergedFrom Value of the mark of a diverged entry.
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
  const mark =
    divergedFrom === undefined ? "" : `,${stringText(divergenceKey)}:${stringText(divergedFrom)}}`;
  const own = before.length + Buffer.byteLength(links) + after.length + again;
  // The mark replaces the closing brace, and ends with one.
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

/** What decoding the line of {@link spliceDraft} returns, without decoding it, if that is known. */
export function splicedEntry(
  { type, timestamp, copy }: EncodedDraft,
  id: string,
  parentId: string | null,
): SessionEntry | undefined {
  if (copy === undefined) return undefined;
  const entry: JsonObject = isPayloadFirst(type)
    ? { type, ...copy, id, parentId, timestamp }
    : { type, id, parentId, timestamp, ...copy };
  // Decoding boundary: the fields of a draft are those of its entry.
  return entry as unknown as SessionEntry;
}

/** As pi writes the entries of extensions. */
function isPayloadFirst(type: string): boolean {
  return type === "custom" || type === "custom_message";
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
      throw invalidArgument(`A draft must not have a ${key}; the log assigns it`);
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

/** Lines of a known type begin with the same bytes. */
const openings: ReadonlyMap<string, Buffer> = new Map(
  Object.keys(payloadKeys).map((type) => [type, Buffer.from(opening(type))]),
);

/** `"a":1,"b":2`, without braces; may be empty. */
function membersText(payload: Record<string, unknown>): string {
  return objectText(payload, "The entry").slice(1, -1);
}

/** Removes the members before the own id from the payload; the text ends with the key of the id. */
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

/** From the text, as toJSON may have changed the object. */
function parsed(members: string): JsonObject {
  // Decoding boundary: `members` is JSON text that we have just made.
  return JSON.parse(`{${members}}`) as JsonObject;
}

function messageIn({ message }: JsonObject): MessageForm {
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    throw new BranchlogError("ERR_UNSERIALIZABLE", "A message must serialize to an object");
  }
  const { role, content } = message;
  return { role: typeof role === "string" ? role : undefined, content: formOf(content) };
}

function formOf(content: JsonValue | undefined): ContentForm | undefined {
  if (content === undefined) return undefined;
  if (typeof content === "string") return "a string";
  return Array.isArray(content) ? "an array" : "another value";
}

const headerKeys = ["type", "version", "id", "timestamp", "cwd", "title", "parentSession"];

/**
 * One line with its newline, byte for byte as pi writes it: pi's keys first. Undefined keys are
 * omitted.
 * @throws `ERR_INVALID_ARGUMENT` if readers would not accept it as a header (type, id);
 * `ERR_UNSERIALIZABLE` if a value has no JSON form.
 */
export function encodeHeader(header: SessionHeader): Buffer {
  const fields = guardEncoding("The header", () => orderedFields(header, headerKeys));
  if (fields["type"] !== "session" || typeof fields["id"] !== "string") {
    const message = 'A header needs the type "session" and a string id';
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
  }
  return Buffer.from(`${objectText(fields, "The header")}\n`);
}
