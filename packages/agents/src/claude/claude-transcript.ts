/**
 * Claude Code's transcripts in place: a record is an entry under its own uuid. Blocks of one answer
 * are separate records and entries. See docs/formats.md, "In place". No I/O.
 */
import type { JsonObject } from "@branchlog/streaming";
import { normalizeName } from "@branchlog/core/entries";
import { countAt, objectAt, stringAt } from "@branchlog/core/rows";
import { answerKey } from "@branchlog/core/rows";
import type { SessionHeader } from "@branchlog/core";
import {
  SavedFields,
  malformed,
  savedList,
  savedPair,
  savedText,
  wholeNumber,
} from "@branchlog/core/rows";
import { claudeEntry, claudeSpent, cutMark, preservedIds } from "./claude-bodies.ts";
import { claudeText, taskDigest } from "./claude-content.ts";
import type { AnswerPart, UserPart } from "./claude-content.ts";
import { isNote, queueType, readRecord } from "./claude-record.ts";
import type { ReadRecord } from "./claude-record.ts";
import { QueuedPrompts } from "./queued-prompts.ts";
import { currentVersion } from "@branchlog/core/rows";
import { RecentMap } from "./recent-map.ts";
import { savedHeader, timeText } from "@branchlog/core/rows";
import { transcriptId } from "../transcript-id.ts";
import type { SpentAnswer, Transcript, TranscriptPlace, TranscriptRow } from "@branchlog/core/rows";

/** Bounds the answers that wait for results, and the tasks that wait for subagents. */
const recentMax = 512;
const summariesMax = 1_000;
/** Messages before a compaction among which it can cut. */
const shownMax = 16_384;

/** Of a subagent that no user asked for. */
const compactionName = /^agent-acompact-/;

/** Records outside of the conversation: their children get their parent. */
const passedTypes: ReadonlySet<string> = new Set(["progress"]);

/** An answer with the results of its calls, as one chain. */
interface AnswerChain {
  readonly answerId: string | undefined;
  tailId: string;
  openCalls: readonly string[];
  /** Those with its usage, by the model with the most output. */
  readonly parts: string[];
  model: string | undefined;
  output: number;
}

function newChain(answerId: string | undefined, id: string): AnswerChain {
  return { answerId, tailId: id, openCalls: [], parts: [], model: undefined, output: 0 };
}

interface Compaction {
  readonly preserved: ReadonlySet<string>;
  /** Whether all that is kept is listed. */
  readonly isList: boolean;
  readonly summaryId?: string;
}

export class ClaudeTranscript implements Transcript {
  #header: SessionHeader | undefined;
  #hasRows = false;
  isSubagent = false;
  repetition: string | undefined;
  readonly #fileName: string;
  readonly #isEntry: (id: string) => boolean;
  /** Replacements for records that are not entries, by their ids. */
  readonly #standsFor = new Map<string, string | null>();
  readonly #chains = new RecentMap<AnswerChain>(recentMax);
  /** Entries that call a subagent, by a digest of its task. */
  readonly #tasks = new RecentMap<string>(recentMax);
  #mainTail: string | null = null;
  #sideTail: string | null = null;
  #timeMs = 0;
  #startMs: number | undefined;
  /** The models that took over answers, by the ids of earlier records of these. */
  readonly #replaced = new Map<string, string>();
  /** Records that were repeated since the last message. */
  readonly #copied = new Set<string>();
  /** The entries kept by the last compaction, and its entry once it exists. */
  #compaction: Compaction = { preserved: new Set(), isList: false };
  /** Messages of the session since its last compaction, and those that it kept. */
  #shown: string[] = [];
  readonly #queued = new QueuedPrompts();
  readonly #titles: { user?: string | undefined; model?: string | undefined } = {};
  readonly #summaries: { readonly leafId: string; readonly name: string }[] = [];

  constructor(fileName: string, isEntry: (id: string) => boolean) {
    this.#fileName = fileName;
    this.#isEntry = isEntry;
  }

  /** A file with only titles is not a session. */
  get header(): SessionHeader | undefined {
    return this.#hasRows ? this.#header : undefined;
  }

  /**
   * A title by the user counts before one by a model, and that before the last summary of this
   * session; most summaries are of others.
   */
  get name(): string | undefined {
    if (compactionName.test(this.#fileName)) return "compaction";
    const { user, model } = this.#titles;
    const summary = this.#summaries.findLast(({ leafId }) => this.#knows(leafId));
    return user ?? model ?? summary?.name;
  }

  get tailId(): string | null {
    return this.#mainTail ?? this.#sideTail;
  }

  add(record: JsonObject, line: number): readonly TranscriptRow[] {
    this.repetition = undefined;
    const timeMs = Date.parse(stringAt(record, "timestamp") ?? "");
    if (!Number.isNaN(timeMs)) {
      this.#startMs ??= timeMs;
      this.#timeMs = timeMs;
    }
    this.#readHeader(record);
    const uuid = stringAt(record, "uuid");
    if (uuid !== undefined && this.#knows(uuid)) {
      this.repetition = `repeats the record ${uuid}`;
      this.#copied.add(uuid);
      return [];
    }
    const read = readRecord(record, uuid, line);
    const { id, said } = read;
    this.#readCompaction(read);
    if (uuid === undefined && said === undefined) {
      this.#readTitle(read);
      return [];
    }
    if (passedTypes.has(read.type) || said?.isEmpty === true) {
      this.#standsFor.set(id, this.#parentOf(read));
      return [];
    }
    const saidBy = this.#queuedAs(read);
    const isLeft = saidBy !== undefined && said?.kind === "speech" && said.hasImage;
    if (saidBy !== undefined && !isLeft) {
      this.#standsFor.set(id, saidBy);
      return [];
    }
    const rows = this.#rowsOf(read);
    this.#hasRows ||= rows.length > 0;
    // To clear a set allocates, even if it is empty.
    if (this.#copied.size > 0 && !isNote(said)) this.#copied.clear();
    if (read.isSide) this.#sideTail = id;
    else {
      this.#mainTail = id;
      for (const row of rows) if (row.type.endsWith("message")) this.#shown.push(row.id);
      if (this.#shown.length > 2 * shownMax) this.#shown = this.#shown.slice(-shownMax);
    }
    return isLeft ? rows.map((row) => (row.role === "user" ? asImage(row) : row)) : rows;
  }

  /** The entry of the queue that already has it. */
  #queuedAs({ said, id, isSide, type }: ReadRecord): string | undefined {
    if (isSide || said === undefined) return undefined;
    const isQueued = said.kind === "speech" && type !== "user";
    if (isQueued) return this.#queued.take(said.text, id, type === queueType);
    // A typed prompt, or an answer, follows all queued prompts.
    if (said.kind === "answer" || said.text !== "") this.#queued.clear();
    return undefined;
  }

  save(): object {
    const numbers = new Map<AnswerChain, number>();
    const numberOf = (chain: AnswerChain): number => {
      const number = numbers.get(chain) ?? numbers.size;
      numbers.set(chain, number);
      return number;
    };
    const halves = this.#chains.save();
    return {
      header: this.header,
      isSubagent: this.isSubagent,
      standsFor: [...this.#standsFor],
      chainNumbers: halves.map((half) => half.map(([id, chain]) => [id, numberOf(chain)])),
      chains: [...numbers.keys()],
      tasks: this.#tasks.save(),
      mainTail: this.#mainTail,
      sideTail: this.#sideTail,
      timeMs: this.#timeMs,
      startMs: this.#startMs,
      queued: this.#queued.save(),
      replaced: [...this.#replaced],
      copied: [...this.#copied],
      preserved: [...this.#compaction.preserved],
      isList: this.#compaction.isList,
      summaryId: this.#compaction.summaryId,
      shown: this.#shown,
      titles: this.#titles,
      summaries: this.#summaries.map(({ leafId, name }) => [leafId, name]),
    };
  }

  restore(saved: SavedFields): void {
    this.#header = savedHeader(saved);
    this.#hasRows = this.#header !== undefined;
    this.isSubagent = saved.flag("isSubagent");
    const idOrNull = (value: unknown): string | null => (value === null ? null : savedText(value));
    for (const [id, target] of saved.pairs("standsFor", Infinity, idOrNull)) {
      this.#standsFor.set(id, target);
    }
    const chains = saved.list("chains", 2 * recentMax, savedChain);
    restoreRecent(this.#chains, saved, "chainNumbers", (value) => {
      const chain = chains[wholeNumber(value, 0, chains.length - 1)];
      if (chain === undefined) throw malformed("answer");
      return chain;
    });
    restoreRecent(this.#tasks, saved, "tasks", savedText);
    this.#mainTail = saved.nullableText("mainTail");
    this.#sideTail = saved.nullableText("sideTail");
    this.#timeMs = saved.dateMs("timeMs");
    this.#startMs = saved.optionalDateMs("startMs");
    this.#queued.restore(saved.fields("queued"));
    for (const [id, model] of saved.pairs("replaced", Infinity, savedText)) {
      this.#replaced.set(id, model);
    }
    for (const id of saved.list("copied", Infinity, savedText)) this.#copied.add(id);
    const summaryId = saved.optionalText("summaryId");
    const preserved = new Set(saved.list("preserved", Infinity, savedText));
    const isList = saved.flag("isList");
    this.#compaction = { preserved, isList, ...(summaryId === undefined ? {} : { summaryId }) };
    this.#shown = saved.list("shown", Infinity, savedText);
    const titles = saved.fields("titles");
    this.#titles.user = titles.optionalText("user");
    this.#titles.model = titles.optionalText("model");
    for (const [leafId, name] of saved.pairs("summaries", summariesMax, savedText)) {
      this.#summaries.push({ leafId, name });
    }
  }

  spentBy(record: JsonObject, id: string): SpentAnswer {
    return claudeSpent(record, id);
  }

  entryOf(record: JsonObject, place: TranscriptPlace): JsonObject | undefined {
    return claudeEntry(record, place, this.#replaced.get(baseOf(place.id)));
  }

  #knows(id: string): boolean {
    return this.#isEntry(id) || this.#standsFor.has(id);
  }

  /** A subagent's header names the session of its call, a fork's the one that it is a copy of. */
  #readHeader(record: JsonObject): void {
    const sessionId = stringAt(record, "sessionId");
    if (sessionId === undefined) return;
    const isMoved = stringAt(record, "type") === "relocated";
    const cwd = stringAt(record, isMoved ? "relocatedCwd" : "cwd") ?? "";
    if (this.#header !== undefined && this.#header.cwd !== "") {
      if (isMoved && cwd !== "") this.#header = { ...this.#header, cwd };
      return;
    }
    const agentId = record["isSidechain"] === true ? stringAt(record, "agentId") : undefined;
    const sourceId = agentId === undefined ? sessionId : `${sessionId}.${agentId}`;
    this.isSubagent = agentId !== undefined;
    const origin = stringAt(objectAt(record, "forkedFrom"), "sessionId");
    const parentSession = this.isSubagent ? sessionId : origin;
    this.#header = {
      type: "session",
      version: currentVersion,
      id: this.#header?.id ?? transcriptId(sourceId, this.#fileName, true),
      timestamp: timeText(this.#startMs ?? this.#timeMs),
      cwd,
      ...(parentSession === undefined ? {} : { parentSession }),
    };
  }

  #readTitle({ record, type }: ReadRecord): void {
    const nameAt = (key: string): string | undefined =>
      normalizeName(stringAt(record, key) ?? "") || undefined;
    if (type === "custom-title") this.#titles.user = nameAt("customTitle") ?? this.#titles.user;
    if (type === "ai-title") this.#titles.model = nameAt("aiTitle") ?? this.#titles.model;
    const [leafId, name] = [stringAt(record, "leafUuid"), nameAt("summary")];
    if (type !== "summary" || leafId === undefined || name === undefined) return;
    if (this.#summaries.length >= summariesMax) this.#summaries.shift();
    this.#summaries.push({ leafId, name });
  }

  #rowsOf(read: ReadRecord): readonly TranscriptRow[] {
    const { type, id, said } = read;
    const timeMs = this.#timeMs;
    const named = this.#placeOf(read);
    if (said?.kind === "answer") return this.#answerRows(read, said.parts, named);
    const isSummary = type === "user" && read.isSummary;
    if (type !== "user" || isSummary) this.#follow(named, id);
    if (said !== undefined && !isSummary) return this.#userRows(read, said.parts, named);
    // Without a boundary, a summary replaces the conversation before it.
    if (isSummary) {
      const parentId = named ?? this.#before(read);
      return [{ id, parentId, type: "compaction", timeMs }];
    }
    const rows: TranscriptRow[] = [];
    let parentId = named;
    for (const cut of read.isBoundary ? this.#takeCut() : []) {
      const editId = `${id}${cutMark}${cut}`;
      rows.push({ id: editId, parentId, type: "context_edit", timeMs });
      parentId = editId;
    }
    return [...rows, { id, parentId, type: "custom", customType: `claude.${type}`, timeMs }];
  }

  #answerRows(
    read: ReadRecord,
    parts: readonly AnswerPart[],
    named: string | null,
  ): readonly TranscriptRow[] {
    const { id, message } = read;
    const answerId = stringAt(message, "id");
    const before = named === null ? undefined : this.#chains.get(named);
    const isContinued = answerId !== undefined && before?.answerId === answerId;
    const chain = isContinued ? before : newChain(answerId, id);
    this.#spend(chain, message, id);
    const start = this.#startAt(read, isContinued ? before.tailId : named);
    chain.tailId = id;
    this.#chains.set(id, chain);
    for (const part of parts) {
      for (const block of part.kind === "answer" ? part.content : []) {
        if (block.type !== "toolCall") continue;
        chain.openCalls = [...chain.openCalls, block.id];
        const task = block.arguments["prompt"];
        if (typeof task === "string") this.#tasks.set(taskDigest(task), id);
      }
    }
    const timeMs = this.#timeMs;
    const rows: TranscriptRow[] = [...start.rows];
    let { parentId } = start;
    let continued = isContinued;
    for (const [at, { kind }] of parts.slice(0, -1).entries()) {
      const partId = `${id}#${at}`;
      const isResult = kind === "result";
      const role = isResult ? "toolResult" : "assistant";
      const mark = continued && !isResult ? { customType: answerKey } : {};
      rows.push({ id: partId, parentId, type: "message", role, ...mark, timeMs });
      continued ||= !isResult;
      parentId = partId;
    }
    const mark = continued ? { customType: answerKey } : {};
    return [...rows, { id, parentId, type: "message", role: "assistant", ...mark, timeMs }];
  }

  /** If another model takes over an answer, its earlier parts have no usage of their own. */
  #spend(chain: AnswerChain, message: JsonObject | undefined, id: string): void {
    const model = stringAt(message, "model");
    const output = countAt(objectAt(message, "usage"), "output_tokens");
    if (chain.parts.length > 0 && model !== chain.model) {
      if (output <= chain.output) return;
      for (const part of chain.parts) this.#replaced.set(part, model ?? "");
    }
    chain.parts.push(id);
    chain.model = model;
    chain.output = Math.max(chain.output, output);
  }

  /** Results of concurrent calls are siblings in the file; here they form a chain. */
  #userRows(
    read: ReadRecord,
    parts: readonly UserPart[],
    named: string | null,
  ): readonly TranscriptRow[] {
    const { id } = read;
    const timeMs = this.#timeMs;
    const chain = named === null ? undefined : this.#chains.get(named);
    const calls = parts.flatMap((part) => (part.kind === "result" ? [part.callId] : []));
    const isResult = chain !== undefined && calls.some((call) => chain.openCalls.includes(call));
    if (isResult) chain.openCalls = chain.openCalls.filter((call) => !calls.includes(call));
    const start = this.#startAt(read, isResult ? chain.tailId : named);
    const rows: TranscriptRow[] = [...start.rows];
    let { parentId } = start;
    for (const [at, part] of parts.slice(0, -1).entries()) {
      const partId = `${id}#${at}`;
      rows.push({ id: partId, parentId, ...kindOfPart(part), timeMs });
      parentId = partId;
    }
    const last = parts.at(-1);
    const kind = last === undefined ? nothingSaid : kindOfPart(last);
    rows.push({ id, parentId, ...kind, timeMs });
    if (isResult) {
      chain.tailId = id;
      this.#chains.set(id, chain);
    }
    return rows;
  }

  /** In the file of its session, a subagent is below its call, with its own context. */
  #startAt({ id, message, isSide }: ReadRecord, named: string | null): Start {
    const task = isSide && named === null ? claudeText(message?.["content"]) : undefined;
    const callerId = task === undefined ? undefined : this.#tasks.get(taskDigest(task));
    if (callerId === undefined) return { rows: [], parentId: named };
    const parentId = `${id}#task`;
    const boundary = { id: parentId, parentId: callerId, type: "reset_boundary" };
    return { rows: [{ ...boundary, timeMs: this.#timeMs }], parentId };
  }

  /**
   * After a compaction boundary, the parent is the logical one. Records of the agent below a copy
   * of an earlier record, and boundaries below one that is missing, are after the last entry: at
   * their parent, the conversation between would be lost.
   */
  #parentOf(read: ReadRecord): string | null {
    const { record, uuid, said, isBoundary } = read;
    const logical = isBoundary ? stringAt(record, "logicalParentUuid") : undefined;
    const named = logical ?? stringAt(record, "parentUuid");
    if (named === undefined) {
      return uuid === undefined || isBoundary ? this.#before(read) : null;
    }
    const isAstray = isBoundary && !this.#knows(named);
    const isOfCopy = this.#copied.has(named) && isNote(said);
    if (isAstray || isOfCopy) return this.#before(read);
    const found = this.#standsFor.get(named);
    const parent = found === undefined ? named : found;
    const { summaryId, preserved } = this.#compaction;
    const isAround = summaryId !== undefined && summaryId !== uuid && preserved.has(parent ?? "");
    return isAround ? summaryId : parent;
  }

  /** Messages between those that a compaction lists, which it does not keep. */
  #takeCut(): readonly string[] {
    const { preserved } = this.#compaction;
    const kept = new Set([...preserved].map((id) => this.#standsFor.get(id) ?? id));
    const isKept = (id: string): boolean => kept.has(baseOf(id)) || id.startsWith("line:");
    const first = this.#shown.findIndex((id) => kept.has(baseOf(id)));
    const shown = first === -1 || !this.#compaction.isList ? [] : this.#shown.slice(first);
    this.#shown = shown.filter((id) => isKept(id));
    return shown.filter((id) => !isKept(id));
  }

  /** Entries kept by a compaction follow its summary, as do entries after one of those. */
  #readCompaction({ record, uuid, isBoundary, isSummary }: ReadRecord): void {
    if (isBoundary) {
      const preserved = new Set(preservedIds(objectAt(record, "compactMetadata")));
      const last = stringAt(record, "logicalParentUuid");
      if (preserved.size > 0 && last !== undefined) preserved.add(last);
      const isList = objectAt(objectAt(record, "compactMetadata"), "preservedMessages");
      this.#compaction = { preserved, isList: isList !== undefined };
    } else if (isSummary && uuid !== undefined) {
      this.#compaction = { ...this.#compaction, summaryId: uuid };
    }
  }

  /** Queued prompts come before other entries after the entry that they follow. */
  #placeOf(read: ReadRecord): string | null {
    if (read.type === queueType) {
      this.#queued.insert(this.tailId, read.id);
      return this.tailId;
    }
    const parent = this.#parentOf(read);
    if (!this.#queued.isBehind(parent)) return parent;
    const answerId = stringAt(read.message, "id");
    const above = parent === null ? undefined : this.#chains.get(parent)?.answerId;
    const isWithin = answerId !== undefined && answerId === above;
    return isWithin || read.isSide ? parent : this.#queued.below(parent);
  }

  #before({ isSide }: ReadRecord): string | null {
    return isSide ? this.#sideTail : this.#mainTail;
  }

  /** A note after an answer comes before later results. */
  #follow(parentId: string | null, id: string): void {
    const chain = parentId === null ? undefined : this.#chains.get(parentId);
    if (chain === undefined || chain.tailId !== parentId) return;
    chain.tailId = id;
    this.#chains.set(id, chain);
  }
}

function savedChain(value: unknown): AnswerChain {
  const saved = new SavedFields(value);
  return {
    answerId: saved.optionalText("answerId"),
    tailId: saved.text("tailId"),
    openCalls: saved.list("openCalls", Infinity, savedText),
    parts: saved.list("parts", Infinity, savedText),
    model: saved.optionalText("model"),
    output: saved.finite("output"),
  };
}

function restoreRecent<T>(
  map: RecentMap<T>,
  saved: SavedFields,
  key: string,
  read: (value: unknown) => T,
): void {
  const halves = saved.list(key, 2, (half) =>
    savedList(half, recentMax).map((pair) => savedPair(pair, read)),
  );
  map.restore(halves[0] ?? [], halves[1] ?? []);
}

interface Start {
  readonly rows: readonly TranscriptRow[];
  readonly parentId: string | null;
}

const nothingSaid: Pick<TranscriptRow, "type" | "customType"> = {
  type: "custom",
  customType: "claude.user",
};

function kindOfPart({ kind }: UserPart): Pick<TranscriptRow, "type" | "role" | "customType"> {
  if (kind === "typed") return { type: "message", role: "user" };
  if (kind === "result") return { type: "message", role: "toolResult" };
  return { type: "custom_message", customType: `claude.${kind}` };
}

/** The id of a record, of that of one of its entries. */
function baseOf(id: string): string {
  return id.replace(/#.*$/s, "");
}

function asImage({ id, parentId, timeMs }: TranscriptRow): TranscriptRow {
  return { id, parentId, type: "custom_message", customType: "claude.image", timeMs };
}
