/** One script with one implementation: carries out its steps and says what they gave. */
import { existsSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { answers, migrated } from "./answers.ts";
import type { Operation, Place, Script } from "./operation.ts";
import type { Entry, Manager, SessionModule } from "./session-port.ts";
import type { Tolerated } from "./tolerated.ts";

const skipped = "skipped";
const headerFields = new Set(["type", "version", "id", "timestamp", "cwd", "parentSession"]);

/** See the file comment. */
export class Run {
  readonly #module: SessionModule;
  readonly #tolerated: readonly Tolerated[];
  readonly #place: { readonly root: string; readonly sessions: string };
  readonly #script: Script;
  #manager: Manager;

  constructor(
    module: SessionModule,
    tolerated: readonly Tolerated[],
    place: { readonly root: string; readonly sessions: string },
    script: Script,
  ) {
    this.#module = module;
    this.#tolerated = tolerated;
    this.#place = place;
    this.#script = script;
    this.#manager = begin(module, place, script);
  }

  /** Does one thing; what it gave, and the leaf afterwards. */
  step(operation: Operation): object {
    const outcome = attempt(() => this.#do(operation));
    const manager = this.#manager;
    const state = {
      leaf: manager.getLeafId(),
      count: manager.getEntries().length,
      name: manager.getSessionName(),
      id: manager.getSessionId(),
      file: manager.getSessionFile(),
      isThere: this.#isComparable() && existsSync(manager.getSessionFile() ?? ""),
    };
    return { ...outcome, state };
  }

  /** Everything that can be asked of the session, and all files. */
  async everything(): Promise<object> {
    const files = this.#files();
    const { root, sessions } = this.#place;
    const { SessionManager } = this.#module;
    const listed = this.#isListable(files) ? await SessionManager.list(root, sessions) : [];
    if (this.#tolerates("lists-ties-in-any-order")) {
      listed.sort((a, b) => (a.path < b.path ? -1 : 1));
    }
    const hasAll = this.#isListable(files) && !this.#tolerates("lists-no-folder");
    const all = hasAll ? await SessionManager.listAll(sessions) : [];
    const isKnown = ({ path }: { readonly path: string }): boolean => Object.hasOwn(files, path);
    return {
      ...this.#answers(undefined),
      listed: listed.filter(isKnown),
      all: all.filter(isKnown),
      files: Object.entries(files).filter(([path]) => this.#hasSameBytes(path)),
      migrated: migrated(this.#module, this.#script.stored ?? ""),
      records: Object.keys(files).map((path) => this.#module.loadEntriesFromFile(path)),
    };
  }

  #do(operation: Operation): unknown {
    const manager = this.#manager;
    switch (operation.do) {
      case "message":
        return manager.appendMessage(operation.message);
      case "thinking":
        return manager.appendThinkingLevelChange(operation.level);
      case "model":
        return manager.appendModelChange(operation.provider, operation.model);
      case "usage":
        return manager.appendUsage?.("task", "p", "m", operation.usage, operation.note);
      case "compact":
        return manager.appendCompaction(
          operation.summary,
          this.#idOrNull(operation.kept),
          100,
          ...operation.rest,
        );
      case "custom":
        return manager.appendCustomEntry(operation.type, operation.data);
      case "note":
        return manager.appendCustomMessageEntry("note", operation.content, ...operation.rest);
      case "name":
        return manager.appendSessionInfo(operation.name);
      case "label":
        return manager.appendLabelChange(this.#id(operation.target), operation.label);
      case "edit":
        return manager.appendContextEdit?.(this.#id(operation.target), operation.replacement);
      case "branch":
        return manager.branch(this.#id(operation.to));
      case "reset":
        return manager.resetLeaf();
      case "summary":
        return this.#summarise(this.#idOrNull(operation.to), operation.summary, operation.rest);
      case "ask":
        return this.#answers(operation.about);
      case "folder":
        return this.#module.getDefaultSessionDir?.(operation.cwd);
      default:
        return this.#moveOn(operation);
    }
  }

  #summarise(to: string | null, summary: string, rest: readonly unknown[]): string {
    if (this.#tolerates("names-destination")) {
      // From there to there: then both meanings name the same entry.
      if (to === null) this.#manager.resetLeaf();
      else this.#manager.branch(to);
    }
    return this.#manager.branchWithSummary(to, summary, ...rest);
  }

  /** Goes to another session. */
  #moveOn(operation: Operation): unknown {
    const { SessionManager } = this.#module;
    const { root, sessions } = this.#place;
    const file = this.#manager.getSessionFile();
    switch (operation.do) {
      case "extract": {
        const id = this.#id(operation.leaf);
        if (this.#hasForeignFields()) return skipped;
        return this.#wouldLose(id) ? skipped : this.#manager.createBranchedSession(id);
      }
      case "new":
        return this.#manager.newSession({
          ...(operation.id === undefined ? {} : { id: operation.id }),
          ...(operation.isChild ? { parentSession: file } : {}),
        });
      case "adopt": {
        const records = [this.#manager.getHeader() ?? {}, ...this.#manager.getEntries()];
        // The array is taken over: what is appended later appears in it.
        this.#manager = SessionManager.inMemory(root, undefined, structuredClone(records));
        return undefined;
      }
      case "reopen":
        if (file === undefined || !this.#isComparable()) return skipped;
        this.#manager = SessionManager.open(file, undefined, operation.cwd);
        return undefined;
      case "switch":
        return this.#switchTo(operation.file);
      case "recent":
        if (this.#tolerates("writes-at-answer")) return skipped;
        return this.#goToRecent();
      case "fork":
        if (file === undefined || !this.#isComparable() || this.#hasForeignFields()) return skipped;
        this.#manager = SessionManager.forkFrom(file, root, sessions);
        return undefined;
      default:
        throw new Error(`No such operation: ${operation.do}`);
    }
  }

  #hasSameBytes(path: string): boolean {
    const { stored, isOld } = this.#script;
    if (!this.#tolerates("rewrites-bytes") || stored === undefined) return true;
    return isOld !== true && path.endsWith("stored.jsonl");
  }

  /** What lists show of odd files is shown in `deviations.test.ts`. */
  #isListable(files: Readonly<Record<string, string>>): boolean {
    if (!this.#tolerates("splits-at-separators")) return true;
    const hasSeparators = /[\u2028\u2029]/.test(Object.values(files).join(""));
    return this.#script.stored === undefined && !hasSeparators;
  }

  #switchTo(place: number): unknown {
    const files = Object.keys(this.#files());
    const file = files[place % files.length];
    if (file === undefined || !this.#manager.isPersisted()) return skipped;
    this.#manager.setSessionFile(file);
    return file;
  }

  #goToRecent(): string | null {
    const { root, sessions } = this.#place;
    // Files of the same instant are in no order: here they are as old as their names say.
    for (const [i, name] of readdirSync(sessions).toSorted().entries()) {
      if (name.endsWith(".jsonl")) utimesSync(join(sessions, name), 1e9 + i, 1e9 + i);
    }
    this.#manager = this.#module.SessionManager.continueRecent(root, sessions);
    return this.#module.findMostRecentSession(sessions);
  }

  #answers(about: Place | undefined): object {
    const id = about === undefined ? undefined : this.#id(about);
    return {
      ...answers(this.#module, this.#manager, id, this.#tolerated),
      found: this.#tolerates("writes-at-answer") ? undefined : this.#found(),
    };
  }

  #tolerates(difference: Tolerated): boolean {
    return this.#tolerated.includes(difference);
  }

  #found(): string | undefined {
    const { root, sessions } = this.#place;
    return this.#module.SessionManager.findById?.(root, this.#manager.getSessionId(), sessions);
  }

  /** Whether the file is there, or not, by all rules: there is no message, or one of the model. */
  #isComparable(): boolean {
    if (!this.#tolerates("writes-at-answer")) return true;
    const roles = this.#manager.getEntries().map(({ message }) => message?.role);
    return roles.includes("assistant") || !roles.includes("user");
  }

  #hasForeignFields(): boolean {
    if (!this.#tolerates("loses-header-fields")) return false;
    return Object.keys(this.#manager.getHeader() ?? {}).some((key) => !headerFields.has(key));
  }

  /** Whether the implementation may lose facts of a branch stored elsewhere. */
  #wouldLose(leafId: string): boolean {
    const path = this.#manager.getBranch(leafId);
    if (this.#tolerates("keeps-missing-parents") && path[0]?.parentId) return true;
    if (this.#tolerates("loses-labels") && path.some(({ type }) => type === "label")) return true;
    if (!this.#tolerates("loses-names")) return false;
    return nameOf(path) !== nameOf(this.#manager.getEntries());
  }

  #files(): Record<string, string> {
    const { sessions } = this.#place;
    const files = readdirSync(sessions)
      .filter((name) => name.endsWith(".jsonl"))
      .toSorted()
      .map((name) => [join(sessions, name), readFileSync(join(sessions, name), "utf8")] as const)
      .filter(
        ([, text]) => !this.#tolerates("writes-at-answer") || text.includes('"role":"assistant"'),
      );
    return Object.fromEntries(files);
  }

  #id(place: Place): string {
    const entries = this.#manager.getEntries();
    return (place < 0 ? undefined : entries[place % entries.length]?.id) ?? "unknown";
  }

  #idOrNull(place: Place | null): string | null {
    return place === null ? null : this.#id(place);
  }
}

function begin(
  { SessionManager }: SessionModule,
  { root, sessions }: { readonly root: string; readonly sessions: string },
  { stored, isForked, isInMemory }: Script,
): Manager {
  const file = join(sessions, "stored.jsonl");
  if (isInMemory === true) return SessionManager.inMemory(root);
  if (stored === undefined) return SessionManager.create(root, sessions);
  if (isForked === true) return SessionManager.forkFrom(file, root, sessions);
  return SessionManager.open(file);
}

function nameOf(entries: readonly Entry[]): string | undefined {
  const last = entries.findLast(({ type }) => type === "session_info");
  return last?.name?.trim() || undefined;
}

function attempt(act: () => unknown): object {
  try {
    return { result: act() ?? null };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
