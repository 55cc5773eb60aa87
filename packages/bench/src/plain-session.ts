/** Sessions without an engine, for baselines and checks. */
import { deepStrictEqual } from "node:assert";
import { closeSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";

export interface PlainEntry {
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
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

export function smallMessage(i: number): SmallMessage {
  return { role: "user", content: `Please look at file number ${i} next.`, timestamp: i };
}

export function plainLine(i: number, timestamp: string = new Date().toISOString()): string {
  const parentId = i === 0 ? null : idOf(i - 1);
  const entry = { type: "message", id: idOf(i), parentId, timestamp, message: smallMessage(i) };
  return `${JSON.stringify(entry)}\n`;
}

export function idOf(i: number): string {
  return i.toString(16).padStart(8, "0");
}

export function readPlainly(path: string): readonly PlainEntry[] {
  const entries: PlainEntry[] = [];
  const decoder = new StringDecoder("utf8");
  const descriptor = openSync(path, "r");
  const chunk = Buffer.allocUnsafe(1 << 20);
  let rest = "";
  for (let length = 1; length > 0;) {
    length = readSync(descriptor, chunk);
    const lines = (rest + decoder.write(chunk.subarray(0, length))).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      // Decoding boundary: made by the generator, or by a subject.
      const entry = JSON.parse(line) as PlainEntry;
      // The header, and the line that omp writes before it.
      if (entry.type !== "session" && entry.type !== "title") entries.push(entry);
    }
  }
  closeSync(descriptor);
  return entries;
}

export function checkChain(path: string, length: number): void {
  const entries = readPlainly(path);
  deepStrictEqual(entries.length, length);
  const parents = entries.map(({ parentId }) => parentId);
  deepStrictEqual(parents, [null, ...entries.slice(0, -1).map(({ id }) => id)]);
}

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
