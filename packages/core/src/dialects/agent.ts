/**
 * The definition of an agent: where it keeps sessions, which records are its own, and their
 * meaning. A program registers the agents that it knows, as it registers file systems with SQLite;
 * the engine and the packages above it query them, and know no agent by name. See
 * docs/decisions/0057-agents-are-registered.md.
 */
import type { ByteSource, JsonObject } from "@branchlog/streaming";
import type { SessionEntry, SessionHeader } from "../entries/entry-types.ts";
import type { Usage } from "../entries/message-types.ts";
import type { Transcript } from "./transcript.ts";

export interface Agent {
  /** In filters, lists and JSON: one lower-case word. */
  readonly name: string;
  /** In sentences. */
  readonly product: string;
  /** Where it keeps sessions, by its own environment variables. They need not exist. */
  places(): readonly string[];
  /** The command that continues a session, with its arguments; null: none does. */
  resume(session: ResumedSession): readonly string[] | null;
  /**
   * The name of a directory of sessions once their working directory is another; undefined if that
   * name does not come from the working directory.
   */
  renamedDirectory?(name: string, from: string, to: string): string | undefined;
  /**
   * Of a directory in a worktree that the agent made, the repository, by its path or its name, and
   * the path below.
   */
  worktree?(
    directory: string,
  ): { readonly of: string | { readonly name: string }; readonly below: string } | undefined;
  /** Undefined: its sessions are in a dialect of the engine's own, which also writes them. */
  readonly transcripts?: TranscriptFormat;
  readonly documents?: DocumentFormat;
}

export interface ResumedSession {
  readonly id: string;
  /** Of its file, or its address in a store. */
  readonly path: string;
}

/** Who alone writes a session. */
export interface SessionOwner {
  /** The name of the agent. */
  readonly agent: string;
  /** Raised whenever its sessions are read otherwise: what was saved of them is read again. */
  readonly version: number;
  /** What a sentence calls such a file, with its article. */
  readonly noun: string;
}

/** Sessions that are read whole, most in no form of lines: a file is one, or holds several. */
export interface DocumentFormat extends SessionOwner {
  /**
   * Whether a file, or that of an address `FILE#ID`, is one, by its name and its first bytes; false
   * if it cannot be read.
   */
  recognises(path: string): boolean;
  /** Whether a file may be one, by its name alone; of a file of lines by its path. */
  mayBe(name: string): boolean;
  /**
   * Other files that are of a session alone; undefined for a file that holds several, or a part of
   * one. Default: none where each file is one.
   */
  belongings?(path: string): readonly string[] | undefined;
  /** Whether a session that names another one is its subagent. Default: it is a fork of it. */
  readonly hasSubagents?: true;
  /** Whether a directory holds such files, which others with that name are not in. */
  isPlace(directory: string): boolean;
  /**
   * The sessions of a file that holds several; undefined: it is one itself. None, if they are read
   * elsewhere. Such sessions are neither archived nor deleted. Rejects with a `BranchlogError` for
   * a damaged file. Default: each file is one.
   */
  sessionsIn?(path: string): Promise<readonly SessionInFile[] | undefined>;
  /**
   * The session that a file of lines holds, by its name, if it may also be in a file that holds
   * several, which says more: a list has it from there. Default: none may.
   */
  idInOthers?(path: string): string | undefined;
  /** As that of transcripts. Default: nothing tells copies of its entries. */
  identity?(entry: SessionEntry, spent: SpentTokens): EntryIdentity | undefined;
  /** How long after a change a session may say more without another one. Default: 0. */
  readonly settlesAfterMs?: number;
  /** The files whose changes change a session; the first has to exist. Default: its own. */
  filesOf?(path: string): readonly string[];
  /**
   * The lines of a log of version 3 that says the same, or of a transcript of the agent that is in
   * the document. What has not changed in the document has the same lines. Rejects with a
   * `BranchlogError` for a damaged document.
   * @param given What it holds. Default: it is read.
   */
  toLog(path: string, given?: DocumentBytes): Promise<Buffer>;
}

export interface SessionInFile {
  readonly id: string;
  /** In epoch ms. */
  readonly changedMs: number;
  /** Of its rows. It changes with the session where the time does not. */
  readonly count: number;
  /** Default: it has to be read. */
  readonly rowFacts?: RowFacts | undefined;
}

/** What a list shows of a session before its messages were read, as the same fields of its log. */
export interface RowFacts {
  readonly header: SessionHeader;
  readonly name: string | undefined;
  /** Of the last message, or the last change, in epoch ms. */
  readonly lastMs: number;
  /** What it costs to read it. */
  readonly rows: number;
}

/** Where a session is that shares a file with others: `FILE#ID`. */
export function addressInFile(file: string, id: string): string {
  return `${file}#${id}`;
}

/** The file of an address, and the id of the session in it; undefined: the whole file. */
export function fileOfAddress(address: string): {
  readonly file: string;
  readonly id: string | undefined;
} {
  // Asked for each file of a list.
  if (!address.includes("db#")) return { file: address, id: undefined };
  const [, file = address, id] = /^(.*\.(?:vsc)?db)#([\w.:$-]+)$/s.exec(address) ?? [];
  return { file, id };
}

export interface DocumentBytes {
  readonly bytes: Buffer;
  /** In epoch ms. */
  readonly changedMs: number;
}

/** Files of JSON lines. */
export interface TranscriptFormat extends SessionOwner {
  /** Whether a record is one of its own. */
  recognises(record: JsonObject): boolean;
  /** Whether its records have `id` and `parentId`, as entries of sessions have. */
  readonly hasLinks?: true;
  /**
   * Fields presumed in the unread part of a record, so that its beginning is recognised, too. They
   * alone must not tell a record of this agent: any may be torn.
   */
  readonly presumed: JsonObject;
  /** With which its records may begin: so they are found next to debris. */
  readonly firstKeys: readonly string[];
  /**
   * @param path Its names may hold the id of the session, or of the one whose subagent it is.
   * @param isEntry Whether the index has an entry of that id.
   */
  read(path: string, isEntry: (id: string) => boolean): Transcript;
  /** Which files may be those of subagents of a session, by their names. */
  readonly subagentNames: { readonly pattern: RegExp; readonly place: "beside" | "anywhere" };
  /** The part of a user's text that can be the title of a session; undefined: all of it can. */
  titleIn?(text: string): string;
  /** Whether a message of the user was asked by a person; undefined: each was. */
  isAsked?(entry: SessionEntry): boolean;
  /** What an entry and its copies have in common, where that is not id, time and type. */
  identity(entry: SessionEntry, spent: SpentTokens): EntryIdentity | undefined;
  /** The name that the agent keeps elsewhere than in the file. */
  indexedName?(path: string): string | undefined;
  /** Files that are of a session alone, and say something of it: its name, its directory. */
  filesBeside?(path: string): readonly string[];
  /** Other files that are of a session alone, wherever their names do not say so. */
  belongings?(path: string): readonly string[];
  /** How it spreads a session over files; undefined: each file is one. */
  readonly parts?: SessionParts;
  readonly sideTexts?: SideTexts;
}

/** Both answer at once, oldest first, and with nothing for what cannot be read. */
export interface SessionParts {
  /** Whether a file of this name may have others before it. */
  mayHave(name: string): boolean;
  /** The earlier files of the session, by their names. @param among Default: those on the disk. */
  earlier(path: string, among?: readonly string[]): readonly string[];
  /** The last file of the session, by their names. */
  last(path: string): string;
  /** What the session continues of others, by the first record of its first file, here open. */
  inherited(firstPath: string, first: ByteSource): readonly LogPart[];
}

/** What a session has before its last file. */
export interface LogPart {
  readonly path: string;
  /** How much of it; undefined: all. */
  readonly endBytes?: number | undefined;
  /** Whether it is of the same session. */
  readonly isOwn: boolean;
}

/** Files next to a session with the whole of texts that it holds in part. */
export interface SideTexts {
  /** Paths; their names differ. */
  files(path: string): readonly string[];
  /** The name of the file that a text is the beginning of; undefined for any other text. */
  nameIn(text: string): string | undefined;
}

export type SpentTokens = Pick<Usage, "input" | "output" | "cacheRead" | "cacheWrite">;

export interface EntryIdentity {
  readonly key: readonly (string | number)[];
  /** Whether further entries of its session may have the same, and add to it. */
  readonly isPart: boolean;
  /** What copies have in common that got another key. */
  readonly otherKey?: readonly (string | number)[];
}

const registered = new Map<string, Agent>();

/**
 * Agents that are registered later are asked later. One of the same name is replaced. The returned
 * function takes these back.
 */
export function registerAgents(agents: readonly Agent[]): () => void {
  for (const agent of agents) registered.set(agent.name, agent);
  formatsOfAll = undefined;
  return () => {
    for (const { name } of agents) registered.delete(name);
    formatsOfAll = undefined;
  };
}

/** In the order in which they were registered. */
export function registeredAgents(): readonly Agent[] {
  return [...registered.values()];
}

/** Undefined: none of that name is registered. */
export function agentNamed(name: string): Agent | undefined {
  return registered.get(name);
}

export function transcriptFormats(): readonly TranscriptFormat[] {
  return formats().transcripts;
}

export function documentFormats(): readonly DocumentFormat[] {
  return formats().documents;
}

interface Formats {
  readonly transcripts: readonly TranscriptFormat[];
  readonly documents: readonly DocumentFormat[];
}

/** Asked for each file of a list; undefined: agents were registered since. */
let formatsOfAll: Formats | undefined;

function formats(): Formats {
  formatsOfAll ??= {
    transcripts: registeredAgents().flatMap(({ transcripts }) => transcripts ?? []),
    documents: registeredAgents().flatMap(({ documents }) => documents ?? []),
  };
  return formatsOfAll;
}

/**
 * Earlier files of the session at this path, oldest first; empty for most.
 * @param among Where they are looked for. Default: on the disk.
 */
export function earlierFiles(path: string, among?: readonly string[]): readonly string[] {
  for (const { parts } of transcriptFormats()) {
    const files = parts?.earlier(path, among) ?? [];
    if (files.length > 0) return files;
  }
  return [];
}

/** Undefined: no agent has such documents. */
export function documentFormatOf(path: string): DocumentFormat | undefined {
  return documentFormats().find((format) => format.mayBe(path) && format.recognises(path));
}

/** Undefined: the record is of no known transcript. */
export function formatOf(record: JsonObject): TranscriptFormat | undefined {
  return transcriptFormats().find((format) => format.recognises(record));
}

/** Presumed for the unread part of a record of a session. */
const unread: JsonObject = { type: "", parentId: null, message: {} };

/** Completes the beginning of a record, so that it can be recognised. */
export function presumedRecord(beginning: JsonObject, format?: TranscriptFormat): JsonObject {
  return { ...unread, ...format?.presumed, ...beginning };
}

/** What every refusal to write to a transcript advises. */
export const copyAdvice: string =
  "Create a session from it with branchlog import FILE -o NEW, or forkSession(), and use that.";
