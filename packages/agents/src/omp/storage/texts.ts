/**
 * A container of the texts of a session storage of omp: files, or a store of logs. Paths are those
 * of omp. A text is checked in the same step as it is replaced.
 */
import { decodeLine } from "@branchlog/streaming";
import type { TitleSlot } from "@branchlog/core/engine";
import { BranchlogError } from "@branchlog/core";

export interface TextFacts {
  readonly sizeBytes: number;
  readonly changedMs: number;
}

export interface FoundText {
  readonly sizeBytes: number;
  /** The bytes from there on. */
  read(from: number): Buffer;
}

/** Whether a text is replaced; its errors are thrown, and nothing changes. */
export type IsWanted = (found: FoundText | undefined) => boolean;

export interface Appender {
  /** Returns once the line is written, separated from an unfinished line before it. */
  append(line: Buffer): void;
}

/** All methods block. */
export interface Texts {
  makeDirectory(directory: string): void;
  /** Undefined: missing. */
  facts(path: string): TextFacts | undefined;
  /** Undefined: missing. */
  read(path: string, from?: number, to?: number): Buffer | undefined;
  /** Of the texts in a directory. */
  names(directory: string): readonly string[];
  appender(path: string): Appender;
  /** Undefined as content: the text is removed. Returns whether it was wanted. */
  replace(path: string, content: Buffer | undefined, isWanted: IsWanted): boolean;
  /** Throws `ERR_APPEND_FAILED` for a text without a title slot. */
  setTitle(path: string, slot: TitleSlot): void;
  rename(path: string, nextPath: string): void;
  /** With the directory of that name, if it exists. */
  removeSession(path: string): Promise<void>;
}

/** A generated title does not replace one that a user set a moment ago. */
export function isTitleWanted(slot: TitleSlot, found: TitleSlot | undefined): boolean {
  return slot.source !== "auto" || found?.source !== "user";
}

/** Throws `ERR_CONFLICT` if lines that omp does not know of would be lost. */
export function requireExpected(
  path: string,
  expected: number | null | undefined,
  content: Buffer,
  found: FoundText | undefined,
): void {
  const actual = found?.sizeBytes ?? null;
  if (expected === undefined || expected === actual) return;
  if (expected !== null && found !== undefined && isKept(expected, content, found)) return;
  const text = (size: number | null): string => (size === null ? "none" : `${size} bytes`);
  const message =
    `${path} was not replaced: another program changed it since it was read (${text(expected)} ` +
    `then, ${text(actual)} now). Open the session again.`;
  throw new BranchlogError("ERR_CONFLICT", message, { path });
}

const newline = 0x0a;

/**
 * Whether the expected size is followed only by the rest of a failed write, or by lines that the
 * content also has. A text without a newline at its end is expected with one.
 */
function isKept(expected: number, content: Buffer, found: FoundText): boolean {
  const { sizeBytes } = found;
  if (expected > sizeBytes) {
    return expected === sizeBytes + 1 && found.read(sizeBytes - 1)[0] !== newline;
  }
  const from = Math.max(0, expected - 1);
  const behind = found.read(from);
  if (expected > 0 && behind[0] !== newline) return false;
  const kept = new Set(linesOf(content));
  return linesOf(behind).every((line) => kept.has(line) || !decodeLine(Buffer.from(line)).ok);
}

function linesOf(bytes: Buffer): readonly string[] {
  return bytes.toString().split("\n");
}

/** As in Node, since omp checks the code. */
export function noSuchText(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), {
    code: "ENOENT",
    errno: -2,
    syscall: "open",
    path,
  });
}
