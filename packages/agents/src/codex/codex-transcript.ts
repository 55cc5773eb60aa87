/**
 * Codex's rollouts in place. Items have no ids: an entry is known by its line, and is below the one
 * before it, or where a rollback went. See docs/formats.md, "In place". No I/O.
 */
import type { UserContent } from "@branchlog/core/entries";
import type { JsonObject } from "@branchlog/streaming";
import { answerKey } from "@branchlog/core/rows";
import { normalizeName } from "@branchlog/core/entries";
import { countAt, objectAt, stringAt } from "@branchlog/core/rows";
import type { SessionHeader } from "@branchlog/core";
import { SavedFields, noUsage, partType, savedText } from "@branchlog/core/rows";
import {
  assistantBlocks,
  calledBy,
  codexUsage,
  contentOf,
  environmentCwd,
  isContext,
  isCopiedItem,
  shellRun,
  splitRequest,
  toolOutput,
} from "./codex-items.ts";
import { codexBody, contextType, levelOf, lineId } from "./codex-bodies.ts";
import { CodexHistory } from "./codex-history.ts";
import { rolloutName } from "./rollout-parts.ts";
import { codexRecord } from "./codex-record.ts";
import { textsOf } from "../foreign-content.ts";
import { currentVersion } from "@branchlog/core/rows";
import { TurnTexts } from "./turn-texts.ts";
import type { Voice } from "./turn-texts.ts";
import { savedHeader, timeText } from "@branchlog/core/rows";
import { transcriptId } from "../transcript-id.ts";
import type { SpentAnswer, Transcript, TranscriptPlace, TranscriptRow } from "@branchlog/core/rows";

/** Internal state, and texts that are also written as items. */
const passedEvents: ReadonlySet<string> = new Set([
  "agent_reasoning",
  "agent_reasoning_raw_content",
  "agent_reasoning_section_break",
  "context_compacted",
  "task_complete",
  "task_started",
  "turn_aborted",
  "turn_complete",
  "turn_started",
]);

/** A turn begins, or has ended. */
const turnBounds: ReadonlySet<string> = new Set([
  "task_complete",
  "task_started",
  "turn_aborted",
  "turn_complete",
  "turn_started",
]);

/** Of a script in which Codex calls other tools. */
const scriptTool = "exec";

/** A fork repeats records of its origin at once; no model answers so fast. */
const repeatedWithinMs = 1000;

/** Bounds the calls that wait for their end. */
const recentMax = 512;

/** The beginnings of turns on a path, the last one first: paths share those before a rollback. */
interface TurnStart {
  readonly ordinal: number;
  readonly parentId: string | null;
  readonly before: TurnStart | undefined;
}

interface FileEnd {
  readonly tailId: string | null;
  readonly lastStart: TurnStart | undefined;
}

function savedStarts(last: TurnStart | undefined): object[] {
  const saved: object[] = [];
  for (let start = last; start !== undefined; start = start.before) {
    saved.push({ ordinal: start.ordinal, parentId: start.parentId });
  }
  return saved.toReversed();
}

function readStarts(saved: SavedFields): TurnStart | undefined {
  let last: TurnStart | undefined;
  for (const value of saved.list("starts", Infinity, (one) => one)) {
    const start = new SavedFields(value);
    const [ordinal, parentId] = [start.finite("ordinal"), start.nullableText("parentId")];
    last = { ordinal, parentId, before: last };
  }
  return last;
}

type RowFacts = Omit<TranscriptRow, "id" | "parentId" | "timeMs">;

export class CodexTranscript implements Transcript {
  header: SessionHeader | undefined;
  isSubagent = false;
  repetition: string | undefined;
  #hasMeta = false;
  /** Whether only files of other sessions were read. */
  #isHeadless = false;
  #ordinal = -1;
  name: string | undefined;
  tailId: string | null = null;
  readonly #fileName: string;
  readonly #history = new CodexHistory();
  /** The answer that the next block may belong to; over once its usage was written. */
  #answer: { isOver: boolean } | undefined;
  /** Of the last turn on the path. */
  #lastStart: TurnStart | undefined;
  /** Where the files of the session ended, by their ids, and the one that is read. */
  readonly #ends = new Map<string, FileEnd>();
  #file = "";
  readonly #calls = new Set<string>();
  /** Texts of the turn, by the event that repeats them. */
  #said = new Set<string>();
  readonly #texts = new TurnTexts();
  /** Calls of scripts, whose own calls are completed items only. */
  readonly #scripts = new Set<string>();
  #counted = "";
  #tokens = 0;
  /** Records before it, by their numbers and times, are a copy of another session's. */
  #ownSince: { readonly ordinal: number; readonly timeMs: number } = { ordinal: 0, timeMs: 0 };
  #isCopied = false;
  /** The session itself, while its records may repeat those of its origin. */
  #repeating: string | undefined;
  /** Represents the missing part of the history that the session continues. */
  #missing: string | null = null;
  /** Whether the file is another session's, which this one continues. */
  #isInherited = false;
  #timeMs = 0;
  #startMs: number | undefined;
  #line = 0;

  constructor(fileName: string) {
    this.#fileName = fileName;
  }

  add(record: JsonObject, line: number): readonly TranscriptRow[] {
    this.#line = line;
    if (record["type"] === partType) return this.#beginFile(record);
    this.#continue(record);
    const ordinal = record["ordinal"];
    const isRepeated = typeof ordinal === "number" && ordinal <= this.#ordinal;
    this.repetition = isRepeated ? `repeats the ordinal ${ordinal}` : undefined;
    if (typeof ordinal === "number") this.#ordinal = Math.max(ordinal, this.#ordinal);
    const timeMs = Date.parse(stringAt(record, "timestamp") ?? "");
    if (!Number.isNaN(timeMs)) {
      this.#startMs ??= timeMs;
      if (timeMs - this.#timeMs >= repeatedWithinMs) this.#endRepetition();
      this.#timeMs = timeMs;
    }
    const numbered = typeof ordinal === "number" && ordinal < this.#ownSince.ordinal;
    const isOfOther = numbered || this.#timeMs < this.#ownSince.timeMs;
    this.#isCopied = this.#isInherited || isOfOther;
    const known = codexRecord(record);
    // Without its first record, a rollout is known by its name.
    if (known !== undefined) this.header ??= this.#headerOf({});
    const facts = known === undefined ? [] : this.#factsOf(known.type, known.payload);
    const rows: TranscriptRow[] = [];
    for (const [at, fact] of facts.entries()) {
      const id = at === facts.length - 1 ? lineId(line) : `${lineId(line)}#${at}`;
      rows.push({ id, parentId: this.tailId ?? this.#missing, timeMs: this.#timeMs, ...fact });
      this.tailId = id;
    }
    return rows;
  }

  /** A file of the session, or of one that it continues, begins after this record. */
  #beginFile(record: JsonObject): readonly TranscriptRow[] {
    const payload = objectAt(record, "payload");
    this.#endAnswer();
    this.#boundTurn();
    this.#ends.set(this.#file, { tailId: this.tailId, lastStart: this.#lastStart });
    this.#file = rolloutName(stringAt(payload, "file") ?? "")?.id ?? "";
    this.#isInherited = payload?.["isOwn"] !== true;
    return [];
  }

  /** The continued history ends before a reverted turn, or at the end of a file. */
  #continue(record: JsonObject): void {
    const base = objectAt(objectAt(record, "payload"), "history_base");
    const id = stringAt(base, "thread_id") ?? "";
    if (record["type"] !== "session_meta" || base === undefined) return;
    const end = this.#ends.get(id);
    if (end === undefined) {
      this.#missing = `file:${id}`;
      return;
    }
    const ordinal = countAt(base, "end_ordinal_exclusive");
    this.#lastStart = end.lastStart;
    this.tailId = end.tailId;
    while (this.#lastStart !== undefined && this.#lastStart.ordinal >= ordinal) {
      this.tailId = this.#lastStart.parentId ?? end.tailId;
      this.#lastStart = this.#lastStart.before;
    }
    this.#ordinal = ordinal - 1;
    this.#counted = "";
  }

  save(): object {
    return {
      header: this.header,
      isSubagent: this.isSubagent,
      hasMeta: this.#hasMeta,
      isHeadless: this.#isHeadless,
      ordinal: this.#ordinal,
      name: this.name,
      tailId: this.tailId,
      history: this.#history.save(),
      answerIsOver: this.#answer?.isOver,
      starts: savedStarts(this.#lastStart),
      ends: [...this.#ends].map(([id, { tailId, lastStart }]) => {
        return { id, tailId, starts: savedStarts(lastStart) };
      }),
      file: this.#file,
      isInherited: this.#isInherited,
      missing: this.#missing,
      calls: [...this.#calls],
      said: [...this.#said],
      texts: this.#texts.save(),
      scripts: [...this.#scripts],
      counted: this.#counted,
      tokens: this.#tokens,
      ownSince: this.#ownSince,
      repeating: this.#repeating,
      timeMs: this.#timeMs,
      startMs: this.#startMs,
    };
  }

  restore(saved: SavedFields): void {
    this.header = savedHeader(saved);
    this.isSubagent = saved.flag("isSubagent");
    this.#hasMeta = saved.flag("hasMeta");
    this.#isHeadless = saved.flag("isHeadless");
    this.#ordinal = saved.finite("ordinal");
    this.name = saved.optionalText("name");
    this.tailId = saved.nullableText("tailId");
    this.#history.restore(saved.fields("history"));
    if (saved.has("answerIsOver")) this.#answer = { isOver: saved.flag("answerIsOver") };
    this.#lastStart = readStarts(saved);
    for (const value of saved.list("ends", Infinity, (one) => one)) {
      const end = new SavedFields(value);
      const lastStart = readStarts(end);
      this.#ends.set(end.text("id"), { tailId: end.nullableText("tailId"), lastStart });
    }
    this.#file = saved.text("file");
    this.#isInherited = saved.flag("isInherited");
    this.#missing = saved.nullableText("missing");
    for (const call of saved.list("calls", recentMax, savedText)) this.#calls.add(call);
    this.#said = new Set(saved.list("said", Infinity, savedText));
    this.#texts.restore(saved.fields("texts"));
    for (const call of saved.list("scripts", recentMax, savedText)) this.#scripts.add(call);
    this.#counted = saved.text("counted");
    this.#tokens = saved.finite("tokens");
    const ownSince = saved.fields("ownSince");
    this.#ownSince = { ordinal: ownSince.finite("ordinal"), timeMs: ownSince.finite("timeMs") };
    this.#repeating = saved.optionalText("repeating");
    this.#timeMs = saved.dateMs("timeMs");
    this.#startMs = saved.optionalDateMs("startMs");
  }

  /** Requests have entries of their own. */
  spentBy(_record: JsonObject, id: string): SpentAnswer {
    const model = this.#history.modelAt(Number.parseFloat(id.slice("line:".length)));
    return { provider: this.#history.provider, model, usage: noUsage };
  }

  entryOf(record: JsonObject, place: TranscriptPlace): JsonObject | undefined {
    const known = codexRecord(record);
    if (known === undefined) return undefined;
    const { id, parentId, timestamp } = place;
    const at = { ...place, line: Number.parseFloat(id.slice("line:".length)) };
    const { type, ...rest } = codexBody(known.type, known.payload, at, this.#history);
    return { type, id, parentId, timestamp, ...rest };
  }

  #factsOf(type: string, payload: JsonObject): readonly RowFacts[] {
    switch (type) {
      case "session_meta":
        return this.#meta(payload);
      case "turn_context":
        return this.#context(payload);
      case "response_item":
        return this.#item(payload);
      case "event_msg":
        return this.#event(payload);
      case "compacted":
        this.#endAnswer();
        this.#history.learnContextTokens(this.#line, this.#tokens);
        return [{ type: "compaction" }];
      case "state":
      case "world_state":
        return [];
      default:
        return [customRow(`codex.${type.slice(0, 40)}`)];
    }
  }

  /** From here on, records are of the session itself. */
  #endRepetition(): void {
    if (this.#repeating !== undefined) this.#history.learnThread(this.#line, this.#repeating);
    this.#repeating = undefined;
  }

  #meta(payload: JsonObject): readonly RowFacts[] {
    const id = stringAt(payload, "id") ?? "";
    // The header of the other session, if it is repeated, tells whose records follow.
    this.#repeating = undefined;
    this.#history.learnThread(this.#line, id);
    const isContinued = objectAt(payload, "history_base") !== undefined;
    if (this.#hasMeta && !isContinued) return [customRow("codex.session_meta")];
    if (this.#hasMeta && !this.#isHeadless) return [];
    this.#hasMeta = true;
    if (this.#isHeadless) this.#startMs = this.#timeMs;
    this.#isHeadless = this.#isInherited;
    const provider = stringAt(payload, "model_provider") ?? "openai";
    if (provider !== "openai") this.#history.provider = provider;
    this.isSubagent = isStarted(payload);
    const isFork = this.isSubagent || stringAt(payload, "forked_from_id") !== undefined;
    const startedMs = isFork ? Date.parse(stringAt(payload, "timestamp") ?? "") : Number.NaN;
    this.#ownSince = {
      ordinal: countAt(payload, "subagent_history_start_ordinal"),
      timeMs: startedMs || 0,
    };
    const source = callerOf(payload) ?? stringAt(payload, "forked_from_id");
    // One that names where it continues another file has no records of it.
    if (isFork && source !== undefined && !isContinued) {
      this.#history.learnThread(this.#line, source);
      this.#repeating = id;
    }
    this.header = this.#headerOf(payload);
    return [];
  }

  #headerOf(meta: JsonObject): SessionHeader {
    // Before its own first record, a session is known by its name.
    const named = this.#isInherited ? rolloutName(this.#fileName)?.thread : undefined;
    const parentSession = callerOf(meta) ?? stringAt(meta, "forked_from_id");
    return {
      type: "session",
      version: currentVersion,
      id: transcriptId(named ?? stringAt(meta, "id"), this.#fileName),
      timestamp: timeText(this.#startMs ?? this.#timeMs),
      cwd: stringAt(meta, "cwd") ?? this.header?.cwd ?? "",
      ...(parentSession === undefined ? {} : { parentSession }),
    };
  }

  #learnCwd(cwd: string | undefined): void {
    if (this.header?.cwd === "" && cwd !== undefined) this.header = { ...this.header, cwd };
  }

  #context(payload: JsonObject): readonly RowFacts[] {
    this.#learnCwd(stringAt(payload, "cwd"));
    const model = stringAt(payload, "model") ?? "";
    const level = levelOf(payload);
    const rows: RowFacts[] = [];
    if (model !== "" && this.#history.learnModel(this.#line, model)) {
      rows.push({ type: "model_change" });
    }
    if (level !== "" && this.#history.learnLevel(this.#line, level)) {
      rows.push({ type: "thinking_level_change" });
    }
    if (rows.length > 0) this.#endAnswer();
    return rows;
  }

  #item(item: JsonObject): readonly RowFacts[] {
    const type = stringAt(item, "type") ?? "";
    if (type === "ghost_snapshot") return [];
    if (type === "message" && stringAt(item, "role") !== "assistant") return this.#heard(item);
    const output = toolOutput(item);
    if (output !== undefined) {
      this.#scripts.delete(output.callId);
      this.#endAnswer();
      return [{ type: "message", role: "toolResult" }];
    }
    const called = calledBy(item);
    if (called !== undefined) {
      if (this.#calls.size >= recentMax) this.#calls.clear();
      this.#calls.add(called.id);
      if (called.name === scriptTool && this.#scripts.size < recentMax) {
        this.#scripts.add(called.id);
      }
    } else if (type === "message") {
      const blocks = assistantBlocks(item);
      if (blocks === undefined) return [customRow("codex.item")];
      const text = textsOf(item["content"]).join("");
      if (blocks.length === 0 || this.#isRepeated("item", "agent", text)) return [];
    } else if (type !== "reasoning") return [customRow("codex.item")];
    return [this.#answerRow()];
  }

  /** A message of the user, or of Codex as user, system or developer. */
  #heard(item: JsonObject): readonly RowFacts[] {
    const { content, rest } = contentOf(item["content"]);
    if (content.length === 0 && rest.length === 0) return [];
    const role = stringAt(item, "role") ?? "";
    if (role !== "user" || (rest.length === 0 && isContext(content))) {
      this.#endAnswer();
      this.#learnCwd(environmentCwd(item));
      return [{ type: "custom_message", customType: contextType(role) }];
    }
    const texts = textsOf(item["content"]);
    if (shellRun(content) !== undefined) {
      this.#endAnswer();
      return [{ type: "message", role: "bashExecution" }];
    }
    if (this.#isHeardBefore(texts)) return [];
    this.#beginTurn();
    for (const text of texts) this.#said.add(keyOf("item", "user", text));
    this.#said.add(keyOf("item", "user", texts.join("")));
    for (const text of new Set([...texts, texts.join("")])) this.#texts.add("user", text);
    return userRows(content);
  }

  #event(event: JsonObject): readonly RowFacts[] {
    const type = stringAt(event, "type") ?? "";
    switch (type) {
      case "user_message":
        return this.#saidBy("user", stringAt(event, "message"));
      case "agent_message":
        return this.#saidBy("agent", stringAt(event, "message"));
      case "token_count":
        return this.#usage(objectAt(event, "info"));
      case "thread_name_updated":
        this.name = normalizeName(stringAt(event, "thread_name") ?? "") || this.name;
        return [];
      case "item_completed":
        return this.#completed(objectAt(event, "item"));
      case "thread_rolled_back":
        this.#rollBack(countAt(event, "num_turns"));
        return [];
      default:
        break;
    }
    if (turnBounds.has(type)) this.#boundTurn();
    if (passedEvents.has(type)) return [];
    if (this.#calls.has(stringAt(event, "call_id") ?? "")) return [];
    this.#endAnswer();
    return [customRow("codex.event")];
  }

  /** By an event, which has one of the texts of an item, or all. */
  #isHeardBefore(texts: readonly string[]): boolean {
    if (texts.length === 0) return false;
    if (this.#isRepeated("item", "user", texts.join(""))) return true;
    return texts.length > 1 && texts.some((text) => this.#isRepeated("item", "user", text));
  }

  /** Most completed items are also in other records. */
  #completed(item: JsonObject | undefined): readonly RowFacts[] {
    const type = stringAt(item, "type") ?? "";
    if (type === "UserMessage" || type === "AgentMessage") {
      const content = item?.["content"];
      const said = { texts: textsOf(content), content: contentOf(content).content };
      return this.#completedText(type === "UserMessage" ? "user" : "agent", said);
    }
    if (isCopiedItem(type) && this.#scripts.size === 0) return [];
    this.#endAnswer();
    if (type === "CommandExecution") return [{ type: "message", role: "bashExecution" }];
    return isCopiedItem(type) && type !== "McpToolCall" && type !== "FileChange"
      ? []
      : [customRow("codex.event")];
  }

  /** A message that no other record holds; those that follow repeat it. */
  #completedText(voice: Voice, said: SaidContent): readonly RowFacts[] {
    const text = said.texts.join("");
    if (this.#texts.hasSaid(voice, text)) return [];
    if (voice === "user") this.#beginTurn();
    this.#texts.await(voice, text);
    return voice === "user" ? userRows(said.content) : [this.#answerRow()];
  }

  /** An event whose text an item repeats. */
  #saidBy(voice: "user" | "agent", text: string | undefined): readonly RowFacts[] {
    if (text === undefined || text.trim() === "" || this.#isRepeated("event", voice, text))
      return [];
    if (voice === "user") this.#beginTurn();
    this.#said.add(keyOf("event", voice, text));
    this.#texts.add(voice, text);
    return voice === "user" ? userRows([{ type: "text", text }]) : [this.#answerRow()];
  }

  /** Whether an item repeats an event, or an event an item; each repetition counts once. */
  #isRepeated(form: "item" | "event", voice: "user" | "agent", text: string): boolean {
    const other = form === "item" ? "event" : "item";
    if (this.#said.delete(keyOf(other, voice, text))) return true;
    if (this.#texts.isAwaited(form, voice, text)) return true;
    if (voice === "agent") {
      this.#said.add(keyOf(form, voice, text));
      this.#texts.add(voice, text);
    }
    return false;
  }

  #usage(info: JsonObject | undefined): readonly RowFacts[] {
    const usage = codexUsage(info);
    const total = JSON.stringify(info?.["total_token_usage"] ?? null);
    if (usage === undefined || total === this.#counted) return [];
    this.#counted = total;
    const tokens = countAt(objectAt(info, "last_token_usage"), "total_tokens");
    this.#tokens = tokens || usage.totalTokens;
    // Spent by the session that it was copied from.
    if (this.#isCopied) return [];
    if (this.#answer !== undefined) this.#answer.isOver = true;
    return [{ type: "usage" }];
  }

  #rollBack(turns: number): void {
    this.#endAnswer();
    this.#boundTurn();
    for (let turn = 0; turn < turns && this.#lastStart !== undefined; turn += 1) {
      this.tailId = this.#lastStart.parentId;
      this.#lastStart = this.#lastStart.before;
    }
  }

  /** Later records repeat nothing of the earlier ones. */
  #boundTurn(): void {
    this.#texts.clear();
    this.#said = new Set();
    this.#scripts.clear();
  }

  #beginTurn(): void {
    this.#texts.beginPrompt();
    this.#endAnswer();
    this.#said = new Set();
    this.#scripts.clear();
    const before = this.#lastStart;
    this.#lastStart = { ordinal: this.#ordinal, parentId: this.tailId, before };
  }

  #answerRow(): RowFacts {
    if (this.#answer?.isOver === true) this.#endAnswer();
    if (this.#answer !== undefined) {
      return { type: "message", role: "assistant", customType: answerKey };
    }
    this.#answer = { isOver: false };
    this.#history.boundAnswer(this.#line);
    return { type: "message", role: "assistant" };
  }

  #endAnswer(): void {
    if (this.#answer !== undefined) this.#history.boundAnswer(this.#line);
    this.#answer = undefined;
  }
}

/** Whether another session started this one: as a worker, a review, a guardian. */
function isStarted(meta: JsonObject): boolean {
  return (
    objectAt(meta, "source")?.["subagent"] !== undefined || meta["thread_source"] === "subagent"
  );
}

/** The session that started this one. */
function callerOf(meta: JsonObject): string | undefined {
  const spawned = objectAt(objectAt(objectAt(meta, "source"), "subagent"), "thread_spawn");
  return stringAt(spawned, "parent_thread_id") ?? stringAt(meta, "parent_thread_id");
}

function keyOf(form: "item" | "event", voice: string, text: string): string {
  return `${form}\n${voice}\n${text.trim()}`;
}

interface SaidContent {
  readonly texts: readonly string[];
  readonly content: readonly UserContent[];
}

function userRows(content: readonly UserContent[]): readonly RowFacts[] {
  const message = { type: "message", role: "user" };
  if (splitRequest(content) === undefined) return [message];
  return [{ type: "custom_message", customType: contextType("user") }, message];
}

function customRow(customType: string): RowFacts {
  return { type: "custom", customType };
}
