/**
 * The files that a part of a session read and changed, as summaries store them in their `details`:
 * from calls of the tools read, write and edit, and from earlier summaries. Pure.
 */
import type { AgentMessage, SessionEntry } from "@branchlog/core";
import { isStoredObject, storedList } from "@branchlog/core/rows";

/** Paths as given to the tools; each list sorted by code units and free of duplicates. */
export interface FileOperations {
  /** Read and not changed. */
  readonly readFiles: readonly string[];
  readonly modifiedFiles: readonly string[];
}

interface Collected {
  readonly read: Set<string>;
  readonly modified: Set<string>;
}

/**
 * Entries in any order. Summaries of an extension (`fromHook`) do not count, because their details
 * may mean anything. Linear, plus the sorting.
 */
export function fileOperations(entries: Iterable<SessionEntry>): FileOperations {
  const collected: Collected = { read: new Set(), modified: new Set() };
  for (const entry of entries) collectEntry(entry, collected);
  return {
    readFiles: [...collected.read].filter((path) => !collected.modified.has(path)).sort(),
    modifiedFiles: [...collected.modified].sort(),
  };
}

function collectEntry(entry: SessionEntry, collected: Collected): void {
  if (entry.type === "message") {
    for (const call of toolCalls(entry.message)) collectCall(call, collected);
  } else if (entry.type === "compaction" || entry.type === "branch_summary") {
    if (!entry.fromHook) collectDetails(entry.details, collected);
  }
}

function toolCalls(message: AgentMessage): readonly unknown[] {
  if (!isStoredObject(message)) return [];
  if (message.role === "assistant") return storedList(message.content).filter(isToolCall);
  if (message.role !== "toolResult") return [];
  const nested = message.nestedCalls;
  return isStoredObject(nested) && "calls" in nested ? storedList(nested.calls) : [];
}

function isToolCall(block: unknown): boolean {
  return isStoredObject(block) && "type" in block && block.type === "toolCall";
}

function collectCall(call: unknown, { read, modified }: Collected): void {
  if (!isStoredObject(call) || !("name" in call) || !("arguments" in call)) return;
  const given = call.arguments;
  const path: unknown = isStoredObject(given) && "path" in given ? given.path : undefined;
  if (typeof path !== "string" || path === "") return;
  if (call.name === "read") read.add(path);
  else if (call.name === "write" || call.name === "edit") modified.add(path);
}

function collectDetails(details: unknown, { read, modified }: Collected): void {
  if (!isStoredObject(details)) return;
  if ("readFiles" in details) addPaths(read, details.readFiles);
  if ("modifiedFiles" in details) addPaths(modified, details.modifiedFiles);
}

function addPaths(paths: Set<string>, stored: unknown): void {
  for (const path of storedList(stored)) {
    if (typeof path === "string") paths.add(path);
  }
}
