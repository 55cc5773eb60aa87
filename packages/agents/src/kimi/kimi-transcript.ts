/**
 * Wire files of Kimi Code in place: records of the events of a conversation, each below the
 * previous one, with undone turns as branches. See docs/agents.md, "Kimi Code". No I/O.
 */
import { basename, dirname } from "node:path";
import type { JsonObject } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import {
  SavedFields,
  answerKey,
  countAt,
  dateMs,
  noUsage,
  objectAt,
  stringAt,
} from "@branchlog/core/rows";
import type { SpentAnswer, Transcript, TranscriptPlace, TranscriptRow } from "@branchlog/core/rows";
import { entryAt, restoreState, savedState, sessionHeader } from "../transcript-entries.ts";
import type { RowFacts } from "../transcript-entries.ts";
import { transcriptId } from "../transcript-id.ts";
import {
  customType,
  isKimiRecord,
  isPrompt,
  isSpoken,
  kimiBody,
  kimiUsage,
  partOf,
  provider,
  saidIn,
} from "./kimi-bodies.ts";

/** What others say again, and what says nothing of the conversation. */
const passedKinds: ReadonlySet<string> = new Set([
  "agent",
  "file_history",
  "full_compaction",
  "llm",
  "notify",
  "permission",
  "plugin",
  "profile",
  "prompt",
  "runtime",
  "token_counting",
  "tools",
  "turn",
]);

const passedTypes: ReadonlySet<string> = new Set([
  "context.clear",
  "context.undo",
  "context.undone",
  "metadata",
  "subagent.started",
]);

/** Where an undo may go: before a prompt. */
interface Anchor {
  readonly line: number;
  readonly before: string | null;
}

/** Bounds the prompts that can be undone. */
const anchorsMax = 65_536;

export class KimiTranscript implements Transcript {
  header: SessionHeader | undefined;
  name: string | undefined;
  isSubagent: boolean;
  tailId: string | null = null;
  repetition: string | undefined;
  readonly #path: string;
  readonly #isEntry: (id: string) => boolean;
  /** The prompts of all branches, in the order of the file. */
  #anchors: Anchor[] = [];
  /** Those of the current branch. */
  #undoable: number[] = [];
  /** The line of an undo that the switch to another branch before it has done. */
  #undoneLine = 0;
  /** Of which the last part of an answer is. */
  #step = "";
  #model = "";
  timeMs = 0;

  constructor(path: string, isEntry: (id: string) => boolean) {
    this.#path = path;
    this.#isEntry = isEntry;
    this.isSubagent = basename(dirname(path)) !== "main" && isWire(path);
  }

  add(record: JsonObject, line: number): readonly TranscriptRow[] {
    this.repetition = undefined;
    // Data before the first known record belongs to no session.
    if (this.header === undefined && !isKimiRecord(record)) return [];
    const timeMs = dateMs(record["time"]) ?? dateMs(record["created_at"]);
    this.timeMs = timeMs ?? this.timeMs;
    this.header ??= this.#headerOf();
    const cwd = stringAt(objectAt(record, "environmentDisclosure"), "cwd");
    if (this.header.cwd === "" && cwd !== undefined) this.header = { ...this.header, cwd };
    const [fact] = this.#factsOf(record, line);
    if (fact === undefined) return [];
    const id = stringAt(objectAt(record, "message"), "id") ?? `line:${line}`;
    if (this.#isEntry(id)) {
      this.repetition = `repeats the id ${id}`;
      return [];
    }
    const parentId = this.tailId;
    this.tailId = id;
    return [{ id, parentId, timeMs: this.timeMs, ...fact }];
  }

  save(): object {
    return {
      ...savedState(this),
      anchors: this.#anchors,
      undoable: this.#undoable,
      undoneLine: this.#undoneLine,
      step: this.#step,
      model: this.#model,
    };
  }

  restore(saved: SavedFields): void {
    restoreState(this, saved);
    this.#anchors = [...saved.list("anchors", anchorsMax, savedAnchor)];
    this.#undoable = [...saved.list("undoable", anchorsMax, savedLine)];
    this.#undoneLine = saved.finite("undoneLine");
    this.#step = saved.text("step");
    this.#model = saved.text("model");
  }

  /** Requests have records of their own. */
  spentBy(): SpentAnswer {
    return { provider, model: this.#model, usage: noUsage };
  }

  entryOf(record: JsonObject, place: TranscriptPlace): JsonObject | undefined {
    const own = stringAt(objectAt(record, "message"), "id");
    const isOwn = own === undefined ? place.id.startsWith("line:") : own === place.id;
    if (!isOwn) return undefined;
    return entryAt(place, kimiBody(record, place, isContinued(record, place)));
  }

  /** Only its path names it: `ID/agents/main/wire.jsonl`. */
  #headerOf(): SessionHeader {
    const agent = dirname(this.#path);
    const session = transcriptId(basename(dirname(dirname(agent))), basename(this.#path));
    const id = this.isSubagent ? `${session}.${basename(agent)}` : session;
    return sessionHeader({
      id: isWire(this.#path) ? id : transcriptId(undefined, basename(this.#path)),
      timeMs: this.timeMs,
      cwd: "",
      parentSession: this.isSubagent ? session : undefined,
    });
  }

  /** At most one. */
  #factsOf(record: JsonObject, line: number): readonly RowFacts[] {
    const type = stringAt(record, "type") ?? "";
    switch (type) {
      case "context.append_message":
        return this.#message(record, line);
      case "context.append_loop_event":
        return this.#event(objectAt(record, "event") ?? {});
      case "context.apply_compaction":
        this.#step = "";
        // An undo does not go back before it.
        this.#undoable = [];
        return [{ type: "compaction" }];
      case "usage.record":
        this.#model = stringAt(record, "model") ?? this.#model;
        return kimiUsage(record).totalTokens === 0 ? [] : [{ type: "usage" }];
      case "context.clear":
        this.tailId = null;
        this.#undoable = [];
        return [];
      case "context.undo":
        if (line !== this.#undoneLine) this.#undo(countAt(record, "count"));
        return [];
      case "agent.switched": {
        const base = objectAt(record, "base");
        this.#goTo(countAt(base, "line") + 1);
        this.#undoneLine = countAt(record, "legacyUndoLine");
        return [];
      }
      case "turn.ended":
        if (stringAt(record, "reason") === "completed") return [];
        return [{ type: "custom", customType: customType(record) }];
      default:
        if (passedKinds.has(type.replace(/\..*$/, "")) || passedTypes.has(type)) return [];
        return [{ type: "custom", customType: customType(record) }];
    }
  }

  #message(record: JsonObject, line: number): readonly RowFacts[] {
    const message = objectAt(record, "message") ?? {};
    this.#step = "";
    const isRepeated = this.#isEntry(stringAt(message, "id") ?? "");
    if (isPrompt(message) && !isRepeated) this.#anchor(line);
    if (isSpoken(message)) return [{ type: "message", role: "user" }];
    if (stringAt(message, "role") === "user") {
      return [{ type: "custom_message", customType: customType(record) }];
    }
    if (stringAt(message, "toolCallId") !== undefined) {
      return [{ type: "message", role: "toolResult" }];
    }
    return saidIn(message).length === 0 ? [] : [{ type: "message", role: "assistant" }];
  }

  #event(event: JsonObject): readonly RowFacts[] {
    if (stringAt(event, "type") === "tool.result") return [{ type: "message", role: "toolResult" }];
    const part = partOf(event);
    if (part === undefined) return [];
    const isContinuation = part.step === this.#step;
    this.#step = part.step;
    const mark = isContinuation ? { customType: answerKey } : {};
    return [{ type: "message", role: "assistant", ...mark }];
  }

  #anchor(line: number): void {
    if (this.#anchors.length >= anchorsMax) this.#anchors.shift();
    this.#anchors.push({ line, before: this.tailId });
    if (this.#undoable.length >= anchorsMax) this.#undoable.shift();
    this.#undoable.push(line);
  }

  #undo(count: number): void {
    const line = this.#undoable.at(-count);
    if (count > 0 && line !== undefined) this.#goTo(line);
  }

  /** Before the entry on this line, or on the next one with a prompt. */
  #goTo(line: number): void {
    const anchor = this.#anchors.find((one) => one.line >= line);
    if (anchor === undefined) return;
    this.tailId = anchor.before;
    this.#undoable = this.#undoable.filter((one) => one < line);
    this.#step = "";
  }
}

function isWire(path: string): boolean {
  return basename(path) === "wire.jsonl" && basename(dirname(dirname(path))) === "agents";
}

/** Whether a part of the same answer is above. Results may lie between. */
function isContinued(record: JsonObject, { above }: TranscriptPlace): boolean {
  const part = partOf(objectAt(record, "event") ?? {});
  if (part === undefined) return false;
  for (const before of above()) {
    const event = objectAt(before, "event");
    if (event === undefined) return false;
    const other = partOf(event);
    if (other !== undefined) return other.step === part.step;
  }
  return false;
}

function savedAnchor(value: unknown): Anchor {
  const saved = new SavedFields(value);
  return { line: saved.finite("line"), before: saved.nullableText("before") };
}

function savedLine(value: unknown): number {
  return new SavedFields({ value }).finite("value");
}
