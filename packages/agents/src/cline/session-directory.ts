/**
 * The directory of a session of Cline: its messages, its facts, and its subagents; or of a task of
 * the VS Code extension.
 */
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { JsonValue } from "@branchlog/streaming";
import { othersBelow } from "../files-below.ts";

const taskName = "api_conversation_history.json";
/** Of a task, or of a session. */
const directoryName = /^\d{13}(?:_\w+)?$/;

/** Whether it is of a task, by its name. */
export function isTask(path: string): boolean {
  return basename(path) === taskName;
}

/** Next to the messages of a session, and of its subagents. */
export function manifestOf(path: string): string {
  const directory = dirname(path);
  return join(directory, `${basename(directory)}.json`);
}

/** The files that a session is made of, its own first. */
export function filesOf(path: string): readonly string[] {
  if (!isTask(path)) {
    const compaction = path.replace(/\.messages\.json$/, ".compaction.json");
    return [path, manifestOf(path), compaction];
  }
  const beside = ["ui_messages.json", "task_metadata.json"];
  return [path, ...beside.map((name) => join(dirname(path), name))];
}

/** All else in the directory of a session is of that session. */
export function belongings(path: string): readonly string[] {
  const directory = dirname(path);
  const isOwn = isTask(path) || basename(path) === `${basename(directory)}.messages.json`;
  return isOwn ? othersBelow(directory, directoryName, path) : [];
}

/** Undefined for a missing, damaged or unreadable file. */
export function jsonBeside(path: string): JsonValue | undefined {
  try {
    // Decoding boundary: JSON.parse returns only JSON values.
    return JSON.parse(readFileSync(path, "utf8")) as JsonValue;
  } catch {
    return undefined;
  }
}
