/** Imports in tests: a source is written, imported, and the new log is read the plainest way. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import type { AnyEntry } from "@branchlog/core/entries";
import { ManualClock, createSeededIds } from "@branchlog/core/testing";
import { importSession } from "@branchlog/tools";
import type { ImportOptions, ImportReport } from "@branchlog/tools";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** What came of an import. */
export interface Imported {
  readonly report: ImportReport;
  /** The whole log; the place of the source is `<source>`. */
  readonly text: string;
  readonly entries: readonly AnyEntry[];
  readonly session: Session;
}

/** The transcripts among the fixtures, each with its copy and its projections. */
export const transcripts: readonly string[] = [
  "claude/conversation",
  "claude/branches",
  "claude/sidechains",
  "claude/compaction",
  "claude/damaged",
  "codex/conversation",
  "codex/rollback",
  "codex/compaction",
  "codex/damaged",
];

/** The path of a fixture. */
export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../../../fixtures/${name}`, import.meta.url));
}

/** Imports a file. */
export async function importedFile(source: string, options: ImportOptions = {}): Promise<Imported> {
  const target = join(temporaryDirectory(), "imported.jsonl");
  const clock = new ManualClock();
  const ports = { clock, ids: createSeededIds(1, clock) };
  const report = await importSession(source, target, { ports, ...options });
  const stored = readFileSync(target, "utf8");
  const text = stored.replaceAll(JSON.stringify(source), '"<source>"');
  const lines = text.split("\n").slice(1, -1);
  // Test data that is known to be entries.
  const entries = lines.map((line) => JSON.parse(line) as AnyEntry);
  return { report, text, entries, session: await openSession(target, { access: "read" }) };
}

/** Writes lines to a file and imports it; an object becomes a line of JSON. */
export function importedLines(
  lines: readonly (object | string)[],
  options: ImportOptions = {},
): Promise<Imported> {
  return importedFile(sourceOf(lines), options);
}

/** A file of these lines. */
export function sourceOf(lines: readonly (object | string)[]): string {
  const source = join(temporaryDirectory(), "source.jsonl");
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  writeFileSync(source, texts.map((text) => `${text}\n`).join(""));
  return source;
}

/** Lines skipped, whatever the reason. */
export function skippedCount({ skipped }: ImportReport): number {
  return Object.values(skipped).reduce((sum, count) => sum + count, 0);
}

/** What each message of a context says: its role, then its text, calls and results. */
export function spoken(messages: readonly unknown[]): string[] {
  return messages.map((message) => {
    // Test data that is known to be messages.
    const { role, content, summary } = message as Record<string, unknown>;
    return `${String(role)}: ${saidIn(content ?? summary)}`;
  });
}

function saidIn(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  const blocks = content as Record<string, unknown>[];
  return blocks
    .map((block) => block["text"] ?? block["thinking"] ?? block["name"] ?? block["mimeType"])
    .map(String)
    .join(" | ");
}

/** A record of a rollout of Codex. */
export function codexRecord(type: string, payload: object): object {
  return { timestamp: "2026-01-02T03:04:05.006Z", type, payload };
}

/** An item of the API in one. */
export function codexItem(type: string, rest: object): object {
  return codexRecord("response_item", { type, ...rest });
}

/** A message of that kind. */
export function codexMessage(text: string, role = "user"): object {
  const type = role === "assistant" ? "output_text" : "input_text";
  return codexItem("message", { role, content: [{ type, text }] });
}
