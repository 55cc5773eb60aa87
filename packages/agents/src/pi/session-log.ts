/**
 * The log of a session manager: a file, a log of a store, memory, or a draft: a log in memory that
 * is published with the first user or assistant message. A failed call changes nothing.
 */
import { isDeepStrictEqual } from "node:util";
import { readRange, runSync } from "@branchlog/streaming";
import type { AppendResult, EntryDraft } from "@branchlog/core";
import {
  LeafCursor,
  appendItem,
  isoText,
  prepare,
  sameDraft,
  isConversation,
  flushed,
  Engine,
  ContextMemo,
  writeTitle,
} from "@branchlog/core/engine";
import type { AppendItem, ParentChoice } from "@branchlog/core/engine";
import type { TitleSource } from "@branchlog/core/rows";
import { normalizeName } from "@branchlog/core/entries";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import { engineSettings, createLog, createPrivatePorts } from "@branchlog/core/files";
import type { EngineOptions } from "@branchlog/core/types";
import { createSessionLog, openEngine } from "./session-places.ts";

/** The leaf is pinned from the start, as in pi. */
export interface SessionLog {
  readonly engine: Engine;
  readonly leaf: LeafCursor;
  readonly memo: ContextMemo;
  /** Where a draft will be published; else null. */
  readonly draftOf: string | null;
  /** For the file that a draft becomes. */
  readonly options: EngineOptions;
  readonly unanswered: UnansweredAppend;
}

/**
 * The last append of which it is not known whether it is in the log: the same append again at the
 * same leaf, as a program that caught the error makes it, has the same id, so that the entry is
 * there once.
 */
class UnansweredAppend {
  #last: (AppendItem & { readonly id: string; readonly leafId: string | null }) | undefined;

  /** The result of `append`, to which it gives that id. */
  during<T>(item: AppendItem, leafId: string | null, append: (item: AppendItem) => T): T {
    const last = this.#last;
    const isSame =
      last?.leafId === leafId &&
      isDeepStrictEqual(last.parent, item.parent) &&
      sameDraft(last.encoded, item.encoded, last.id);
    try {
      const result = append(isSame ? { ...item, id: last.id } : item);
      this.#last = undefined;
      return result;
    } catch (error) {
      const [id] = isBranchlogError(error, "ERR_APPEND_UNCERTAIN") ? error.uncertain : [];
      if (id !== undefined) this.#last = { ...item, id, leafId };
      throw error;
    }
  }
}

export interface Appended {
  /** Another log if a draft was published. */
  readonly log: SessionLog;
  readonly result: AppendResult;
}

const memoryPath = "/session.jsonl";

/**
 * Never writes.
 *
 * @throws As {@link openEngine}.
 */
export function fileLog(path: string, options: EngineOptions): SessionLog {
  return standingAtTail(openEngine(path, options), null, options);
}

export function memoryLog(chunks: Iterable<Buffer>, options: EngineOptions): SessionLog {
  return standingAtTail(memoryEngine(memoryPath, chunks, options), null, options);
}

export function draftLog(
  path: string,
  chunks: Iterable<Buffer>,
  options: EngineOptions,
): SessionLog {
  return standingAtTail(memoryEngine(path, chunks, options), path, options);
}

/**
 * Appends one entry, by default below the leaf, and moves the leaf.
 *
 * @param timeMs The time of the entry.
 * @throws As `Appender.append`; for a draft `ERR_LOG_EXISTS`, and what creating a file throws.
 */
export function appendToLog(
  log: SessionLog,
  draft: EntryDraft,
  timeMs: number,
  parent?: ParentChoice,
): Appended {
  const { dialect } = log.engine;
  const form = { timestamp: isoText(timeMs), dialect, checks: "none" } as const;
  const item = appendItem(prepare(draft, form), parent);
  const { draftOf, unanswered } = log;
  return unanswered.during(item, log.leaf.id, (given) =>
    draftOf !== null && isConversation(item.encoded.type, item.encoded.role)
      ? publish(log, draftOf, given)
      : { log, result: appendNow(log, given) },
  );
}

/**
 * Does nothing without a title slot.
 *
 * @returns Whether it has the name now.
 * @throws As `writeTitle`.
 */
export function nameInSlot(
  { engine }: SessionLog,
  title: string,
  source: TitleSource = "user",
): boolean {
  if (engine.log.state.titleSlot === undefined) return false;
  return runSync(writeTitle(engine, normalizeName(title), source));
}

export function nowMs({ engine }: SessionLog): number {
  return engine.settings.ports.clock.now();
}

function standingAtTail(
  engine: Engine,
  draftOf: string | null,
  options: EngineOptions,
): SessionLog {
  const leaf = new LeafCursor(false, engine.tailId, engine.changes.notify);
  const unanswered = new UnansweredAppend();
  return { engine, leaf, memo: new ContextMemo(), draftOf, options, unanswered };
}

function memoryEngine(path: string, chunks: Iterable<Buffer>, options: EngineOptions): Engine {
  const { clock, ids } = engineSettings(options).ports;
  const ports = createPrivatePorts({ clock, ids });
  createLog(ports, path, chunks);
  return Engine.openSync(path, { ...options, ports, checkpoint: "off" });
}

function appendNow({ engine, leaf }: SessionLog, item: AppendItem): AppendResult {
  const request = { items: [item], onDiverged: "branch", expectedTail: undefined } as const;
  const [result] = engine.appender.appendSync(request, leaf);
  if (result === undefined) throw new Error("an append without a result");
  return result;
}

/** Publishes a copy with the entry appended, so that a failure leaves the draft unchanged. */
function publish(draft: SessionLog, path: string, item: AppendItem): Appended {
  const { options } = draft;
  const copy = draftLog(path, bytesOf(draft.engine), options);
  copy.leaf.pin(draft.leaf.id);
  const result = appendNow(copy, item);
  try {
    createSessionLog(path, bytesOf(copy.engine), options);
    return { log: standingAt(fileLog(path, options), copy.leaf), result };
  } catch (error) {
    const file = ownFile(draft, path, result.id, error);
    if (file === undefined) {
      throw mayBeDone(error) ? uncertain(path, result.id, error) : error;
    }
    if (isWhole(file, path, result.id)) return { log: standingAt(file, copy.leaf), result };
    const log = standingAt(file, draft.leaf);
    return { log, result: appendNow(log, item) };
  }
}

function standingAt(log: SessionLog, { id }: LeafCursor): SessionLog {
  log.leaf.pin(id);
  return log;
}

/**
 * The file at a path if it begins as the draft: an earlier publication failed after the file had
 * its name.
 *
 * @throws BranchlogError `ERR_APPEND_UNCERTAIN` if it cannot be read.
 */
function ownFile(
  draft: SessionLog,
  path: string,
  id: string,
  failure: unknown,
): SessionLog | undefined {
  try {
    const file = fileLog(path, draft.options);
    const wanted = Buffer.concat([...bytesOf(draft.engine)]);
    const found = Buffer.concat([...readRange(file.engine.log.file, 0, wanted.length)]);
    return found.equals(wanted) ? file : undefined;
  } catch (error) {
    // The file is another one that existed before.
    if (isBranchlogError(failure, "ERR_LOG_EXISTS")) return undefined;
    const isUnknown =
      isBranchlogError(error, "ERR_LOG_UNREADABLE") ||
      isBranchlogError(error, "ERR_STORE_UNAVAILABLE") ||
      isBranchlogError(error, "ERR_INTERRUPTED");
    if (!isUnknown) return undefined;
    throw uncertain(path, id, failure);
  }
}

function mayBeDone(error: unknown): boolean {
  return (
    isBranchlogError(error, "ERR_APPEND_UNCERTAIN") || isBranchlogError(error, "ERR_INTERRUPTED")
  );
}

/** Entries found in a store are not durable before it confirms them. */
function isWhole({ engine }: SessionLog, path: string, id: string): boolean {
  if (engine.index.rowOfId(id) < 0) return false;
  try {
    return runSync(flushed(engine.log));
  } catch (error) {
    throw uncertain(path, id, error);
  }
}

function uncertain(path: string, id: string, cause: unknown): BranchlogError {
  const message =
    `${path} could not be created or read (${String(cause)}), so it is not known whether ` +
    "the session is in it. Fix the cause, then append the same again: it is not written twice.";
  return new BranchlogError("ERR_APPEND_UNCERTAIN", message, { path, uncertain: [id], cause });
}

/** As of the last stat. */
export function bytesOf({ log }: Engine): Iterable<Buffer> {
  return readRange(log.file, 0, log.size);
}
