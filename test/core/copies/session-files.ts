/** Session files of the tests of copies, and what is asked of them. */
import { readFileSync } from "node:fs";
import { openSession } from "@branchlog/core";
import { temporaryFile } from "../../support/temporary-directory.ts";

/** The header of a session of these tests. */
export const header = {
  type: "session",
  version: 3,
  id: "source",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/work",
};

/** Records as JSON, texts as they are, a line each. */
export function linesOf(records: readonly (object | string)[]): string {
  const texts = records.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  return texts.map((text) => `${text}\n`).join("");
}

/** Writes a file into a separate directory and returns its path. */
export function fileOf(...records: readonly (object | string)[]): string {
  return temporaryFile(linesOf(records), "source.jsonl");
}

/** The lines of a file, without its last newline. */
export function textLines(path: string): string[] {
  return readFileSync(path, "utf8").replace(/\n$/, "").split("\n");
}

/** The records of a file. */
export function recordsIn(path: string): unknown[] {
  return textLines(path).map((line): unknown => JSON.parse(line));
}

/** The messages that a model would get at an entry, as JSON; at the last one without an id. */
export async function messagesAt(path: string, at?: string): Promise<string> {
  const session = await openSession(path, { access: "read", checkpoint: "off" });
  return JSON.stringify((await session.context(at === undefined ? {} : { at })).messages);
}
