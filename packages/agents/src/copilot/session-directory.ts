/**
 * The directory of a session of Copilot CLI: `events.jsonl`, its name in `workspace.yaml`, and
 * other files. Older sessions are files without a directory.
 */
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { normalizeName } from "@branchlog/core/entries";
import { othersBelow, uuidName } from "../files-below.ts";

const eventsName = "events.jsonl";

/** None for an older session. */
export function workspaceFiles(path: string): readonly string[] {
  return basename(path) === eventsName ? [join(dirname(path), "workspace.yaml")] : [];
}

/** The name set by a user; undefined: none, then it is the first prompt. */
export function workspaceName(path: string): string | undefined {
  const [file] = workspaceFiles(path);
  if (file === undefined) return undefined;
  try {
    const workspace = readFileSync(file, "utf8");
    if (!/^user_named:[ \t]+true[ \t\r]*$/m.test(workspace)) return undefined;
    return normalizeName(scalarOf(/^name:[ \t]+(.*)$/m.exec(workspace)?.[1] ?? "")) || undefined;
  } catch {
    // Missing, damaged, or not to be read.
    return undefined;
  }
}

/**
 * A scalar of YAML on one line, as Copilot CLI writes it; empty for any other. A parser would delay
 * the start of every program.
 */
function scalarOf(written: string): string {
  const text = written.trim();
  if (/^'(?:[^']|'')*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  if (!text.startsWith('"')) return /^[|>&*!%@`[{]/.test(text) ? "" : text;
  // Decoding boundary: checked right away.
  const value: unknown = JSON.parse(text);
  return typeof value === "string" ? value : "";
}

/** Files below the directory of a session, which is for that session alone. */
export function filesOfSession(path: string): readonly string[] {
  return basename(path) === eventsName ? othersBelow(dirname(path), uuidName, path) : [];
}
