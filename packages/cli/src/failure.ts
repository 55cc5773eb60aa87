/**
 * The report of a failure: its message, or with `--json` its code and facts. Never a stack trace,
 * which `BRANCHLOG_DEBUG` adds. Pure.
 */
import { isBranchlogError } from "@branchlog/core/errors";
import { withoutSecrets } from "./path-form.ts";
import { isSteering, unicodeEscape } from "./text/clean-text.ts";

/** The command line is wrong; the process exits with 2. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

export interface Failure {
  /** A code of Branchlog, or of the system (`EACCES`, …), or `ERR_UNKNOWN`. */
  readonly code: string;
  readonly message: string;
  readonly path?: string | undefined;
  readonly offset?: number | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly id?: string | undefined;
  /** The last entry of the log, when another was expected. */
  readonly tail?: string | null | undefined;
  /** Entries of the failed append that are in the log nevertheless. */
  readonly written?: readonly string[] | undefined;
  /** Entries of the failed append that may be in the log: append them again with these ids. */
  readonly uncertain?: readonly string[] | undefined;
  readonly candidates?: readonly string[] | undefined;
}

/** @param words Of the command line, which a message may repeat. */
export function describeFailure(error: unknown, words: readonly string[] = []): Failure {
  const message = withoutSecrets(messageOf(error), words);
  if (!isBranchlogError(error)) return { code: codeOf(error), message };
  // The order of the keys in JSON, which leaves out those that are undefined.
  const { code, offset, line, column, id, tail } = error;
  const path = error.path === undefined ? undefined : withoutSecrets(error.path, words);
  const written = error.written.length === 0 ? undefined : error.written;
  const uncertain = error.uncertain.length === 0 ? undefined : error.uncertain;
  const candidates = error.candidates.length === 0 ? undefined : error.candidates;
  return { code, message, path, offset, line, column, id, tail, written, uncertain, candidates };
}

/** The next step, where the command knows more than the engine. */
export function failureHint({ code, path }: Failure): string | undefined {
  if (path === undefined) return undefined;
  if (code === "ERR_ENTRY_NOT_FOUND") return `branchlog entries ${quoted(path)} lists the ids.`;
  if (code !== "ERR_HEADER_DAMAGED") return undefined;
  return `branchlog repair ${quoted(path)} shows what can be repaired.`;
}

const noDirectory =
  "The working directory of this command no longer exists: it was deleted or moved. Change to " +
  "another one, for example with cd ~, and try again.";

function codeOf(error: unknown): string {
  const hasCode = error instanceof Error && "code" in error && typeof error.code === "string";
  return hasCode ? String(error.code) : "ERR_UNKNOWN";
}

function messageOf(error: unknown): string {
  if (error instanceof Error && "syscall" in error && error.syscall === "uv_cwd")
    return noDirectory;
  return error instanceof Error && error.message !== "" ? error.message : String(error);
}

/** As one shell word; control characters as escapes of bash and zsh. */
export function quoted(path: string): string {
  if (isSteering(path)) return ansiQuoted(path);
  return /^[\w./~+:@%-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

function ansiQuoted(path: string): string {
  const escaped = path.replaceAll(/['\\]/g, String.raw`\$&`);
  const shown = Array.from(escaped, (c) => (isSteering(c) ? unicodeEscape(c) : c));
  return `$'${shown.join("")}'`;
}
