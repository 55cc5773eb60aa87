/**
 * The queries of omp's SessionManager, on its current session. Entries come as plain
 * objects whose bodies are read at the first use; nothing done to them changes the log.
 */
import { mainRole, roleModelType } from "../../dialects/model-reference.ts";
import type { TitleSource } from "../../dialects/title-slot.ts";
import type { SessionEntry, SessionHeader } from "../../entries/entry-types.ts";
import type { OmpSessionEntry } from "../../entries/omp-entry-types.ts";
import type { Diagnostic } from "../../index-table/diagnostics.ts";
import { isStoredObject } from "../../projections/stored-value.ts";
import type { UsageTotals } from "../../projections/usage.ts";
import { usageFold } from "../../session/body-fold.ts";
import type { Engine } from "../../session/engine.ts";
import * as questions from "../pi/log-queries.ts";
import type { ManagerPosition } from "../pi/manager-position.ts";
import type { ManagerState } from "../pi/manager-state.ts";
import type { SessionTreeNode } from "../pi/tree-nodes.ts";
import { ompContextOf, ompStateAt } from "./log-context.ts";
import type { SessionContext } from "./log-context.ts";
import { titleSource } from "./session-name.ts";

/** See the file comment. */
export class SessionReader {
  readonly #position: Pick<ManagerPosition, "state">;

  /** @internal Part of a session manager. */
  constructor(position: Pick<ManagerPosition, "state">) {
    this.#position = position;
  }

  get #state(): ManagerState {
    return this.#position.state;
  }

  /** Whether the session is kept in a file, now or from the first answer on. */
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
  /** A copy of the header, in the current form. */
  getHeader(): SessionHeader | null {
    return questions.headerOf(this.#state.log.engine);
  }

  /**
   * The name in force: of the title slot, else of the latest entry that names it, or the header.
   */
  getSessionName(): string | undefined {
    return this.#state.log.engine.log.state.name;
  }
  /** As {@link SessionManager.getSessionName}, as older versions have it. */
  getSessionTitle(): string | undefined {
    return this.getSessionName();
  }
  /** The origin of the name; undefined if it is not known. */
  get titleSource(): TitleSource | undefined {
    return titleSource(this.#state.log.engine);
  }

  /** The entry that the next one follows; null before the first. */
  getLeafId(): string | null {
    return this.#state.log.leaf.id;
  }
  /** The entry at the leaf. */
  getLeafEntry(): OmpSessionEntry | undefined {
    const { id } = this.#state.log.leaf;
    return id === null ? undefined : this.getEntry(id);
  }
  /** The entry with that id, as stored. */
  getEntry(id: string): OmpSessionEntry | undefined {
    return questions.entryOf(this.#state.log.engine, id);
  }
  /** The label of an entry. */
  getLabel(id: string): string | undefined {
    return this.#state.log.engine.log.state.folded.labels.get(id)?.label;
  }
  /** All entries in file order, without the header. */
  getEntries(): OmpSessionEntry[] {
    return questions.entriesOf(this.#state.log.engine);
  }
  /** The entries directly below one, in file order. */
  getChildren(parentId: string | null): OmpSessionEntry[] {
    return questions.childrenOf(this.#state.log.engine, parentId);
  }
  /** The entries from the root to one (default: the leaf); none for an unknown id. */
  getBranch(fromId?: string): OmpSessionEntry[] {
    const { engine, leaf } = this.#state.log;
    return questions.branchOf(engine, fromId ?? leaf.id);
  }
  /** The tree, with labels, children by time, without what its user put away. */
  getTree(options: { readonly includeArchived?: boolean } = {}): SessionTreeNode[] {
    const { engine } = this.#state.log;
    const roots = questions.treeOf(engine);
    return options.includeArchived === true ? roots : withoutArchived(roots, archivedIds(engine));
  }
  /** What was found wrong with the session while reading it. Not in omp. */
  getDiagnostics(): readonly Diagnostic[] {
    return this.#state.log.engine.diagnostics;
  }

  /** What the model gets at the leaf. References to images are as stored; see `resolveBlobs`. */
  buildSessionContext(): SessionContext {
    return ompContextOf(this.#state.log);
  }
  /** The rules that were injected on the way to the leaf. */
  getInjectedTtsrRules(): string[] {
    return ompStateAt(this.#state.log).injectedTtsrRules;
  }
  /** The role that the last change of a model on the way to the leaf was for. */
  getLastModelChangeRole(): string | undefined {
    const { engine, leaf } = this.#state.log;
    const view = engine.pathView(leaf.id);
    for (let i = view.length - 1; i >= 0; i -= 1) {
      if (view.type(i) === "model_change") return view.role(i) ?? mainRole;
      if (view.customType(i) === roleModelType) return roleOf(view.entry(i));
    }
    return undefined;
  }
  /** Token and cost totals of the whole log. Reads bodies on first demand, then only new ones. */
  getUsageStatistics(): UsageTotals {
    const { engine } = this.#state.log;
    return usageFold(engine).valueSync().total;
  }
}

/** Of a model that a log of pi has as state of an extension. */
function roleOf(entry: SessionEntry): string {
  const data: unknown = entry.type === "custom" ? entry.data : undefined;
  const role: unknown = isStoredObject(data) ? Reflect.get(data, "role") : undefined;
  return typeof role === "string" ? role : mainRole;
}

// Entries that the user archived, and the tree without them and what is below them.

/** The ids of the entries that are archived; of several records for one the last counts. */
function archivedIds({ index, bodies }: Engine): ReadonlySet<string> {
  const archived = new Set<string>();
  for (let row = 0; row < index.count; row += 1) {
    if (index.kindOf(row).type !== "archive" || !index.isNode(row)) continue;
    const entry = bodies.entrySync(row);
    const targetId: unknown = entry && Reflect.get(entry, "targetId");
    if (entry === undefined || typeof targetId !== "string") continue;
    if (Reflect.get(entry, "archived") === true) archived.add(targetId);
    else archived.delete(targetId);
  }
  return archived;
}

/** The tree without the archived entries and all below them. Changes the lists of the nodes. */
function withoutArchived(
  roots: SessionTreeNode[],
  archived: ReadonlySet<string>,
): SessionTreeNode[] {
  if (archived.size === 0) return roots;
  const lists = [roots];
  for (let list = lists.pop(); list !== undefined; list = lists.pop()) {
    let shown = 0;
    for (const node of list) if (!archived.has(node.entry.id)) list[shown++] = node;
    list.length = shown;
    for (const { children } of list) if (children.length > 0) lists.push(children);
  }
  return roots;
}
