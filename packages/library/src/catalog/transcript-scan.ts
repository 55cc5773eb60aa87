/**
 * The facts of a transcript of another agent, folded as it is indexed in place. Memory: one line
 * and the ids of the entries.
 */
import { basename } from "node:path";
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
  stringAt,
  storedText,
} from "@branchlog/core/rows";
import type { SessionSummary } from "@branchlog/core/types";
import type {
  AnswerUsage,
  Transcript,
  TranscriptFormat,
  TranscriptRow,
} from "@branchlog/core/rows";
import type { SessionEntry, SessionHeader } from "@branchlog/core";
import type { Usage } from "@branchlog/core/entries";
import { messageBytesMax } from "./limits.ts";
import { UsageFold } from "./listed-usage.ts";
import type { ListedUsage } from "./listed-usage.ts";
import { titleOfText } from "./spoken-title.ts";

/** What only sessions that their agent alone writes have in lists. */
export interface ListedTranscript {
  /** The name of the agent. */
  readonly of: string;
  /** Whether all of it is a sub-agent's: its header names the session that started it. */
  readonly isSubagent: boolean;
}

export interface TranscriptFacts {
  readonly header: SessionHeader;
  readonly name: string | undefined;
  readonly summary: SessionSummary;
  readonly usage: ListedUsage;
  readonly transcript: ListedTranscript;
}

/** An answer, whose parts repeat and increase what it spent, or a request beside the answers. */
interface Request {
  /** Undefined beside the answers. */
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
  /** All entries, each with the answer that it may continue. */
  readonly #answers = new Map<string, Request | undefined>();
  readonly #requests: Request[] = [];
  #messageCount = 0;
  #firstMessage: string | undefined;
  /** Of the latest message. */
  #lastMs = 0;

  constructor(format: TranscriptFormat, path: string) {
    this.#format = format;
    this.#path = path;
    this.#transcript = format.read(basename(path), (id) => this.#answers.has(id));
  }

  /** Undefined before a record names the session. */
  get facts(): TranscriptFacts | undefined {
    const { header, name, isSubagent } = this.#transcript;
    if (header === undefined) return undefined;
    const [messageCount, firstMessage] = [this.#messageCount, this.#firstMessage];
    const lastActivityMs = this.#lastMs || undefined;
    const summary = { messageCount, firstMessage, lastActivityMs };
    const transcript = { of: this.#format.agent, isSubagent };
    const usage = new UsageFold();
    for (const { parts } of this.#requests) for (const part of parts) usage.entry(part);
    const given = this.#format.indexedName?.(this.#path) ?? name;
    return { header, name: given, summary, usage: usage.value, transcript };
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
    const isTitle = isSpoken && role === "user" && this.#firstMessage === undefined;
    const isAnswer = isSpoken && role === "assistant";
    // Results and notes may lie between the parts of an answer.
    const before = row.parentId === null ? undefined : this.#answers.get(row.parentId);
    this.#answers.set(row.id, isAnswer && !isContinued ? undefined : before);
    if (!isTitle && !isAnswer && type !== "usage") return;
    const entry = this.#transcript.entryOf(
      record,
      placeOf(row, () => []),
    );
    if (entry === undefined) return;
    if (isTitle) {
      const { content } = objectAt(entry, "message") ?? {};
      this.#firstMessage = titleOfText(storedText(content, " "));
    } else if (isAnswer) {
      const request = this.#answer(entry, line, isContinued ? before : undefined);
      this.#answers.set(row.id, request);
    } else {
      // Decoding boundary: made by the transcript.
      const parts = [entry as unknown as SessionEntry];
      this.#requests.push({ spent: undefined, parts, line });
    }
  }

  #answer(entry: JsonObject, line: number, before: Request | undefined): Request {
    const message = objectAt(entry, "message") ?? {};
    // Decoding boundary: made by the transcript, with every count.
    const usage = (objectAt(message, "usage") as unknown as Usage | undefined) ?? noUsage;
    const part = { model: stringAt(message, "model") ?? "", usage };
    const spent = withPart(before?.spent, part);
    if (before === undefined) {
      const request = { spent, parts: [spending(message, usage)], line };
      this.#requests.push(request);
      return request;
    }
    const known = before.spent?.usage ?? noUsage;
    before.spent = spent;
    const isOfSameRecord = before.line === line;
    // If another model took over, the parts before have no usage of their own.
    if (spent === part || isOfSameRecord) before.parts = [spending(message, spent.usage)];
    else if (spent.usage.totalTokens > known.totalTokens) {
      const added = usageOfBoth(spent.usage, known, (one, other) => one - other);
      before.parts.push({ ...spending(message, added), [continuedKey]: true });
    }
    return before;
  }
}

/** An entry of an answer, without what it says. */
function spending({ role, provider, model }: JsonObject, usage: Usage): SessionEntry {
  // Decoding boundary: what the fold of a usage reads.
  return { type: "message", message: { role, provider, model, usage } } as unknown as SessionEntry;
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
