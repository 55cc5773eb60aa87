/** An agent of tests: JSON lines that form a tree. All that a new agent needs is in this folder. */
import { join } from "node:path";
import type { JsonObject } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import {
  countAt,
  currentVersion,
  savedHeader,
  stringAt,
  timeText,
  usageOf,
} from "@branchlog/core/rows";
import type {
  Agent,
  SavedFields,
  Transcript,
  TranscriptPlace,
  SpentAnswer,
  TranscriptRow,
} from "@branchlog/core/rows";

export const toy: Agent = {
  name: "toy",
  product: "Toy",
  places: () => [join(process.env["TOY_HOME"] ?? "/nonexistent", "talks")],
  resume: ({ id }) => ["toy", "--again", id],
  transcripts: {
    agent: "toy",
    noun: "a talk of Toy",
    recognises: (record) =>
      typeof record["talk"] === "string" || (typeof record["key"] === "string" && "says" in record),
    version: 1,
    presumed: { says: "" },
    firstKeys: ["talk", "key"],
    read: (_path, isEntry) => new ToyTranscript(isEntry),
    subagentNames: { pattern: /^helper-/, place: "beside" },
    identity: () => undefined,
  },
};

/** `{talk, cwd, at}`, then `{key, under, at, who, says, as, took, gave}`. */
class ToyTranscript implements Transcript {
  header: SessionHeader | undefined;
  name: string | undefined;
  readonly isSubagent = false;
  tailId: string | null = null;
  repetition: string | undefined;
  readonly #isEntry: (id: string) => boolean;

  constructor(isEntry: (id: string) => boolean) {
    this.#isEntry = isEntry;
  }

  add(record: JsonObject): readonly TranscriptRow[] {
    const timeMs = Date.parse(stringAt(record, "at") ?? "");
    const id = stringAt(record, "talk");
    if (id !== undefined) {
      const cwd = stringAt(record, "cwd") ?? "";
      this.header ??= {
        type: "session",
        version: currentVersion,
        id,
        timestamp: timeText(timeMs),
        cwd,
      };
      this.name = stringAt(record, "title") ?? this.name;
      return [];
    }
    const key = stringAt(record, "key");
    this.repetition = undefined;
    if (key === undefined || stringAt(record, "says") === undefined) return [];
    if (this.#isEntry(key)) {
      this.repetition = `repeats the key ${key}`;
      return [];
    }
    this.tailId = key;
    const role = stringAt(record, "who") === "me" ? "user" : "assistant";
    return [
      { id: key, parentId: stringAt(record, "under") ?? null, type: "message", role, timeMs },
    ];
  }

  save(): object {
    return { header: this.header, name: this.name, tailId: this.tailId };
  }

  restore(saved: SavedFields): void {
    this.header = savedHeader(saved);
    this.name = saved.optionalText("name");
    this.tailId = saved.nullableText("tailId");
  }

  spentBy(record: JsonObject): SpentAnswer {
    return spentIn(record);
  }

  entryOf(record: JsonObject, place: TranscriptPlace): JsonObject | undefined {
    const { id, parentId, timestamp } = place;
    const says = stringAt(record, "says");
    if (stringAt(record, "key") !== id || says === undefined) return undefined;
    const content = [{ type: "text", text: says }];
    const said = { content, timestamp: Date.parse(timestamp) };
    const isMine = stringAt(record, "who") === "me";
    const message = isMine ? { role: "user", ...said } : { ...answerOf(record), ...said };
    return { type: "message", id, parentId, timestamp, message };
  }
}

function answerOf(record: JsonObject): object {
  return { role: "assistant", api: "toy", ...spentIn(record), stopReason: "stop" };
}

function spentIn(record: JsonObject): SpentAnswer {
  const model = stringAt(record, "as") ?? "toy-1";
  const usage = usageOf(countAt(record, "took"), countAt(record, "gave"), 0, 0);
  return { provider: "toy", model, usage };
}
