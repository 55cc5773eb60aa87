/**
 * The common part of the session managers of pi and omp: queries, moves of the leaf, and the
 * appends with the same arguments. They only translate. Entries are plain objects whose bodies are
 * read at the first use; changing them changes no log.
 */
import type { ParentChoice } from "../../append/request.ts";
import type { SessionEntry, SessionHeader } from "../../entries/entry-types.ts";
import type { AgentMessage } from "../../entries/message-types.ts";
import type { Diagnostic } from "../../index-table/diagnostics.ts";
import { makeWatchable } from "../../session/watched-session.ts";
import { requireRow } from "./checked-drafts.ts";
import { branchOff } from "./derived-session.ts";
import * as questions from "./log-queries.ts";
import { ManagerPosition } from "./manager-position.ts";
import type { DivergedListener } from "./manager-position.ts";
import type { ManagerState } from "./manager-state.ts";

let positionIn: (manager: ManagerBase<unknown>) => ManagerPosition;

/** Not a member, as programs give managers members of their own. */
export function positionOf(manager: ManagerBase<unknown>): ManagerPosition {
  return positionIn(manager);
}

export function parentChoice(id: string | null): ParentChoice {
  return id === null ? { kind: "root" } : { kind: "entry", id };
}

/** `More` are the entries that an agent has beside those of pi. */
export class ManagerBase<More = never> {
  readonly #position: ManagerPosition;

  static {
    positionIn = (manager) => manager.#position;
  }

  /** @internal */
  constructor(state: ManagerState) {
    this.#position = new ManagerPosition(state);
    makeWatchable(this, this.#position);
  }

  get #state(): ManagerState {
    return this.#position.state;
  }

  /** Goes to a new session with the branch to an entry. Returns the path of its file. */
  createBranchedSession(leafId: string): string | undefined {
    const { isPersisted, file } = this.#position.go(branchOff(this.#state, leafId));
    return isPersisted ? file : undefined;
  }

  /** Whether the session is kept in a file, at the latest from the first answer on. */
  isPersisted(): boolean {
    return this.#state.isPersisted;
  }
  /** The working directory of the session. */
  getCwd(): string {
    return this.#state.cwd;
  }
  /** Where new sessions are kept; "" for sessions in memory. */
  getSessionDir(): string {
    return this.#state.sessionDir;
  }
  /** The id in the header. */
  getSessionId(): string {
    return this.#state.log.engine.header.id;
  }
  /** The path of the session file, which may not exist yet; undefined for a session in memory. */
  getSessionFile(): string | undefined {
    return this.#state.file;
  }
  /** The name in force: of a title slot, else of the latest entry that names it, or the header. */
  getSessionName(): string | undefined {
    return this.#state.log.engine.log.state.name;
  }
  /** A copy of the header, in the current form. */
  getHeader(): SessionHeader | null {
    return questions.headerOf(this.#state.log.engine);
  }
  /** The entry that the next one follows; null before the first. */
  getLeafId(): string | null {
    return this.#state.log.leaf.id;
  }
  /** The entry at the leaf. */
  getLeafEntry(): SessionEntry | More | undefined {
    const { id } = this.#state.log.leaf;
    return id === null ? undefined : this.getEntry(id);
  }
  /** The entry with that id, as stored. */
  getEntry(id: string): SessionEntry | More | undefined {
    return questions.entryOf(this.#state.log.engine, id);
  }
  /** The label of an entry. */
  getLabel(id: string): string | undefined {
    return this.#state.log.engine.log.state.folded.labels.get(id)?.label;
  }
  /** All entries in file order, without the header. */
  getEntries(): (SessionEntry | More)[] {
    return questions.entriesOf(this.#state.log.engine);
  }
  /** The entries directly below one, in file order; the roots for null. */
  getChildren(parentId: string | null): (SessionEntry | More)[] {
    return questions.childrenOf(this.#state.log.engine, parentId);
  }
  /** The entries from the root to one (default: the leaf); none for an unknown id. */
  getBranch(fromId?: string): (SessionEntry | More)[] {
    const { engine, leaf } = this.#state.log;
    return questions.branchOf(engine, fromId ?? leaf.id);
  }
  /** What was found wrong with the session while reading it. Not in pi and omp. */
  getDiagnostics(): readonly Diagnostic[] {
    return this.#state.log.engine.diagnostics;
  }

  /** Moves the leaf, in memory only. Throws `ERR_ENTRY_NOT_FOUND`. */
  branch(branchFromId: string): void {
    const { engine, leaf } = this.#state.log;
    requireRow(engine, branchFromId);
    leaf.pin(branchFromId);
  }
  /** Moves the leaf before the first entry, in memory only. */
  resetLeaf(): void {
    this.#state.log.leaf.pin(null);
  }

  /** Appends a message, as it is now, below the leaf, as all appends do; returns its id. */
  appendMessage(message: AgentMessage): string {
    return this.#position.append({ type: "message", message });
  }
  /** Appends state of an extension, which the model never sees. */
  appendCustomEntry(customType: string, data?: unknown): string {
    return this.#position.append({ type: "custom", customType, data });
  }
  /** Labels an entry, or clears its label. Throws `ERR_ENTRY_NOT_FOUND`. */
  appendLabelChange(targetId: string, label: string | undefined): string {
    requireRow(this.#state.log.engine, targetId);
    return this.#position.append({ type: "label", targetId, label });
  }

  /**
   * Calls `listener` for each appended entry on a branch that nobody chose: other processes had
   * continued from the leaf. Returns what unsubscribes. Not in pi and omp.
   */
  onDiverged(listener: DivergedListener): () => void {
    return this.#position.onDiverged(listener);
  }
}
