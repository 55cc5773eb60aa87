/** The query and filters of a search, and the matching texts of an entry. Pure. */
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { SearchProgress } from "../find/find-options.ts";
import type { BranchlogError, SessionEntry, SessionHeader } from "@branchlog/core";
import { storedTimeMs } from "@branchlog/core/rows";
import { CopiedHits } from "./copied-hits.ts";
import { entryTexts } from "./entry-texts.ts";
import { sideText } from "./side-texts.ts";
import type { EntryText, SearchedKind } from "./entry-texts.ts";
import { LineFilter } from "./line-filter.ts";
import type { Snippet, TextSearch } from "./search-query.ts";

/** A match in an entry. */
export interface SearchHit {
  /** Of the session file, absolute. */
  readonly path: string;
  /** As stored: foreign files may lack any field but the id. */
  readonly header: SessionHeader;
  /** The agent that alone writes it; undefined for a session, which Branchlog writes, too. */
  readonly transcriptOf: string | undefined;
  /** A name or label may have been replaced since. */
  readonly kind: SearchedKind;
  /** For the name of a transcript, its last entry. */
  readonly entryId: string;
  readonly role?: string;
  /** Of a call or a result. */
  readonly tool?: string;
  /** As stored. */
  readonly timestamp: string;
  /** The first match in the entry. */
  readonly snippet: Snippet;
}

type HitPlace = Pick<SearchHit, "path" | "header" | "transcriptOf" | "entryId" | "timestamp">;

/** Filters of {@link searchSessions}. */
export interface SearchOptions {
  /** Default: all. */
  readonly kinds?: readonly SearchedKind[] | undefined;
  /** Only messages of this role. */
  readonly role?: string | undefined;
  /** Only calls of this tool, and their results. */
  readonly tool?: string | undefined;
  /** The query is a regular expression of RE2, whose time is linear. Default false. */
  readonly regex?: boolean;
  /** The exact query. Default: all of its words in any order; a quoted phrase counts as one. */
  readonly exact?: boolean;
  /**
   * Whether the user's search index is read, if there is one. It does not change the results,
   * except for sessions that were changed in their middle and grew since its update. Default
   * `auto`.
   */
  readonly index?: "auto" | "off";
  /** Called with the reason if the index cannot be read: all files are read then. */
  readonly onIndexUnread?: ((reason: unknown) => void) | undefined;
  /** Called at the end with the number of bytes of sessions that the index lacks. */
  readonly onUnindexed?: ((bytes: number) => void) | undefined;
  /** Only sessions whose working directory is this one, or below. */
  readonly project?: string | undefined;
  /**
   * Only sessions with a call whose arguments have this text, as the path of a file. They are
   * searched for it first, which takes as long as any search.
   */
  readonly path?: string | undefined;
  /**
   * Only entries from the root to this one; `leaf`: to the leaf of each session. Sessions without
   * it have no hits. Each session with a hit is opened for that. In files only.
   */
  readonly branch?: string | undefined;
  /** Only entries from this time on, in epoch ms. */
  readonly sinceMs?: number | undefined;
  /** Only entries before this time, in epoch ms. */
  readonly untilMs?: number | undefined;
  /** By their names; dialects are distinguished by the header. Default: all. */
  readonly agents?: readonly string[] | undefined;
  /** Whole lines around a match. Default: a part of one. */
  readonly contextLines?: number | undefined;
  /**
   * Called with each skipped path: those that are not UTF-8, with U+FFFD for the invalid
   * bytes, and sessions that their agent compressed.
   */
  readonly onUnlisted?: ((path: string) => void) | undefined;
  /** Called with the reason for each session that cannot be read, and is skipped. */
  readonly onUnread?: ((reason: BranchlogError) => void) | undefined;
  /** Called before each session. */
  readonly onProgress?: ((progress: SearchProgress) => void) | undefined;
  /** Ends the search with its reason. */
  readonly signal?: AbortSignal | undefined;
}

export class Search {
  /** Names match with gaps, so bytes cannot exclude them. */
  readonly sessionLines: LineFilter;
  readonly transcriptLines: LineFilter;
  readonly #text: TextSearch;
  readonly #copies = new CopiedHits();
  /** Facts of hits that may be copies of others. */
  readonly #said = new WeakMap<SearchHit, string>();
  readonly #files = new Map<string, boolean>();
  readonly #options: SearchOptions;

  constructor(text: TextSearch, options: SearchOptions) {
    this.#text = text;
    this.#options = options;
    this.sessionLines = new LineFilter(text.bytesOf, this.takesNames);
    this.transcriptLines = new LineFilter(text.bytesOf, false);
  }

  includes(agent: string): boolean {
    return this.#options.agents?.includes(agent) ?? true;
  }

  /**
   * Undefined outside of the project. It may be a copy of another.
   * @param mayCopy Whether the session may hold copies of others.
   */
  hitOf(place: HitPlace, { text, ...match }: Match, mayCopy: boolean): SearchHit | undefined {
    if (!this.#isInProject(place.header)) return undefined;
    const hit = { ...place, ...match };
    // A session is named once, wherever its name came from.
    if (mayCopy && match.kind !== "name") this.#said.set(hit, text);
    return hit;
  }

  /** Whether a hit repeats an earlier one: called once for each shown hit. */
  isCopy(hit: SearchHit): boolean {
    const text = this.#said.get(hit);
    return text !== undefined && this.#copies.isCopy({ ...hit, text });
  }

  /** The first text that matches. @param wholeOf The rest of a result of which it has a part. */
  match(entry: SessionEntry, wholeOf?: (text: string) => string | undefined): Match | undefined {
    if (this.#isOutside(entry.timestamp)) return undefined;
    for (const said of entryTexts(entry)) {
      const whole = said.kind === "result" ? wholeOf?.(said.text) : undefined;
      const match = this.#matchOf(said) ?? (whole && this.#matchOf({ ...said, text: whole }));
      if (match) return match;
    }
    return undefined;
  }

  /** In lower case; an entry matches if one of its texts has all. Undefined: unknown. */
  get wanted(): readonly string[] | undefined {
    return this.#text.wanted;
  }

  get takesNames(): boolean {
    return this.#options.kinds?.includes("name") ?? true;
  }

  get takesResults(): boolean {
    const { kinds, role } = this.#options;
    return kinds?.includes("result") !== false && (role === undefined || role === "toolResult");
  }

  /** Of a file with a whole result; subagents share those of their session. */
  isInFile(path: string): boolean {
    const isIn = this.#files.get(path) ?? this.#text.inText(sideText(path) ?? "") !== undefined;
    this.#files.set(path, isIn);
    return isIn;
  }

  matchName(name: string, timestamp: string): Match | undefined {
    return this.#isOutside(timestamp) ? undefined : this.#matchOf({ kind: "name", text: name });
  }

  #isInProject(header: SessionHeader): boolean {
    const { project } = this.#options;
    // Decoding boundary: of the header only the id was checked.
    const cwd: unknown = header.cwd;
    if (project === undefined) return true;
    return typeof cwd === "string" && isWithin(cwd, project);
  }

  /** Without a time, it is not. */
  #isOutside(timestamp: string): boolean {
    const { sinceMs = -Infinity, untilMs = Infinity } = this.#options;
    const timeMs = storedTimeMs(timestamp);
    return timeMs < sinceMs || timeMs >= untilMs;
  }

  #matchOf({ text, ...said }: EntryText): Match | undefined {
    const { kinds, role, tool } = this.#options;
    if (kinds !== undefined && !kinds.includes(said.kind)) return undefined;
    if (role !== undefined && said.role !== role) return undefined;
    if (tool !== undefined && said.tool?.toLowerCase() !== tool.toLowerCase()) return undefined;
    const snippet = said.kind === "name" ? this.#text.inName(text) : this.#text.inText(text);
    return snippet && { ...said, snippet, text };
  }
}

function isWithin(path: string, directory: string): boolean {
  const way = relative(resolve(directory), resolve(path));
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** With the text that it is in. */
export interface Match extends Pick<SearchHit, "kind" | "role" | "tool" | "snippet"> {
  readonly text: string;
}
