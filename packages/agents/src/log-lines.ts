/** The lines of a log that is made of a document; each entry is the parent of the next. */
import type { SessionHeader } from "@branchlog/core";
import { normalizeName } from "@branchlog/core/entries";
import { dateMs, encodeHeader } from "@branchlog/core/rows";
import { decodeLine } from "@branchlog/streaming";
import type { Body } from "./entry-bodies.ts";
import { sessionHeader } from "./transcript-entries.ts";

/** The facts of a session in one row of a database. */
export interface SessionRow {
  readonly id: string;
  /** Whose subagent it is. */
  readonly parentId: string | undefined;
  readonly directory: string;
  readonly name: string | undefined;
  readonly createdMs: number;
}

export function headerOf({ id, parentId, directory: cwd, createdMs }: SessionRow): SessionHeader {
  return sessionHeader({ id, timeMs: dateMs(createdMs) ?? 0, cwd, parentSession: parentId });
}

const newline = 10;

export class LogLines {
  readonly all: string[] = [];
  lastId: string | null = null;
  timestamp: string;
  /** In force, as `provider/id`. */
  model = "";

  constructor(timestamp: string) {
    this.timestamp = timestamp;
  }

  add(id: string, { type, ...rest }: Body): void {
    const { lastId: parentId, timestamp } = this;
    this.all.push(JSON.stringify({ type, id, parentId, timestamp, ...rest }));
    this.lastId = id;
  }

  addName(given: string | undefined): void {
    const name = normalizeName(given ?? "");
    if (name !== "") this.add("title", { type: "session_info", name });
  }

  log(header: SessionHeader): Buffer {
    const first = encodeHeader(header);
    const lengths = this.all.map((line) => Buffer.byteLength(line) + 1);
    const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length, first.length));
    let end = first.copy(bytes);
    // Joined as a text, a long session would be in memory twice more.
    for (const line of this.all) {
      end += bytes.write(line, end);
      bytes[end] = newline;
      end += 1;
    }
    return bytes;
  }

  /** A line that is not a record is a diagnostic of the log. */
  addDamaged(text: string): void {
    const line = text.replace(/[\r\n]+/g, " ").trim();
    // Text that is JSON would become an entry.
    this.all.push(line === "" || decodeLine(Buffer.from(line)).ok ? `{${line}` : line);
  }

  /** An entry, if it is another model than before. */
  addModel(id: string, provider: string | undefined, modelId: string | undefined): void {
    if (provider === undefined || modelId === undefined) return;
    if (this.model === `${provider}/${modelId}`) return;
    this.model = `${provider}/${modelId}`;
    this.add(`${id}:model`, { type: "model_change", provider, modelId });
  }
}
