/**
 * Texts of omp as logs of a store that blocks. A line is stored, and a text replaced, if its log
 * still ends where it was read to; else it is read again.
 */
import { basename, dirname } from "node:path";
import { io, runSync } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import { encodeTitleSlot, readTitleSlot, titleSlotBytes } from "@branchlog/core/engine";
import type { TitleSlot } from "@branchlog/core/engine";
import { commitConflictsMax, decodedName, encodedName, shortName } from "@branchlog/core/files";
import { storedLogError } from "@branchlog/core/files";
import type { BlockingStore } from "@branchlog/core/files";
import type { StoredFacts, StoredLog, StoredPosition } from "@branchlog/core/types";
import { artifactsOf } from "../session-artifacts.ts";
import { isTitleWanted, noSuchText } from "./texts.ts";
import type { Appender, FoundText, IsWanted, TextFacts, Texts } from "./texts.ts";

interface OpenText extends FoundText {
  readonly log: StoredLog;
  readonly end: StoredPosition;
}

/** The new text; `undefined`: it is removed, `keep`: it is not changed. */
type Change = Buffer | undefined | "keep";

export class StoredTexts implements Texts {
  readonly #store: BlockingStore;
  /** As the store listed them last. */
  #listed = new Map<string, StoredFacts>();

  constructor(store: BlockingStore) {
    this.#store = store;
  }

  makeDirectory(): void {
    // Names in a store need none.
  }

  facts(path: string): TextFacts | undefined {
    const found = this.#open(path);
    if (found === undefined) return undefined;
    const name = storedName(path);
    if (this.#listed.get(name)?.sizeBytes !== found.sizeBytes) this.#list();
    const changedMs = this.#listed.get(name)?.changedAt.getTime() ?? 0;
    return { sizeBytes: found.sizeBytes, changedMs };
  }

  #list(): Iterable<string> {
    this.#listed = new Map(this.#store.listSync().map((facts) => [facts.name, facts]));
    return this.#listed.keys();
  }

  read(path: string, from: number = 0, to: number = Infinity): Buffer | undefined {
    return this.#open(path)?.read(from, to);
  }

  names(directory: string): readonly string[] {
    const prefix = directoryPrefix(directory);
    return Array.from(this.#list(), (name) =>
      name.startsWith(prefix) ? [decodedName(name.slice(prefix.length))] : [],
    ).flat();
  }

  #open(path: string): OpenStoredText | undefined {
    return opened(this.#store, storedName(path));
  }

  appender(path: string): Appender {
    return new StoredAppender(this.#store, storedName(path));
  }

  replace(path: string, content: Buffer | undefined, isWanted: IsWanted): boolean {
    return this.#change(path, (found) => (isWanted(found) ? content : "keep"));
  }

  setTitle(path: string, slot: TitleSlot): void {
    this.#change(path, (found) => {
      if (found === undefined) throw noSuchText(path);
      const bytes = found.read(0);
      const before = readTitleSlot(bytes);
      if (before === undefined) {
        const message = `${path} has no title slot; nothing was written. Name the session again.`;
        throw new BranchlogError("ERR_APPEND_FAILED", message, { path });
      }
      if (!isTitleWanted(slot, before)) return "keep";
      return Buffer.concat([encodeTitleSlot(slot), bytes.subarray(titleSlotBytes)]);
    });
  }

  /** Returns whether it was changed, or removed. */
  #change(path: string, decide: (found: FoundText | undefined) => Change): boolean {
    const name = storedName(path);
    for (let attempt = 0; attempt < commitConflictsMax; attempt += 1) {
      const found = this.#open(path);
      const change = decide(found);
      if (change === "keep") return false;
      if (found !== undefined) {
        if (this.#store.replaceSync(name, found.end, change)) return true;
      } else if (change === undefined || created(this.#store, name, change)) {
        return true;
      }
    }
    throw conflicts(path);
  }

  /** Under the new name before it is gone under the old one. */
  rename(path: string, nextPath: string): void {
    for (let attempt = 0; attempt < commitConflictsMax; attempt += 1) {
      const found = this.#open(path);
      if (found === undefined) throw noSuchText(path);
      this.replace(nextPath, found.read(0), () => true);
      if (this.#store.replaceSync(storedName(path), found.end, undefined)) return;
    }
    throw conflicts(path);
  }

  async removeSession(path: string): Promise<void> {
    const below = artifactsOf(path);
    for (const name of this.names(below)) this.replace(`${below}/${name}`, undefined, () => true);
    this.replace(path, undefined, () => true);
  }
}

class StoredAppender implements Appender {
  readonly #store: BlockingStore;
  readonly #name: string;
  #log: StoredLog | undefined;
  #end: StoredPosition | undefined;
  #isTerminated = true;

  constructor(store: BlockingStore, name: string) {
    this.#store = store;
    this.#name = name;
  }

  append(line: Buffer): void {
    for (let attempt = 1; attempt <= commitConflictsMax; attempt += 1) {
      try {
        if (this.#tryAppend(line)) return;
        this.#log = undefined;
      } catch (error) {
        // Repeating the same call returns its outcome.
        const isUncertain = isBranchlogError(error, "ERR_APPEND_UNCERTAIN");
        if (!isUncertain || attempt === commitConflictsMax) throw error;
      }
    }
    throw conflicts(this.#name);
  }

  #tryAppend(line: Buffer): boolean {
    if (this.#log === undefined && !this.#open()) {
      if (this.#end !== undefined) throw storedLogError("gone", this.#name);
      return created(this.#store, this.#name, line);
    }
    const [log, end] = [this.#log, this.#end];
    if (log === undefined || end === undefined) return false;
    const bytes = this.#isTerminated ? line : Buffer.concat([Buffer.from("\n"), line]);
    const answer = runSync(io(() => log.append(end, bytes)));
    if (answer.kind === "conflict" || answer.kind === "gone") return false;
    this.#end = { ...end, at: end.at + bytes.length };
    this.#isTerminated = true;
    // Lines that others stored after this one are read before the next one.
    if (answer.end.at !== this.#end.at) this.#log = undefined;
    return true;
  }

  /** False: there is no such log. */
  #open(): boolean {
    const found = opened(this.#store, this.#name);
    if (found === undefined) return false;
    this.#isTerminated = found.sizeBytes === 0 || found.read(found.sizeBytes - 1)[0] === 0x0a;
    this.#log = found.log;
    this.#end = found.end;
    return true;
  }
}

interface OpenStoredText extends OpenText {
  read(from: number, to?: number): Buffer;
}

function opened(store: BlockingStore, name: string): OpenStoredText | undefined {
  try {
    const log = store.openSync(name);
    const first = log.takeOpened?.();
    const end = first?.end ?? runSync(io(() => log.end()));
    if (end === undefined) return undefined;
    const start = Buffer.concat(first?.indexedTo === undefined ? (first?.pieces ?? []) : []);
    const read = (from: number, to = Infinity): Buffer => {
      const last = Math.min(to, end.at);
      if (last <= start.length) return start.subarray(from, last);
      const pieces: Buffer[] = [];
      let at = from;
      for (const piece of blocking(log.read({ ...end, at }))) {
        pieces.push(piece);
        at += piece.length;
        if (at >= last) break;
      }
      return Buffer.concat(pieces).subarray(0, Math.max(0, last - from));
    };
    return { log, end, sizeBytes: end.at, read };
  } catch (error) {
    const isGone = isBranchlogError(error, "ERR_LOG_MISSING");
    if (isGone) return undefined;
    throw error;
  }
}

function blocking(pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Iterable<Buffer> {
  if (Symbol.iterator in pieces) return pieces;
  throw new TypeError("a store that blocks gives its bytes without promises");
}

/** False: another process was faster. */
function created(store: BlockingStore, name: string, bytes: Buffer): boolean {
  try {
    store.createSync(name, [bytes]);
    return true;
  } catch (error) {
    if (isBranchlogError(error, "ERR_LOG_EXISTS")) return false;
    throw error;
  }
}

function conflicts(id: string): BranchlogError {
  const message = `Others changed ${id} ${commitConflictsMax} times first; try it again.`;
  return new BranchlogError("ERR_APPEND_FAILED", message, { id });
}

function directoryPrefix(directory: string): string {
  return `omp.${shortName(encodedName(directory))}.`;
}

/** Throws as the store does for a name of a file that is too long. */
function storedName(path: string): string {
  return directoryPrefix(dirname(path)) + encodedName(basename(path));
}
