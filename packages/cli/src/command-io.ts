/** The ports of a command, shared options, and output of several commands. */
import type { AppendResult } from "@branchlog/core";
import type { EntryLine } from "@branchlog/core/types";
import type { Output } from "./output.ts";
import type { StartedProgram } from "./running-program.ts";
import { oneLine } from "./text/clean-text.ts";

/** The environment of a command; tests pass their own. */
export interface CommandIo {
  readonly out: Output;
  /** All other output: failures, progress. */
  readonly err: Output;
  /** Opened only by a command that reads it. */
  input(): AsyncIterable<Uint8Array>;
  readonly isInteractive: boolean;
  now(): number;
  monotonicMs(): number;
  /** Whether a line on `err` can show progress; undefined: never. */
  readonly showsProgress: (() => boolean) | undefined;
  /** Its exit code, once it has ended; rejects if it cannot be started. */
  runProgram(program: StartedProgram): Promise<number>;
  /** Starts this program with other arguments, without waiting; undefined: unavailable. */
  readonly runInBackground?: ((words: readonly string[]) => void) | undefined;
  readonly signal: AbortSignal;
  /** Of the program. */
  readonly version?: () => string;
  /** Whether the command prints JSON: then all of its output is JSON. */
  readonly isJson?: boolean;
}

/**
 * 0: success. 1: damage, a difference, or nothing found. Every other failure is thrown. Of a
 * program that was run, its exit code.
 */
export type CommandResult = number;

export function writeJsonLine(out: Output, value: unknown): Promise<void> {
  return out.writeData(`${JSON.stringify(value)}\n`, "json");
}

/** Undefined in a pipe, where times are exact; see `whenText`. */
export function shownNowMs({ out, now }: Pick<CommandIo, "out" | "now">): number | undefined {
  return out.isTerminal ? now() : undefined;
}

export interface FileOptions {
  /** A path, or the name or id of a session. */
  readonly file: string;
  readonly json: boolean;
}

export interface ReadingOptions extends FileOptions {
  readonly noSave: boolean;
}

/** The bytes of an entry's line, of any length, without its newline. */
export async function writeLine(line: EntryLine, out: Output): Promise<void> {
  if (line.bytes === null) {
    for await (const chunk of line.chunks()) await out.writeData(chunk, "json");
  } else await out.writeData(line.bytes, "json");
}

/** As lines of JSON among the results, or as text on `err`. */
export async function writeUnlisted(
  paths: Iterable<string>,
  json: boolean,
  { out, err }: Pick<CommandIo, "out" | "err">,
): Promise<void> {
  for (const path of paths) {
    if (json) await writeJsonLine(out, { kind: "unlisted", path });
    else {
      const isDamaged = !path.includes("\u{fffd}");
      const why = isDamaged
        ? "it is damaged: branchlog info shows where"
        : "its name is not UTF-8: rename it";
      await err.write(`skipped: ${oneLine(path, 400)} (${why})\n`);
    }
  }
}

export function writeAcknowledgement(
  out: Output,
  result: AppendResult,
  json: boolean,
): Promise<void> {
  return json ? writeJsonLine(out, result) : out.write(acknowledgementText(result));
}

/** `appended 5b2e9d04 below 5b2e9d03, revision 4`. */
function acknowledgementText({ id, parentId, revision, diverged }: AppendResult): string {
  const place = parentId === null ? "as a root" : `below ${oneLine(parentId, 60)}`;
  return `appended ${id} ${place}, revision ${revision}${divergedText(diverged)}\n`;
}

function divergedText(diverged: AppendResult["diverged"]): string {
  if (diverged === undefined) return "";
  const { entryCount, tailId } = diverged;
  return `, diverged: not below ${entryCount} of other writers, up to ${oneLine(tailId, 60)}`;
}
