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
  objectAt,
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
import type { SessionHeader } from "@branchlog/core";
import type { Usage } from "@branchlog/core/entries";
import { messageBytesMax } from "./limits.ts";
import { titleOfText } from "./spoken-title.ts";

/** What only sessions that their agent alone writes have in lists. */
export interface ListedTranscript {
  /** The name of the agent. */
  readonly of: string;
  /** In order of their first answers. */
  readonly models: readonly string[];
  /** Input, output, and what was read from and written to the cache. */
  readonly tokens: number;
  /** Whether all of it is a sub-agent's: its header names the session that started it. */
  readonly isSubagent: boolean;
}

export interface TranscriptFacts {
  readonly header: SessionHeader;
  readonly name: string | undefined;
  readonly summary: SessionSummary;
  readonly transcript: ListedTranscript;
}

export class TranscriptScan {
  readonly #format: TranscriptFormat;
  readonly #path: string;
  readonly #transcript: Transcript;
  readonly #ids = new Set<string>();
  readonly #models = new Set<string>();
  /** The current answer: its parts repeat and increase its usage. */
  #answer: { readonly id: string; readonly spent: AnswerUsage } | undefined;
  #tokens = 0;
  #messageCount = 0;
  #firstMessage: string | undefined;
  /** Of the latest message. */
  #lastMs = 0;

  constructor(format: TranscriptFormat, path: string) {
    this.#format = format;
    this.#path = path;
    this.#transcript = format.read(basename(path), (id) => this.#ids.has(id));
  }

  /** Undefined before a record names the session. */
  get facts(): TranscriptFacts | undefined {
    const { header, name, isSubagent } = this.#transcript;
    if (header === undefined) return undefined;
    const [messageCount, firstMessage] = [this.#messageCount, this.#firstMessage];
    const lastActivityMs = this.#lastMs || undefined;
    const summary = { messageCount, firstMessage, lastActivityMs };
    const transcript = {
      of: this.#format.agent,
      models: [...this.#models],
      tokens: this.#tokens,
      isSubagent,
    };
    return { header, name: this.#format.indexedName?.(this.#path) ?? name, summary, transcript };
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
    for (const row of this.#transcript.add(record, line)) {
      this.#ids.add(row.id);
      this.#fold(record, row);
    }
  }

  #fold(record: JsonObject, row: TranscriptRow): void {
    const { type, role } = row;
    if (type === "message") this.#messageCount += 1;
    const isSpoken = type === "message" && (role === "user" || role === "assistant");
    if (isSpoken) this.#lastMs = Math.max(row.timeMs, this.#lastMs);
    const isTitle = isSpoken && role === "user" && this.#firstMessage === undefined;
    const isAnswer = type === "usage" || (isSpoken && role === "assistant");
    if (!isTitle && !isAnswer) return;
    const entry = this.#transcript.entryOf(
      record,
      placeOf(row, () => []),
    );
    if (entry === undefined) return;
    const message = objectAt(entry, "message");
    if (isTitle) this.#firstMessage = titleOfText(storedText(message?.["content"], " "));
    else this.#spend(entry, message ?? entry);
  }

  #spend(entry: JsonObject, answer: JsonObject): void {
    const model = stringAt(answer, "model");
    if (model !== undefined && /^[^<]/.test(model)) this.#models.add(model);
    // Decoding boundary: made by the transcript, with every count.
    const usage = objectAt(answer, "usage") as unknown as Usage | undefined;
    if (usage === undefined) return;
    const id = stringAt(entry, answerKey);
    const before = id !== undefined && this.#answer?.id === id ? this.#answer.spent : undefined;
    const spent = withPart(before, { model: model ?? "", usage });
    if (id !== undefined) this.#answer = { id, spent };
    this.#tokens += spent.usage.totalTokens - (before?.usage.totalTokens ?? 0);
  }
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
