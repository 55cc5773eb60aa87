/** Short ways to write session files in the tests of lists, in pi's key order. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { linesOf } from "../../core/copies/session-files.ts";

/** When every session of these tests began, unless a test says otherwise. */
export const startTime = "2025-06-03T09:00:00.000Z";
export const startMs: number = Date.parse(startTime);

export function header(fields: object = {}): object {
  return { type: "session", version: 3, id: "s1", timestamp: startTime, cwd: "/work", ...fields };
}

let entries = 0;

export function entry(type: string, fields: object, timestamp: string = startTime): object {
  entries += 1;
  const id = entries.toString(16).padStart(8, "0");
  return { type, id, parentId: null, timestamp, ...fields };
}

export function message(role: string, content: unknown, fields: object = {}): object {
  return entry("message", { message: { role, content, ...fields } });
}

export function user(content: unknown, timestamp: unknown = startMs + 1): object {
  return message("user", content, { timestamp });
}

/** As pi writes it: stopReason and timestamp are the last keys. */
export function assistant(content: unknown, timestamp: unknown = startMs + 2): object {
  const tokens = { input: 3, output: 5, cacheRead: 7, cacheWrite: 11, totalTokens: 26 };
  const usage = { ...tokens, cost: { input: 0.25, output: 0.5, total: 0.75 } };
  const model = { api: "a", provider: "p", model: "m", usage };
  return message("assistant", content, { ...model, stopReason: "stop", timestamp });
}

export function name(text: unknown): object {
  return entry("session_info", { name: text });
}

export { linesOf as jsonl };

/** Writes a file into a directory and returns its path. */
export function writeLines(
  directory: string,
  fileName: string,
  lines: readonly (object | string)[],
): string {
  const path = join(directory, fileName);
  writeFileSync(path, linesOf(lines));
  return path;
}
