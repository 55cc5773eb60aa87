/**
 * `branchlog append`: appends one entry, or every draft of standard input, each below the previous
 * one. An entry is printed once it is in the log. A draft that cannot be appended ends the command:
 * drafts before it are appended, those after it are not.
 */
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import type { AppendOptions as EntryOptions, Session } from "@branchlog/core";
import type { AnyDraft } from "@branchlog/core/entries";
import { entryId, foundEntry } from "../addressed-entry.ts";
import { writeAcknowledgement } from "../command-io.ts";
import type { CommandIo, CommandResult, FileOptions } from "../command-io.ts";
import { draftBatches, parseDraft } from "../draft-lines.ts";
import type { DraftLine } from "../draft-lines.ts";
import { UsageError } from "../failure.ts";
import { appending } from "../opened-session.ts";

export type DraftSource =
  | { readonly kind: "user"; readonly text: string }
  | { readonly kind: "entry"; readonly json: string }
  | { readonly kind: "input" };

export interface AppendOptions extends FileOptions {
  readonly source: DraftSource;
  /** Parent of the first entry; each other entry is below the previous one. */
  readonly parent: "leaf" | "tail" | { readonly id: string | null };
  /** Undefined: any tail. Checked with the first entry. */
  readonly expectedTail: string | null | undefined;
  readonly allowUnknownType: boolean;
}

export async function appendCommand(options: AppendOptions, io: CommandIo): Promise<CommandResult> {
  const { file, source } = options;
  const single = source.kind === "input" ? undefined : draftOf(source, io.now());
  await appending(file, io, async (session) => {
    const appender = new Appender(session, { ...options, ...addressedPlace(options, session) }, io);
    if (single !== undefined) {
      await appender.append([single]);
      return;
    }
    for await (const lines of draftBatches(io.input())) {
      await appender.appendLines(lines);
      io.signal.throwIfAborted();
    }
  });
  return 0;
}

/** The ids of the named entries; an unknown tail stays, for the conflict to report. */
function addressedPlace(
  { parent, expectedTail }: AppendOptions,
  session: Session,
): Pick<AppendOptions, "parent" | "expectedTail"> {
  const isId = typeof parent !== "string" && parent.id !== null;
  return {
    parent: isId ? { id: entryId(parent.id, session) } : parent,
    expectedTail: isEntry(expectedTail, session) ? entryId(expectedTail, session) : expectedTail,
  };
}

function isEntry(word: string | null | undefined, session: Session): word is string {
  return typeof word === "string" && foundEntry(word, session).kind === "entry";
}

class Appender {
  readonly #session: Session;
  readonly #io: CommandIo;
  readonly #json: boolean;
  readonly #allowUnknownType: boolean;
  /** For the next entry; the first uses `parent` and `expectedTail`. */
  #place: EntryOptions;
  #appended = 0;

  constructor(session: Session, options: AppendOptions, io: CommandIo) {
    const { json, parent, expectedTail, allowUnknownType } = options;
    this.#session = session;
    this.#io = io;
    this.#json = json;
    this.#allowUnknownType = allowUnknownType;
    this.#place = { parent, ...(expectedTail === undefined ? {} : { expectedTail }) };
  }

  async append(drafts: readonly AnyDraft[]): Promise<void> {
    if (drafts.length === 0) return;
    const { signal, out } = this.#io;
    const allowUnknownType = this.#allowUnknownType;
    const options = { ...this.#place, signal, allowUnknownType };
    const results = await this.#session.appendAll(drafts, options);
    this.#place = {};
    this.#appended += results.length;
    for (const result of results) await writeAcknowledgement(out, result, this.#json);
    await out.flush();
  }

  async appendLines(lines: readonly DraftLine[]): Promise<void> {
    const end = lines.findIndex(({ draft }) => draft === undefined);
    const good = end < 0 ? lines : lines.slice(0, end);
    try {
      await this.append(draftsOf(good));
    } catch (error) {
      if (!isRefused(error)) throw this.#atLine(error, good[0]);
      await this.#appendOneByOne(good);
    }
    const bad = lines[end];
    if (bad === undefined) return;
    const { path } = this.#session;
    const message = `not a draft: ${bad.problem}`;
    throw this.#atLine(new BranchlogError("ERR_INVALID_ARGUMENT", message, { path }), bad);
  }

  /** Finds the line for which the engine rejected a batch, and appends those before it. */
  async #appendOneByOne(lines: readonly DraftLine[]): Promise<void> {
    for (const line of lines) {
      try {
        await this.append(draftsOf([line]));
      } catch (error) {
        throw this.#atLine(error, line);
      }
    }
  }

  #atLine(error: unknown, line: DraftLine | undefined): unknown {
    if (!isBranchlogError(error) || line === undefined) return error;
    const { code, path, offset, id, tail, written, cause } = error;
    const message =
      `Line ${line.line} of the input: ${error.message} ` +
      `(entries appended before: ${this.#appended})`;
    return new BranchlogError(code, message, {
      written,
      cause,
      ...(path === undefined ? {} : { path }),
      ...(offset === undefined ? {} : { offset }),
      ...(id === undefined ? {} : { id }),
      ...(tail === undefined ? {} : { tail }),
    });
  }
}

/** Whether a batch was rejected unwritten because of one of its drafts. */
function isRefused(error: unknown): boolean {
  const isBadDraft =
    isBranchlogError(error, "ERR_INVALID_ARGUMENT") ||
    isBranchlogError(error, "ERR_UNSERIALIZABLE");
  return isBadDraft && error.written.length === 0;
}

function draftsOf(lines: readonly DraftLine[]): AnyDraft[] {
  return lines.flatMap(({ draft }) => (draft === undefined ? [] : [draft]));
}

function draftOf(source: Exclude<DraftSource, { kind: "input" }>, now: number): AnyDraft {
  if (source.kind === "user") {
    const content = [{ type: "text" as const, text: source.text }];
    return { type: "message", message: { role: "user", content, timestamp: now } };
  }
  const { draft, problem } = parseDraft(source.json);
  if (draft === undefined) throw new UsageError(`--entry is not a draft: ${problem}`);
  return draft;
}
