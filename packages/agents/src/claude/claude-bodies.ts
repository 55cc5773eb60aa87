/** Maps records of Claude Code's transcripts to entries, bodies included. Pure. */
import type { UserContent } from "@branchlog/core/entries";
import { withoutKeys } from "./claude-record.ts";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { answerKey, continuedKey, countedKey } from "@branchlog/core/rows";
import { countAt, objectAt, stringAt } from "@branchlog/core/rows";
import {
  answerParts,
  assistantParts,
  claudeStopReason,
  claudeText,
  claudeUsage,
  envelopeKeys,
  syntheticModel,
  userParts,
} from "./claude-content.ts";
import type { AnswerPart } from "./claude-content.ts";
import { userSpeech } from "./claude-prompts.ts";
import type { UserSpeech } from "./claude-prompts.ts";
import { promptText } from "./queued-prompts.ts";
import { noUsage, usageOfBoth, withPart } from "@branchlog/core/rows";
import type { AnswerUsage, SpentAnswer, TranscriptPlace } from "@branchlog/core/rows";

/**
 * Undefined if the record does not match that row.
 * @param replacedBy The model that took over the answer of the record later.
 */
export function claudeEntry(
  record: JsonObject,
  place: TranscriptPlace,
  replacedBy: string | undefined,
): JsonObject | undefined {
  const { id, parentId, timestamp } = place;
  // Without a uuid, the entry is known by its line.
  const uuid = stringAt(record, "uuid") ?? id.replace(/#.*$/s, "");
  if (id !== uuid && !id.startsWith(`${uuid}#`)) return undefined;
  const links = { id, parentId, timestamp };
  if (id === `${uuid}#task`) return { type: "reset_boundary", ...links };
  if (id.startsWith(`${uuid}${cutMark}`)) {
    const targetId = id.slice(uuid.length + cutMark.length);
    return { type: "context_edit", ...links, targetId, replacement: null };
  }
  switch (stringAt(record, "type")) {
    case "assistant":
      return answerEntry(record, place, links, replacedBy);
    default: {
      const speech = userSpeech(record);
      if (speech !== undefined) return userEntry(record, speech, place, links);
      return {
        type: "custom",
        customType: `claude.${stringAt(record, "type")}`,
        data: withoutKeys(record, envelopeKeys),
        ...links,
      };
    }
  }
}

/** Between the ids of a boundary and of an entry that its compaction does not keep. */
export const cutMark = "#cut:";

interface Links {
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
}

function userEntry(
  record: JsonObject,
  speech: UserSpeech,
  place: TranscriptPlace,
  links: Links,
): JsonObject | undefined {
  const message = objectAt(record, "message");
  if (record["isCompactSummary"] === true)
    return compactionOf(claudeText(message?.["content"]), place, links);
  const { parts, rest } = userParts(speech);
  const [, number] = /#(\d+)$/.exec(links.id) ?? [];
  const part = parts[number === undefined ? parts.length - 1 : Number(number)];
  if (part === undefined) {
    const data = withoutKeys(record, envelopeKeys);
    return { type: "custom", customType: "claude.user", data, ...links };
  }
  const timestamp = Date.parse(links.timestamp);
  const results = parts.filter(({ kind }) => kind === "result").length;
  const besides = number === undefined ? unformedOf(record, rest, results) : {};
  if (part.kind === "result") {
    const { callId, content, isError } = part;
    const toolName = toolNameOf(callId, place);
    const details = results === 1 ? record["toolUseResult"] : undefined;
    const given = details === undefined ? {} : { details };
    const result = { role: "toolResult", toolCallId: callId, toolName, content, ...given };
    return stored({
      type: "message",
      ...links,
      message: { ...result, isError, timestamp },
      ...besides,
    });
  }
  const { kind, content } = part;
  if (kind !== "typed") {
    const shown = { customType: `claude.${kind}`, content, display: kind === "injected" };
    return stored({ type: "custom_message", ...shown, ...links, ...besides });
  }
  const images = imagesLeft(record, content, place);
  if (images !== undefined) {
    const shown = { customType: "claude.image", content: images, display: true };
    return stored({ type: "custom_message", ...shown, ...links, ...besides });
  }
  const said = { role: "user", content, timestamp };
  return stored({ type: "message", ...links, message: said, ...besides });
}

/** The rest of a prompt whose text is in the record that removed it from the queue. */
function imagesLeft(
  record: JsonObject,
  content: string | readonly UserContent[],
  place: TranscriptPlace,
): readonly UserContent[] | undefined {
  if (stringAt(record, "type") !== "attachment" || typeof content === "string") return undefined;
  const text = promptText(userSpeech(record));
  for (const above of place.above()) {
    if (stringAt(above, "type") !== "queue-operation") return undefined;
    if (promptText(userSpeech(above)) === text)
      return content.filter(({ type }) => type !== "text");
  }
  return undefined;
}

/**
 * Blocks without an equivalent in a message, such as images by URL, at the last entry of their
 * record.
 */
function unformedOf(record: JsonObject, rest: readonly JsonValue[], results: number): object {
  const toolUseResult = results === 1 ? undefined : record["toolUseResult"];
  if (rest.length === 0 && toolUseResult === undefined) return {};
  return {
    "claude.blocks": { blocks: rest, ...(toolUseResult === undefined ? {} : { toolUseResult }) },
  };
}

function compactionOf(summary: string, place: TranscriptPlace, links: Links): JsonObject {
  const [boundary] = place.above();
  const details = objectAt(boundary, "compactMetadata");
  const [head] = preservedIds(details);
  return {
    type: "compaction",
    ...links,
    summary,
    // Its own id: nothing is kept.
    firstKeptEntryId: head ?? links.id,
    tokensBefore: countAt(details, "preTokens"),
    ...(details === undefined ? {} : { details }),
  };
}

/** Those that a compaction keeps, the first one first; of a segment, its ends. */
export function preservedIds(details: JsonObject | undefined): readonly string[] {
  const messages = objectAt(details, "preservedMessages");
  const segment = objectAt(details, "preservedSegment");
  const ids = messages?.["uuids"] ?? [segment?.["headUuid"], segment?.["tailUuid"]];
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

function toolNameOf(callId: string, place: TranscriptPlace): string {
  for (const record of place.above()) {
    for (const block of assistantParts(objectAt(record, "message")).content) {
      if (block.type === "toolCall" && block.id === callId) return block.name;
    }
  }
  return "unknown";
}

function answerEntry(
  record: JsonObject,
  place: TranscriptPlace,
  links: Links,
  replacedBy: string | undefined,
): JsonObject | undefined {
  const { parts } = answerParts(objectAt(record, "message"));
  const [, number] = /#(\d+)$/.exec(links.id) ?? [];
  const part = parts[number === undefined ? parts.length - 1 : Number(number)];
  if (part === undefined) return undefined;
  if (part.kind === "answer") {
    const isLast = number === undefined;
    return { type: "message", ...links, ...answerOf(record, place, part, isLast, replacedBy) };
  }
  const { callId, content, isError, details } = part;
  const result = { toolCallId: callId, toolName: toolNameOf(callId, place), content, details };
  const timestamp = Date.parse(links.timestamp);
  const message = { role: "toolResult", ...result, isError, timestamp };
  return stored({ type: "message", ...links, message });
}

/** The usage of the entry of an answer, if it has no other record. */
export function claudeSpent(record: JsonObject, id: string): SpentAnswer {
  const message = objectAt(record, "message");
  const model = stringAt(message, "model") || syntheticModel;
  // The last part of a record has its usage.
  return { provider, model, usage: id.includes("#") ? noUsage : claudeUsage(message) };
}

const provider = "anthropic";

/**
 * The part of an answer in one record. The last part of the record has its addition to the usage;
 * nothing if another model took over the answer later.
 */
function answerOf(
  record: JsonObject,
  place: TranscriptPlace,
  { content }: Extract<AnswerPart, { readonly kind: "answer" }>,
  isLast: boolean,
  replacedBy: string | undefined,
): JsonObject {
  const message = objectAt(record, "message");
  const answerId = stringAt(message, "id");
  const own = stringAt(message, "model") || syntheticModel;
  const linesAbove: AnswerUsage[] = [];
  let model = replacedBy ?? own;
  for (const above of place.above()) {
    const other = objectAt(above, "message");
    if (stringAt(above, "type") !== "assistant" || isSameRecord(above, record)) continue;
    const modelAbove = stringAt(other, "model") || syntheticModel;
    if (answerId !== undefined && stringAt(other, "id") === answerId) {
      linesAbove.push({ model: modelAbove, usage: claudeUsage(other) });
    } else if (model !== syntheticModel) break;
    if (model === syntheticModel) model = modelAbove;
  }
  const line = { model: own, usage: claudeUsage(message) };
  const before = linesAbove.reduceRight<AnswerUsage | undefined>(withPart, undefined);
  const spent = withPart(before, line);
  const isContinued = spent !== line;
  const added = usageOfBoth(spent.usage, (isContinued && before?.usage) || noUsage, minus);
  const isError = record["isApiErrorMessage"] === true;
  const said = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const error = said.join("\n") || (stringAt(record, "error") ?? "");
  return stored({
    message: {
      role: "assistant",
      content,
      api: "anthropic-messages",
      provider,
      model,
      usage: isLast && replacedBy === undefined ? added : noUsage,
      stopReason: isError ? "error" : claudeStopReason(stringAt(message, "stop_reason"), content),
      timestamp: Date.parse(place.timestamp),
      ...(isError ? { errorMessage: error } : {}),
    },
    ...(answerId === undefined ? {} : { [answerKey]: answerId }),
    ...(stringAt(record, "requestId") === undefined ? { [countedKey]: speakerOf(record) } : {}),
    ...(isContinued ? { [continuedKey]: true } : {}),
  });
}

/** Whose answers a record is among: those of a session, or of a subagent in it. */
function speakerOf(record: JsonObject): string {
  return `${stringAt(record, "sessionId") ?? ""}.${stringAt(record, "agentId") ?? ""}`;
}

function isSameRecord(one: JsonObject, other: JsonObject): boolean {
  const uuid = stringAt(one, "uuid");
  return uuid !== undefined && uuid === stringAt(other, "uuid");
}

function minus(one: number, other: number): number {
  return one - other;
}

function stored(entry: object): JsonObject {
  // Decoding boundary: made of JSON values only.
  return entry as JsonObject;
}
