/**
 * What a list shows of a ConnectOnion file (YAML, all runs of one agent): its top keys and the
 * number of turns. Read line by line up to the end of the turns; no full parse.
 */
import { basename, dirname } from "node:path";
import { lines } from "@branchlog/streaming";
import { lookAtFile } from "../catalog/session-files.ts";

/** The session file of one ConnectOnion agent. */
export interface ListedDocument {
  readonly path: string;
  readonly name: string;
  /** The parent directory of `.co`, else the directory of the file. */
  readonly cwd: string;
  readonly turnCount: number;
  /** As stored: local time without zone; undefined before the first turn. */
  readonly updated: string | undefined;
  /** `updated`, else the change of the file, in epoch ms. */
  readonly modifiedMs: number;
  /** Length of the file in bytes. */
  readonly sizeBytes: number;
}

export function isAgentFileName(name: string): boolean {
  return /\.ya?ml$/.test(name);
}

export function isAgentDirectory(directory: string): boolean {
  return basename(directory) === "sessions" && basename(dirname(directory)) === ".co";
}

/**
 * Undefined for any other file.
 *
 * @throws What reading the file throws, and the signal's reason.
 */
export async function readAgent(
  path: string,
  signal: AbortSignal | undefined,
): Promise<ListedDocument | undefined> {
  const file = lookAtFile(path);
  if (!file.isReadable) return undefined;
  const outline = new YamlOutline();
  for await (const { bytes } of lines(path, { signal })) {
    outline.line(bytes?.toString("utf8") ?? "");
    if (outline.isComplete) break;
  }
  const { name, updated, turnCount } = outline;
  if (name === undefined || turnCount === undefined) return undefined;
  const updatedMs = Date.parse(updated?.replace(" ", "T") ?? "");
  return {
    path,
    name,
    cwd: isAgentDirectory(dirname(path)) ? dirname(dirname(dirname(path))) : dirname(path),
    turnCount,
    updated,
    modifiedMs: Number.isNaN(updatedMs) ? file.mtimeMs : updatedMs,
    sizeBytes: file.size,
  };
}

/** Reads top-level keys, and counts the items of `turns`. */
class YamlOutline {
  name: string | undefined;
  updated: string | undefined;
  turnCount: number | undefined;
  #isInTurns = false;
  #areTurnsOver = false;
  #itemIndent: number | undefined;

  /** Whether the rest of the file is irrelevant. */
  get isComplete(): boolean {
    return this.#areTurnsOver && this.name !== undefined;
  }

  line(text: string): void {
    const [, key, value = ""] = /^([A-Za-z_]\w*):(?:\s+(.*))?$/.exec(text.trimEnd()) ?? [];
    if (key !== undefined) this.#key(key, value);
    else if (this.#isInTurns) this.#item(text);
  }

  #key(key: string, value: string): void {
    if (this.#isInTurns) this.#areTurnsOver = true;
    this.#isInTurns = key === "turns";
    if (this.#isInTurns) this.turnCount ??= 0;
    if (key === "name") this.name ??= plainScalar(value) || undefined;
    if (key === "updated") this.updated ??= plainScalar(value) || undefined;
  }

  /** The content of an item is indented further than its dash. */
  #item(text: string): void {
    const [, spaces] = /^( *)-(?: |\s*$)/.exec(text) ?? [];
    if (spaces === undefined) return;
    this.#itemIndent ??= spaces.length;
    if (spaces.length === this.#itemIndent) this.turnCount = (this.turnCount ?? 0) + 1;
  }
}

/** A scalar on one line, without quotes and comment. */
function plainScalar(text: string): string {
  const single = /^'((?:[^']|'')*)'/.exec(text)?.[1];
  if (single !== undefined) return single.replaceAll("''", "'");
  const double = /^"(?:[^"\\]|\\.)*"/.exec(text)?.[0];
  return double === undefined ? text.replace(/(?:^|\s)#.*$/, "").trim() : unquoted(double);
}

function unquoted(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : text;
  } catch {
    // A YAML-only escape.
    return text.slice(1, -1);
  }
}
