/**
 * Recorded chats of Gemini CLI in place. A message is written again when it is updated, `$rewindTo`
 * goes back, and `$set.messages` replaces the list: earlier messages stay, as branches. See
 * docs/agents.md, "Gemini CLI". No I/O.
 */
import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import type { JsonObject } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import { normalizeName } from "@branchlog/core/entries";
import type { Usage } from "@branchlog/core/entries";
import {
  SavedFields,
  answerKey,
  isObject,
  listAt,
  objectAt,
  savedText,
  stringAt,
  usageOf,
  usageOfBoth,
} from "@branchlog/core/rows";
import type { SpentAnswer, Transcript, TranscriptPlace, TranscriptRow } from "@branchlog/core/rows";
import { outputsIn } from "../genai-content.ts";
import {
  entryAt,
  restoreState,
  savedState,
  sessionHeader,
  timeMsOf,
} from "../transcript-entries.ts";
import { transcriptId } from "../transcript-id.ts";
import {
  answerOf,
  geminiBody,
  isGeminiRecord,
  kindOf,
  messageOf,
  providerOf,
  textIn,
  usageIn,
} from "./gemini-bodies.ts";

type RowFacts = Omit<TranscriptRow, "parentId" | "timeMs">;

/** Bounds the messages to which the chat may go back. */
const placesMax = 20_000;

/** Bounds the answers whose updates may come; the entries of fewer are looked back to for one. */
const answersMax = 8;

interface RecentAnswer {
  readonly calls: readonly string[];
  readonly spent: Usage;
}

/** The entries between which a message is. */
interface Place {
  readonly before: string | null;
  readonly last: string | null;
}

export class GeminiTranscript implements Transcript {
  header: SessionHeader | undefined;
  name: string | undefined;
  isSubagent = false;
  tailId: string | null = null;
  repetition: string | undefined;
  readonly #path: string;
  readonly #places = new Map<string, Place>();
  /** The last answers, whose updates may come, by their ids. */
  readonly #answers = new Map<string, RecentAnswer>();
  /** Calls whose results have an entry: they are in several records. */
  readonly #results = new Set<string>();
  #projectHash = "";
  timeMs = 0;

  constructor(path: string) {
    this.#path = path;
  }

  add(record: JsonObject, line: number): readonly TranscriptRow[] {
    this.repetition = undefined;
    // Data before the first known record belongs to no session.
    if (this.header === undefined && !isGeminiRecord(record)) return [];
    const set = objectAt(record, "$set");
    const rewindTo = stringAt(record, "$rewindTo");
    if (stringAt(record, "sessionId") !== undefined && set === undefined)
      return this.#begin(record);
    if (rewindTo !== undefined) {
      const place = this.#places.get(rewindTo);
      this.tailId = place === undefined ? null : place.before;
      return [];
    }
    if (set !== undefined) return this.#set(set, line);
    return this.#message(record, line);
  }

  save(): object {
    return {
      ...savedState(this),
      places: [...this.#places],
      answers: [...this.#answers],
      results: [...this.#results],
      projectHash: this.#projectHash,
    };
  }

  restore(saved: SavedFields): void {
    restoreState(this, saved);
    for (const [id, place] of saved.pairs("places", placesMax, savedPlace)) {
      this.#places.set(id, place);
    }
    for (const [id, answer] of saved.pairs("answers", answersMax, savedAnswer)) {
      this.#answers.set(id, answer);
    }
    for (const call of saved.list("results", placesMax, savedText)) this.#results.add(call);
    this.#projectHash = saved.text("projectHash");
  }

  spentBy(record: JsonObject, id: string): SpentAnswer {
    const message = messageOf(record, id) ?? record;
    const model = stringAt(message, "model") ?? "";
    const recent = this.#answers.get(stringAt(message, "id") ?? "");
    return { provider: providerOf(message), model, usage: recent?.spent ?? usageIn(message) };
  }

  entryOf(record: JsonObject, place: TranscriptPlace): JsonObject | undefined {
    const message = messageOf(record, place.id);
    return entryAt(place, message && geminiBody(message, place));
  }

  /** Written again whenever the session is opened. */
  #begin(record: JsonObject): readonly TranscriptRow[] {
    this.#projectHash = stringAt(record, "projectHash") ?? this.#projectHash;
    const startTime = stringAt(record, "startTime") ?? "";
    const timeMs = Date.parse(startTime);
    if (!Number.isNaN(timeMs)) this.timeMs = timeMs;
    if (this.header !== undefined) return [];
    this.isSubagent = stringAt(record, "kind") === "subagent";
    const [directory] = listAt(record, "directories");
    this.header = this.#headerOf(stringAt(record, "sessionId"));
    this.#learnDirectory(typeof directory === "string" ? directory : "");
    return [];
  }

  #headerOf(id: string | undefined): SessionHeader {
    const parent = basename(dirname(this.#path));
    return sessionHeader({
      id: transcriptId(id, basename(this.#path)),
      timeMs: this.timeMs,
      cwd: "",
      parentSession: this.isSubagent && uuid.test(parent) ? parent : undefined,
    });
  }

  /** It is stored as a hash, and as text in the context that Gemini CLI sends to the model. */
  #learnDirectory(directory: string): void {
    if (this.header?.cwd !== "" || directory === "") return;
    const hash = createHash("sha256").update(directory).digest("hex");
    if (hash === this.#projectHash) this.header = { ...this.header, cwd: directory };
  }

  #set(set: JsonObject, line: number): readonly TranscriptRow[] {
    const summary = stringAt(set, "summary");
    if (summary !== undefined) this.name = normalizeName(summary) || this.name;
    const messages = listAt(set, "messages").filter(isObject);
    if (messages.length === 0) return [];
    this.header ??= this.#headerOf(undefined);
    const isKnown = (message: JsonObject): boolean =>
      this.#places.has(stringAt(message, "id") ?? "") || kindOf(message) === "context";
    const others = messages.filter((message) => !isKnown(message));
    const isReplaced = this.tailId !== null && this.#places.size > 1;
    const [first] = others;
    // A compressed list starts with its summary, and has the rest under other ids.
    if (
      first !== undefined &&
      isReplaced &&
      !messages.some((one) => isKnown(one) && kindOf(one) !== "context")
    ) {
      return this.#compressed(first, others);
    }
    const rows: TranscriptRow[] = [];
    for (const message of messages) {
      const place = this.#places.get(stringAt(message, "id") ?? "");
      if (place !== undefined) this.tailId = place.last;
      const isAnswer = this.#answers.has(stringAt(message, "id") ?? "");
      if (place === undefined || isAnswer) rows.push(...this.#message(message, line));
    }
    // A list repeats its messages.
    this.repetition = undefined;
    return rows;
  }

  #compressed(first: JsonObject, others: readonly JsonObject[]): readonly TranscriptRow[] {
    const id = `compressed:${stringAt(first, "id") ?? ""}`;
    const before = this.tailId;
    for (const message of others)
      this.#place(stringAt(message, "id") ?? "", { before: id, last: id });
    this.tailId = id;
    const timeMs = timeMsOf(first) ?? this.timeMs;
    return [{ id, parentId: before, type: "compaction", timeMs }];
  }

  #message(message: JsonObject, line: number): readonly TranscriptRow[] {
    const id = stringAt(message, "id");
    if (id === undefined || stringAt(message, "type") === undefined) return [];
    this.header ??= this.#headerOf(undefined);
    this.timeMs = timeMsOf(message) ?? this.timeMs;
    this.#learnDirectory(directoryIn(message));
    const known = this.#places.get(id);
    const before = known === undefined ? this.tailId : known.before;
    const rows: TranscriptRow[] = [];
    const facts =
      known === undefined ? this.#newFacts(message, id) : this.#addedFacts(message, id, line);
    for (const fact of facts) {
      rows.push({ ...fact, parentId: this.tailId, timeMs: this.timeMs });
      this.tailId = fact.id;
    }
    const last = rows.length > 0 ? this.tailId : (known?.last ?? this.tailId);
    this.#place(id, { before, last });
    return rows;
  }

  /** Whether it is new. */
  #learnResult(callId: string): boolean {
    if (this.#results.has(callId)) return false;
    if (this.#results.size >= placesMax) this.#results.clear();
    this.#results.add(callId);
    return true;
  }

  #place(id: string, place: Place): void {
    this.#places.delete(id);
    this.#places.set(id, place);
    if (this.#places.size <= placesMax) return;
    const [oldest] = this.#places.keys();
    if (oldest !== undefined) this.#places.delete(oldest);
  }

  #newFacts(message: JsonObject, id: string): readonly RowFacts[] {
    switch (kindOf(message)) {
      case "typed":
        return [{ id, type: "message", role: "user" }];
      case "shell":
        return [{ id, type: "message", role: "bashExecution" }];
      case "context":
        return [{ id, type: "custom_message", customType: "gemini.context" }];
      case "results": {
        const outputs = outputsIn(message["content"]);
        return outputs.flatMap(({ callId }, at): RowFacts[] =>
          !this.#learnResult(callId)
            ? []
            : [{ id: `${id}#${at}`, type: "message", role: "toolResult" }],
        );
      }
      case "answer": {
        const { calls, results } = answerOf(message);
        this.#answers.set(id, { calls, spent: usageIn(message) });
        const [oldest] = this.#answers.keys();
        if (this.#answers.size > answersMax && oldest !== undefined) this.#answers.delete(oldest);
        const own: RowFacts = { id, type: "message", role: "assistant" };
        const ended = results.filter(({ callId }) => this.#learnResult(callId));
        return [own, ...ended.map(({ at }) => resultRow(id, at))];
      }
      case "note":
        return textIn(message) === "" ? [] : [{ id, type: "custom", customType: "gemini.note" }];
      default:
        return [];
    }
  }

  /** The additions of a later state of an answer: calls, their results, tokens. */
  #addedFacts(message: JsonObject, id: string, line: number): readonly RowFacts[] {
    const answer = this.#answers.get(id);
    if (answer === undefined || kindOf(message) !== "answer") {
      this.repetition = `repeats the id ${id}`;
      return [];
    }
    const { calls, results } = answerOf(message);
    const newCalls = calls.filter((call) => !answer.calls.includes(call));
    const newResults = results.filter(({ callId }) => this.#learnResult(callId));
    const spent = usageOfBoth(usageIn(message), answer.spent, Math.max);
    const isMore = spent.totalTokens > answer.spent.totalTokens;
    this.#answers.set(id, { calls: [...answer.calls, ...newCalls], spent });
    const own = `${id}@${line}`;
    const part: RowFacts = { id: own, type: "message", role: "assistant", customType: answerKey };
    const isPart = newCalls.length > 0 || isMore;
    return [...(isPart ? [part] : []), ...newResults.map(({ at }) => resultRow(own, at))];
  }
}

function resultRow(id: string, at: number): RowFacts {
  return { id: `${id}#${at}`, type: "message", role: "toolResult" };
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

const workspaceForm = /Workspace Directories:\**\n\s+- ([^\n]+)/;

function directoryIn(message: JsonObject): string {
  if (kindOf(message) !== "context") return "";
  return workspaceForm.exec(textIn(message))?.[1]?.trim() ?? "";
}

function savedPlace(value: unknown): Place {
  const saved = new SavedFields(value);
  return { before: saved.nullableText("before"), last: saved.nullableText("last") };
}

function savedAnswer(value: unknown): RecentAnswer {
  const saved = new SavedFields(value);
  const calls = saved.list("calls", Infinity, savedText);
  return { calls, spent: savedUsage(saved.fields("spent")) };
}

function savedUsage(saved: SavedFields): Usage {
  return usageOf(saved.finite("input"), saved.finite("output"), saved.finite("cacheRead"), 0);
}
