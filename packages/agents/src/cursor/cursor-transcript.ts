/**
 * Transcripts of Cursor in place: messages without ids, each below the one before, without results
 * of tools, models and tokens. See docs/agents.md, "Cursor". No I/O.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import type { AssistantContent, UserContent } from "@branchlog/core/entries";
import { dateMs, noUsage, objectAt, stringAt } from "@branchlog/core/rows";
import type {
  SavedFields,
  SpentAnswer,
  Transcript,
  TranscriptPlace,
  TranscriptRow,
} from "@branchlog/core/rows";
import { answerBlock, spokenBlock } from "../anthropic-content.ts";
import { answerBody, spokenBody } from "../entry-bodies.ts";
import type { Body } from "../entry-bodies.ts";
import { mappedContent, textsOf, withoutEmptyText } from "../foreign-content.ts";
import { entryAt, restoreState, savedState, sessionHeader } from "../transcript-entries.ts";
import { transcriptId } from "../transcript-id.ts";

/** Facts that only the path of a transcript has. */
interface CursorPlace {
  readonly fileName: string;
  /** Whose subagent it is. */
  readonly caller: string | undefined;
  /** Empty if it is not known. */
  readonly directory: string;
}

/** The directory of transcripts in a project. */
export const transcriptsName = "agent-transcripts";
export const provider = "cursor";
/** Transcripts do not name it. */
const model = "unknown";

/** None of the fields of similar records may be present. */
const foreignKeys = ["id", "uuid", "sessionId", "timestamp", "parentId"] as const;

/** Messages have a role and nothing else. */
export function isCursorRecord(record: JsonObject): boolean {
  if (roleOf(record) === undefined || (stringAt(record, "type") ?? "") !== "") return false;
  const content = objectAt(record, "message")?.["content"];
  if (!Array.isArray(content) && typeof content !== "string") return false;
  // A chat has its content in place of the message, which is presumed where a line is torn.
  return !("content" in record) && foreignKeys.every((key) => typeof record[key] !== "string");
}

function roleOf(record: JsonObject): "user" | "assistant" | undefined {
  const role = stringAt(record, "role");
  return role === "user" || role === "assistant" ? role : undefined;
}

export class CursorTranscript implements Transcript {
  header: SessionHeader | undefined;
  name: string | undefined;
  isSubagent: boolean;
  tailId: string | null = null;
  readonly repetition = undefined;
  readonly #place: CursorPlace;
  readonly #isEntry: (id: string) => boolean;
  timeMs = 0;

  constructor(place: CursorPlace, isEntry: (id: string) => boolean) {
    this.#place = place;
    this.#isEntry = isEntry;
    this.isSubagent = place.caller !== undefined;
  }

  add(record: JsonObject, line: number): readonly TranscriptRow[] {
    if (this.header === undefined && !isCursorRecord(record)) return [];
    const said = objectAt(record, "message")?.["content"];
    const timeMs = roleOf(record) === "user" ? promptTimeMs(said) : undefined;
    this.header ??= this.#headerOf(timeMs);
    this.timeMs = timeMs ?? this.timeMs;
    const id = `line:${line}`;
    if (bodyOf(record, id, this.timeMs) === undefined || this.#isEntry(id)) return [];
    const parentId = this.tailId;
    this.tailId = id;
    const role = roleOf(record);
    const kind = role === undefined ? noteOf(record) : ({ type: "message", role } as const);
    return [{ id, parentId, timeMs: this.timeMs, ...kind }];
  }

  save(): object {
    return savedState(this);
  }

  restore(saved: SavedFields): void {
    restoreState(this, saved);
  }

  spentBy(): SpentAnswer {
    return { provider, model, usage: noUsage };
  }

  entryOf(record: JsonObject, place: TranscriptPlace): JsonObject | undefined {
    return entryAt(place, bodyOf(record, place.id, Date.parse(place.timestamp)));
  }

  #headerOf(timeMs: number | undefined): SessionHeader {
    const { fileName, caller, directory: cwd } = this.#place;
    const id = transcriptId(undefined, fileName);
    return sessionHeader({ id, timeMs, cwd, parentSession: caller });
  }
}

function noteOf(record: JsonObject): { readonly type: "custom"; readonly customType: string } {
  const type = stringAt(record, "type") ?? "";
  return { type: "custom", customType: `cursor.${type.slice(0, 60)}` };
}

function bodyOf(record: JsonObject, id: string, timestamp: number): Body | undefined {
  const role = roleOf(record);
  const stored = objectAt(record, "message")?.["content"];
  if (role === "user") {
    const content = promptIn(stored);
    if (content.length === 0) return undefined;
    return spokenBody(content, timestamp);
  }
  if (role === "assistant") {
    const mapped = mappedContent(stored, (block) => saidBlock(block, id, stored));
    const { content } = withoutEmptyText(mapped);
    if (content.length === 0) return undefined;
    return answerBody(content, { api: "cursor", provider, model, usage: noUsage, timestamp });
  }
  const type = stringAt(record, "type") ?? "";
  const isPassed = type === "turn_ended" && stringAt(record, "status") === "success";
  if (type === "" || isPassed) return undefined;
  return { ...noteOf(record), data: record };
}

/** The typed text, or all of the content if no typed text is marked. */
export function promptIn(stored: JsonValue | undefined): UserContent[] {
  const blocks = typeof stored === "string" ? [{ type: "text", text: stored }] : stored;
  return withoutEmptyText(mappedContent(blocks, promptBlock)).content;
}

/** Without the markup that Cursor puts around typed text. */
function promptBlock(block: JsonObject): UserContent | undefined {
  const spoken = spokenBlock(block);
  if (spoken?.type !== "text") return spoken;
  const [, typed] = /<user_query>\s*([^]*?)\s*(?:<\/user_query>|$)/u.exec(spoken.text) ?? [];
  return { ...spoken, text: typed ?? spoken.text.replace(timeElement, "").trim() };
}

/** Calls have no ids. */
function saidBlock(
  block: JsonObject,
  id: string,
  all: JsonObject[string] | undefined,
): AssistantContent | undefined {
  const number = Array.isArray(all) ? all.indexOf(block) : 0;
  const said = answerBlock({ ...block, id: stringAt(block, "id") ?? `${id}:${number}` });
  // Where thoughts were removed.
  return said?.type === "text"
    ? { ...said, text: said.text.replace(/\s*\[REDACTED\]\s*$/u, "") }
    : said;
}

const timeElement = /<timestamp>\s*([^<]*?)\s*<\/timestamp>/u;
/** As `Tuesday, Jul 21, 2026, 1:11 PM (UTC+3)`. */
const timeForm = /([A-Z]\w+ \d+, \d{4}), (\d+:\d\d [AP]M) \(UTC(?:([+-])(\d+)(?::(\d\d))?)?\)$/u;

/** Of the minute in which it was sent; undefined for older ones, which lack it. */
export function promptTimeMs(content: JsonValue | undefined): number | undefined {
  for (const text of textsOf(content)) {
    const [, said = ""] = timeElement.exec(text) ?? [];
    const found = timeForm.exec(said.replaceAll(/\s/gu, " "));
    if (found === null) continue;
    const [, date = "", time = "", sign, hours = 0, minutes = 0] = found;
    const offsetMinutes = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -1 : 1);
    return dateMs(Date.parse(`${date} ${time} UTC`) - offsetMinutes * 60_000);
  }
  return undefined;
}
