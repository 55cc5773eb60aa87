/**
 * Code shared by the session managers of pi and omp: queries, moves of the leaf, common appends.
 * Entries are plain objects that read their bodies at first use; changing them changes no log.
 */
import type { ParentChoice } from "@branchlog/core/engine";
import type { SessionEntry, SessionHeader, AgentMessage, Diagnostic } from "@branchlog/core";
import { makeWatchable } from "@branchlog/core/engine";
import { requireRow } from "./checked-drafts.ts";
import { branchOff } from "./derived-session.ts";
import * as questions from "./log-queries.ts";
import { ManagerPosition } from "./manager-position.ts";
import type { DivergedListener } from "./manager-position.ts";
import type { ManagerState } from "./manager-state.ts";

let positionIn: (manager: ManagerBase<unknown>) => ManagerPosition;

/** Not a member, since programs add members of their own to managers. */
export function positionOf(manager: ManagerBase<unknown>): ManagerPosition {
  return positionIn(manager);
}

export function parentChoice(id: string | null): ParentChoice {
  return id === null ? { kind: "root" } : { kind: "entry", id };
}

/** `More`: entries of the agent next to pi's. */
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

  /** Switches to a new session with the branch to an entry. Returns the path of its file. */
  createBranchedSession(leafId: string): string | undefined {
    const { isPersisted, file } = this.#position.go(branchOff(this.#state, leafId));
    return isPersisted ? file : undefined;
  }

  /** Whether the session is, or will be, kept in a file. */
  isPersisted(): boolean {
    return this.#state.isPersisted;
  }
  /** The working directory of the session. */
  getCwd(): string {
    return this.#state.cwd;
  }
  /** For new sessions; "" for sessions in memory. */
  getSessionDir(): string {
    return this.#state.sessionDir;
  }
  /** The id in the header. */
  getSessionId(): string {
    return this.#state.log.engine.header.id;
  }
  /** May not exist yet; undefined for a session in memory. */
  getSessionFile(): string | undefined {
    return this.#state.file;
  }
  /** By the title slot, else the latest naming entry, else the header. */
  getSessionName(): string | undefined {
    return this.#state.log.engine.log.state.name;
  }
  /** A copy in the current form. */
  getHeader(): SessionHeader | null {
    return questions.headerOf(this.#state.log.engine);
  }
  /** The parent of the next entry; null before the first. */
  getLeafId(): string | null {
    return this.#state.log.leaf.id;
  }
  /** The entry at the leaf. */
  getLeafEntry(): SessionEntry | More | undefined {
    const { id } = this.#state.log.leaf;
    return id === null ? undefined : this.getEntry(id);
  }
  /** As stored. */
  getEntry(id: string): SessionEntry | More | undefined {
    return questions.entryOf(this.#state.log.engine, id);
  }
  /** The label of an entry. */
  getLabel(id: string): string | undefined {
    return this.#state.log.engine.log.state.folded.labels.get(id)?.label;
  }
  /** In file order, without the header. */
  getEntries(): (SessionEntry | More)[] {
    return questions.entriesOf(this.#state.log.engine);
  }
  /** In file order; the roots for null. */
  getChildren(parentId: string | null): (SessionEntry | More)[] {
    return questions.childrenOf(this.#state.log.engine, parentId);
  }
  /** From the root to an entry (default: the leaf); empty for an unknown id. */
  getBranch(fromId?: string): (SessionEntry | More)[] {
    const { engine, leaf } = this.#state.log;
    return questions.branchOf(engine, fromId ?? leaf.id);
  }
  /** Problems found while reading. Not in pi and omp. */
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

  /** Appends a snapshot of the message below the leaf; returns its id, as all appends do. */
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
   * Calls `listener` for each appended entry that diverged: other processes had continued from the
   * leaf. Returns the unsubscribe function. Not in pi and omp.
   */
  onDiverged(listener: DivergedListener): () => void {
    return this.#position.onDiverged(listener);
  }
}
