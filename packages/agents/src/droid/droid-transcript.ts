/**
 * Sessions of Droid in place: messages of Anthropic's API, each with the id of the one before. See
 * docs/agents.md, "Droid". No I/O.
 */
import type { JsonObject } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import { normalizeName } from "@branchlog/core/entries";
import type { AssistantContent, UserContent } from "@branchlog/core/entries";
import {
  countAt,
  isObject,
  listAt,
  noUsage,
  objectAt,
  stringAt,
  timeText,
} from "@branchlog/core/rows";
import type {
  SavedFields,
  SpentAnswer,
  Transcript,
  TranscriptPlace,
  TranscriptRow,
} from "@branchlog/core/rows";
import { answerBlock, spokenBlock } from "../anthropic-content.ts";
import { answerBody, injectedBody, resultBody, spokenBody } from "../entry-bodies.ts";
import type { Body } from "../entry-bodies.ts";
import { mappedContent, withoutEmptyText } from "../foreign-content.ts";
import {
  entryAt,
  foundAbove,
  isRowOf,
  restoreState,
  rowsOf,
  savedState,
  sessionHeader,
  timeMsOf,
} from "../transcript-entries.ts";
import type { RowFacts } from "../transcript-entries.ts";
import { transcriptId } from "../transcript-id.ts";

const provider = "factory";

/** Records that repeat others, or outside the conversation. */
const passedTypes: ReadonlySet<string> = new Set(["agent_turn_outcome", "session_end"]);

/** The first record of a file: messages look like those of pi. */
export function isDroidRecord(record: JsonObject): boolean {
  if (stringAt(record, "type") !== "session_start" || typeof record["id"] !== "string")
    return false;
  return stringAt(record, "title") !== undefined && "owner" in record;
}

function isMessage(record: JsonObject): boolean {
  return stringAt(record, "type") === "message";
}

export class DroidTranscript implements Transcript {
  header: SessionHeader | undefined;
  name: string | undefined;
  isSubagent = false;
  tailId: string | null = null;
  repetition: string | undefined;
  readonly #fileName: string;
  readonly #isEntry: (id: string) => boolean;
  #model = "";
  timeMs = 0;

  constructor(fileName: string, isEntry: (id: string) => boolean) {
    this.#fileName = fileName;
    this.#isEntry = isEntry;
  }

  add(record: JsonObject, line: number): readonly TranscriptRow[] {
    this.repetition = undefined;
    if (stringAt(record, "type") === "session_start") {
      this.header ??= this.#headerOf(record);
      return [];
    }
    // Data before the first record belongs to no session.
    if (this.header === undefined) return [];
    const facts = factsOf(record);
    const timeMs = timeMsOf(record);
    if (timeMs !== undefined) this.#learnTime(timeMs);
    if (facts.length === 0) return [];
    const id = stringAt(record, "id") ?? `line:${line}`;
    if (this.#isEntry(id)) {
      this.repetition = `repeats the id ${id}`;
      return [];
    }
    this.#model = modelOf(record) ?? this.#model;
    const parentId = this.#parentOf(record);
    this.tailId = id;
    return rowsOf(facts, { id, parentId, timeMs: this.timeMs });
  }

  save(): object {
    return { ...savedState(this), model: this.#model };
  }

  restore(saved: SavedFields): void {
    restoreState(this, saved);
    this.#model = saved.text("model");
  }

  /** Droid keeps tokens of whole sessions, next to them. */
  spentBy(record: JsonObject): SpentAnswer {
    return { provider, model: modelOf(record) ?? this.#model, usage: noUsage };
  }

  entryOf(record: JsonObject, place: TranscriptPlace): JsonObject | undefined {
    const own = stringAt(record, "id");
    const isOwn = own === undefined ? place.id.startsWith("line:") : isRowOf(place.id, own);
    return entryAt(place, isOwn ? bodyOf(record, place) : undefined);
  }

  #headerOf(record: JsonObject): SessionHeader {
    const caller = stringAt(record, "callingSessionId");
    this.isSubagent = caller !== undefined;
    if (record["isSessionTitleManuallySet"] === true) {
      this.name = normalizeName(stringAt(record, "title") ?? "") || undefined;
    }
    return sessionHeader({
      id: transcriptId(stringAt(record, "id"), this.#fileName),
      timeMs: this.timeMs,
      cwd: stringAt(record, "cwd") ?? "",
      parentSession: caller ?? stringAt(record, "parent"),
    });
  }

  /** The first record has no time: it is that of the first message. */
  #learnTime(timeMs: number): void {
    if (this.timeMs === 0 && this.header !== undefined) {
      this.header = { ...this.header, timestamp: timeText(timeMs) };
    }
    this.timeMs = timeMs;
  }

  /** Records without one are below the one before. */
  #parentOf(record: JsonObject): string | null {
    const parent = stringAt(record, "parentId");
    return parent !== undefined && this.#isEntry(parent) ? parent : this.tailId;
  }
}

function factsOf(record: JsonObject): readonly RowFacts[] {
  const type = stringAt(record, "type") ?? "";
  if (type === "compaction_state") return [{ type: "compaction" }];
  if (isMessage(record)) {
    return partsOf(record).map(({ kind }) => partFacts[kind]);
  }
  return type === "" || passedTypes.has(type) ? [] : [{ type: "custom", customType: noteOf(type) }];
}

const partFacts: Readonly<Record<Part["kind"], RowFacts>> = {
  answer: { type: "message", role: "assistant" },
  result: { type: "message", role: "toolResult" },
  typed: { type: "message", role: "user" },
  injected: { type: "custom_message", customType: "droid.injected" },
};

function noteOf(type: string): string {
  return `droid.${type.slice(0, 60)}`;
}

type Part =
  | { readonly kind: "answer"; readonly content: readonly AssistantContent[] }
  | { readonly kind: "typed" | "injected"; readonly content: readonly UserContent[] }
  | { readonly kind: "result"; readonly block: JsonObject };

/** The parts that become an entry each: results, and texts. */
function partsOf(record: JsonObject): readonly Part[] {
  const message = objectAt(record, "message");
  const content = message?.["content"];
  if (stringAt(message, "role") === "assistant") {
    const { content: said } = withoutEmptyText(mappedContent(content, answerBlock));
    return said.length === 0 ? [] : [{ kind: "answer", content: said }];
  }
  const results = listAt(message ?? {}, "content")
    .filter(isObject)
    .filter(isResult);
  const { content: all } = withoutEmptyText(mappedContent(content, spokenBlock));
  const said = all.filter((block) => block.type !== "text" || !isReminder(block.text));
  const isTyped = said.length > 0 && stringAt(message, "visibility") !== "llm_only";
  const spoken = isTyped ? said : all;
  const kind = isTyped ? "typed" : "injected";
  const parts: Part[] = results.map((block) => ({ kind: "result", block }));
  return spoken.length === 0 ? parts : [...parts, { kind, content: spoken }];
}

function isResult(block: JsonObject): boolean {
  return stringAt(block, "type") === "tool_result" && typeof block["tool_use_id"] === "string";
}

function isReminder(text: string): boolean {
  return /^\s*<system-reminder>[^]*<\/system-reminder>\s*$/u.test(text);
}

function modelOf(record: JsonObject): string | undefined {
  return stringAt(objectAt(record, "message"), "modelId") ?? stringAt(record, "modelId");
}

function bodyOf(record: JsonObject, place: TranscriptPlace): Body | undefined {
  const type = stringAt(record, "type") ?? "";
  if (type === "compaction_state") return compactionOf(record, place);
  if (!isMessage(record)) return { type: "custom", customType: noteOf(type), data: record };
  const parts = partsOf(record);
  const [, number] = /#(\d+)$/.exec(place.id) ?? [];
  const isLast = place.id === stringAt(record, "id") || number === undefined;
  const part = isLast ? parts.at(-1) : parts[Number(number)];
  if (part === undefined) return undefined;
  const timestamp = Date.parse(place.timestamp);
  switch (part.kind) {
    case "answer": {
      const model = modelOf(record) ?? foundAbove(place, modelOf) ?? "";
      const stated = { api: "anthropic-messages", provider, model, usage: noUsage };
      return answerBody(part.content, { ...stated, timestamp });
    }
    case "result": {
      const { block } = part;
      const callId = stringAt(block, "tool_use_id") ?? "";
      const { content } = mappedContent(block["content"], spokenBlock);
      const isError = block["is_error"] === true;
      const result = { toolCallId: callId, toolName: toolAbove(callId, place), content, isError };
      return resultBody(result, timestamp);
    }
    case "typed":
      return spokenBody(part.content, timestamp);
    case "injected":
      return injectedBody("droid.injected", part.content);
  }
}

function toolAbove(callId: string, place: TranscriptPlace): string {
  const called = foundAbove(place, (record) => {
    const blocks = listAt(objectAt(record, "message"), "content").filter(isObject);
    return blocks.find((block) => block["id"] === callId);
  });
  return stringAt(called, "name") ?? "unknown";
}

/** Entries after its anchor are kept; without one, none. */
function compactionOf(record: JsonObject, place: TranscriptPlace): Body {
  const { summaryText: _summary, systemInfo: _system, systemInfoText: _text, ...details } = record;
  return {
    type: "compaction",
    summary: stringAt(record, "summaryText") ?? "",
    firstKeptEntryId: keptAbove(stringAt(objectAt(record, "anchorMessage"), "id"), place),
    tokensBefore: countAt(record, "summaryTokens"),
    details,
  };
}

function keptAbove(anchorId: string | undefined, { id, above }: TranscriptPlace): string {
  let kept = id;
  if (anchorId === undefined) return kept;
  for (const record of above()) {
    const own = stringAt(record, "id");
    if (own === anchorId) return kept;
    if (own !== undefined) kept = partsOf(record).length > 1 ? `${own}#0` : own;
  }
  return id;
}
