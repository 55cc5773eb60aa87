/**
 * The facts of a transcript of another agent, folded as it is indexed in place. Memory: one line
 * and the ids of the entries.
 */
import { decodeLine, readFullySync, readRange, readShallow } from "@branchlog/streaming";
import type { ByteSource, JsonObject, LineSink, LongLine } from "@branchlog/streaming";
import {
  transcriptRecords,
  withPart,
  placeOf,
  answerKey,
  continuedKey,
  noUsage,
  objectAt,
  usageOfBoth,
  storedText,
} from "@branchlog/core/rows";
import type { SessionSummary } from "@branchlog/core/types";
import type {
  AnswerUsage,
  SpentAnswer,
  Transcript,
  TranscriptFormat,
  TranscriptRow,
} from "@branchlog/core/rows";
import type { SessionEntry, SessionHeader } from "@branchlog/core";
import type { Usage } from "@branchlog/core/entries";
import { messageBytesMax } from "./limits.ts";
import { ActivityFold, entryName } from "./listed-activity.ts";
import type { ListedActivity } from "./listed-activity.ts";
import { UsageFold } from "./listed-usage.ts";
import type { ListedUsage } from "./listed-usage.ts";

/** List facts of sessions that only their agent writes. */
export interface ListedTranscript {
  /** The name of the agent. */
  readonly of: string;
  /** Whether all of it is a subagent's: its header names the session that started it. */
  readonly isSubagent: boolean;
}

export interface TranscriptFacts {
  readonly header: SessionHeader;
  /** That of the agent's index, if it has one. */
  readonly name: string | undefined;
  /** That of the file. */
  readonly ownName: string | undefined;
  readonly summary: SessionSummary;
  readonly usage: ListedUsage;
  readonly activity: ListedActivity;
  readonly transcript: ListedTranscript;
}

/** An answer, whose parts repeat and increase its usage, or a request outside the answers. */
interface Request {
  /** Undefined outside the answers. */
  spent: AnswerUsage | undefined;
  /** Its entries, as far as they spent. */
  parts: SessionEntry[];
  /** The line of its first record, which may be several entries. */
  readonly line: number;
}

export class TranscriptScan {
  readonly #format: TranscriptFormat;
  readonly #path: string;
  readonly #transcript: Transcript;
  readonly #ids = new Set<string>();
  readonly #answers = new RecentAnswers();
  readonly #activity = new ActivityFold();
  #messageCount = 0;
  #firstMessage: string | undefined;
  /** Of the latest message. */
  #lastMs = 0;

  constructor(format: TranscriptFormat, path: string) {
    this.#format = format;
    this.#path = path;
    this.#transcript = format.read(path, (id) => this.#ids.has(id));
  }

  /** Undefined before a record names the session. */
  get facts(): TranscriptFacts | undefined {
    const { header, name, isSubagent } = this.#transcript;
    if (header === undefined) return undefined;
    const [messageCount, firstMessage] = [this.#messageCount, this.#firstMessage];
    const lastActivityMs = this.#lastMs || undefined;
    const summary = { messageCount, firstMessage, lastActivityMs };
    const transcript = { of: this.#format.agent, isSubagent };
    const given = this.#format.indexedName?.(this.#path) ?? name;
    const usage = this.#answers.usage;
    const activity = this.#activity.value;
    return { header, name: given, ownName: name, summary, usage, activity, transcript };
  }

  /** @param source Where lines too long to be joined are read again. */
  sink(source: ByteSource): LineSink {
    return {
      line: (bytes, start, end, _offset, lineNumber) => {
        for (const { value, line } of transcriptRecords(bytes, start, end, lineNumber)) {
          this.#add(value, line);
        }
      },
      longLine: (line, lineNumber) => {
        const record = recordOf(source, line);
        if (record !== undefined) this.#add(record, lineNumber);
      },
    };
  }

  #add(record: JsonObject, line: number): void {
    for (const row of this.#transcript.add(record, line)) this.#fold(record, row, line);
  }

  #fold(record: JsonObject, row: TranscriptRow, line: number): void {
    const { type, role } = row;
    const isContinued = row.customType === answerKey;
    if (type === "message" && !isContinued) this.#messageCount += 1;
    const isSpoken = type === "message" && (role === "user" || role === "assistant");
    if (isSpoken) this.#lastMs = Math.max(row.timeMs, this.#lastMs);
    const isPrompt = isSpoken && role === "user";
    const parent = row.parentId === null ? null : entryName(row.parentId);
    this.#activity.entry(entryName(row.id), parent, row.timeMs);
    const isAnswer = isSpoken && role === "assistant";
    // Results and notes may lie between the parts of an answer.
    const before = row.parentId === null ? undefined : this.#answers.get(row.parentId);
    this.#ids.add(row.id);
    if (before !== undefined && (!isAnswer || isContinued)) this.#answers.set(row.id, before);
    if (isAnswer) {
      this.#answer(record, row.id, line, isContinued ? before : undefined);
      return;
    }
    if (!isPrompt && type !== "usage") return;
    const entry = this.#transcript.entryOf(
      record,
      placeOf(row, () => []),
    );
    if (entry === undefined) return;
    // Decoding boundary: made by the transcript.
    const made = entry as unknown as SessionEntry;
    if (!isPrompt) this.#answers.add({ spent: undefined, parts: [made], line });
    else this.#prompt(entry, this.#format.isAsked?.(made) !== false);
  }

  #prompt(entry: JsonObject, isAsked: boolean): void {
    let text: string | undefined;
    if (this.#firstMessage === undefined || (isAsked && this.#activity.wantsPrompt)) {
      const said = storedText(objectAt(entry, "message")?.["content"], " ");
      text = this.#format.titleIn?.(said) ?? said.trim();
    }
    this.#firstMessage ??= text || undefined;
    if (isAsked) this.#activity.turn(text);
  }

  #answer(record: JsonObject, id: string, line: number, before: Request | undefined): void {
    const message = this.#transcript.spentBy(record, id);
    const { model, usage } = message;
    const part = { model, usage };
    const spent = withPart(before?.spent, part);
    if (before === undefined) {
      const request = { spent, parts: [spending(message, usage)], line };
      this.#answers.add(request);
      this.#answers.set(id, request);
      return;
    }
    this.#answers.set(id, before);
    const known = before.spent?.usage ?? noUsage;
    before.spent = spent;
    const isOfSameRecord = before.line === line;
    // If another model took over, the parts before have no usage of their own.
    if (spent === part || isOfSameRecord) before.parts = [spending(message, spent.usage)];
    else if (spent.usage.totalTokens > known.totalTokens) {
      const added = usageOfBoth(spent.usage, known, (one, other) => one - other);
      before.parts.push({ ...spending(message, added), [continuedKey]: true });
    }
  }
}

/** Entries at least so far back may be continued, and at most twice as far. */
const recentMax = 1_024;

/** The usage, and for recent entries the answer that each can continue. */
class RecentAnswers {
  readonly #closed = new UsageFold();
  /** Those that may be continued, and those after the first of them. */
  #open: Request[] = [];
  #recent = new Map<string, Request>();
  #older = new Map<string, Request>();

  get usage(): ListedUsage {
    const usage = new UsageFold(this.#closed.value);
    for (const request of this.#open) foldInto(usage, request);
    return usage.value;
  }

  add(request: Request): void {
    this.#open.push(request);
  }

  get(id: string): Request | undefined {
    return this.#recent.get(id) ?? this.#older.get(id);
  }

  set(id: string, request: Request): void {
    this.#recent.set(id, request);
    if (this.#recent.size < recentMax) return;
    this.#older = this.#recent;
    this.#recent = new Map();
    const live = new Set(this.#older.values());
    const first = this.#open.findIndex((one) => live.has(one));
    const over = first < 0 ? this.#open : this.#open.slice(0, first);
    this.#open = first < 0 ? [] : this.#open.slice(first);
    for (const one of over) foldInto(this.#closed, one);
  }
}

function foldInto(usage: UsageFold, { parts }: Request): void {
  for (const part of parts) usage.entry(part);
}

/** An entry of an answer, without what it says. */
function spending({ provider, model }: SpentAnswer, usage: Usage): SessionEntry {
  const message = { role: "assistant", provider, model, usage };
  // Decoding boundary: what the fold of a usage reads.
  return { type: "message", message } as unknown as SessionEntry;
}

function recordOf(source: ByteSource, { offset, length }: LongLine): JsonObject | undefined {
  if (length > messageBytesMax) {
    const range = readRange(source, offset, length);
    const facts = readShallow(range, { open: ["message", "payload"] });
    return facts.ok ? facts.value : undefined;
  }
  const line = decodeLine(readFullySync(source, Buffer.allocUnsafe(length), offset));
  return line.ok ? line.value : undefined;
}
