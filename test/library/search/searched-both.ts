/** Searching by the index, compared with reading all files. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { searchSessions } from "@branchlog/library";
import type { SearchHit, SearchOptions } from "@branchlog/library";
import { collected } from "../../support/collected.ts";
import { header, startTime, user, writeLines } from "../catalog/session-lines.ts";

export interface Searched {
  readonly hits: readonly SearchHit[];
  /** Of sessions, that were not read by the index. */
  readonly unindexedBytes: number;
  readonly unread: readonly unknown[];
}

export async function search(
  place: string | readonly string[],
  query: string,
  options: SearchOptions = {},
): Promise<Searched> {
  let unindexedBytes = 0;
  const unread: unknown[] = [];
  const hits = await collected(
    searchSessions(place, query, {
      ...options,
      onUnindexed: (bytes) => (unindexedBytes = bytes),
      onIndexUnread: (reason) => unread.push(reason),
    }),
  );
  return { hits, unindexedBytes, unread };
}

/** Searches by the index, and expects what reading all files finds. */
export async function searchBoth(
  place: string | readonly string[],
  query: string,
  options: SearchOptions = {},
): Promise<Searched> {
  const found = await search(place, query, options);
  const read = await search(place, query, { ...options, index: "off" });
  expect(found.hits, `the hits of ${JSON.stringify(query)}`).toEqual(read.hits);
  return found;
}

/** More than the beginning of a file, which is read for its header and searched each time. */
const fillerTexts = Array.from({ length: 100 }, (_, n) => `lorem ${n} ${"ipsum ".repeat(120)}`);
const filler = fillerTexts.map((text) => user(text));

/** The lines of a session of pi, of which the given ones are found by the index alone. */
export function longSession(lines: readonly (object | string)[]): readonly (object | string)[] {
  return [header(), ...filler, ...lines];
}

export function writeLong(
  directory: string,
  fileName: string,
  lines: readonly (object | string)[],
): string {
  return writeLines(directory, fileName, longSession(lines));
}

let prompts = 0;

/** A line of a transcript of Claude Code. */
export function claudePrompt(text: string): object {
  prompts += 1;
  return {
    type: "user",
    uuid: `u${prompts}`,
    parentUuid: null,
    sessionId: "c1",
    cwd: "/work",
    version: "2.0.0",
    timestamp: startTime,
    message: { role: "user", content: text },
  };
}

const claudeFiller = fillerTexts.map(claudePrompt);

/** As {@link longSession}, of Claude Code. */
export function longTranscript(lines: readonly (object | string)[]): readonly (object | string)[] {
  return [...claudeFiller, ...lines];
}

/** Where a text of a file begins, in bytes. */
export function placeOf(path: string, text: string): number {
  const at = readFileSync(path).indexOf(text);
  expect(at).toBeGreaterThan(-1);
  return at;
}
