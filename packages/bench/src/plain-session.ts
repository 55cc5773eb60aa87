/**
 * Sessions without an engine: how one is written and read line by line, and how a tree is walked.
 * The baselines of cases, and what their checks are made of.
 */
import { deepStrictEqual } from "node:assert";
import { closeSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";

export interface PlainEntry {
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
}

export interface PlainSession {
  readonly entries: readonly PlainEntry[];
  readonly byId: ReadonlyMap<string, PlainEntry>;
}

export interface TreeNode {
  readonly children: readonly TreeNode[];
}

export interface SmallMessage {
  readonly role: "user";
  readonly content: string;
  readonly timestamp: number;
}

export const plainHeader: string = '{"type":"session","version":3,"id":"plain"}\n';

/** About 200 bytes as an entry. */
export function smallMessage(i: number): SmallMessage {
  return { role: "user", content: `Please look at file number ${i} next.`, timestamp: i };
}

/** Entry `i` of a chain of such messages. */
export function plainLine(i: number, timestamp: string = new Date().toISOString()): string {
  const parentId = i === 0 ? null : idOf(i - 1);
  const entry = { type: "message", id: idOf(i), parentId, timestamp, message: smallMessage(i) };
  return `${JSON.stringify(entry)}\n`;
}

export function idOf(i: number): string {
  return i.toString(16).padStart(8, "0");
}

export function readPlainly(path: string): PlainSession {
  const entries: PlainEntry[] = [];
  const byId = new Map<string, PlainEntry>();
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for (const chunk of chunksOf(path)) {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      // Decoding boundary: made by the generator, or by a subject.
      const entry = JSON.parse(line) as PlainEntry;
      // The header, and the line that omp writes before it.
      if (entry.type === "session" || entry.type === "title") continue;
      entries.push(entry);
      byId.set(entry.id, entry);
    }
  }
  return { entries, byId };
}

/** Each chunk is overwritten by the next. */
export function* chunksOf(path: string): Generator<Buffer> {
  const descriptor = openSync(path, "r");
  const chunk = Buffer.allocUnsafe(1 << 20);
  try {
    for (let length = 1; length > 0;) {
      length = readSync(descriptor, chunk);
      if (length > 0) yield chunk.subarray(0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Throws unless the log holds so many entries, each the child of the one before. */
export function checkChain(path: string, length: number): void {
  const { entries } = readPlainly(path);
  deepStrictEqual(entries.length, length);
  const parents = entries.map(({ parentId }) => parentId);
  deepStrictEqual(parents, [null, ...entries.slice(0, -1).map(({ id }) => id)]);
}

/** Counts the nodes of a tree, however deep. */
export function countFrom<Node>(
  roots: readonly Node[],
  children: (node: Node) => readonly Node[],
): number {
  const pending = [...roots];
  let count = 0;
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    count += 1;
    for (const child of children(node)) pending.push(child);
  }
  return count;
}

export function countNodes(roots: readonly TreeNode[]): number {
  return countFrom(roots, ({ children }) => children);
}
