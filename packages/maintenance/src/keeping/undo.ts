/** Takes an operation back, if every file is as the operation left it. */
import { lstatSync, renameSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { runAsync } from "@branchlog/streaming";
import type { OptionNames } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import {
  acquireLock,
  descriptorPoolOf,
  nodeFileSystem,
  requireOptions,
} from "@branchlog/core/internal";
import { KeptFiles } from "./kept-files.ts";
import type { KeepingOptions } from "./kept-files.ts";
import { moveFile, placeOfMoved } from "./move-file.ts";
import { inverted, undoneBy } from "./operation.ts";
import type { FileChange, Operation } from "./operation.ts";
import { readPacked } from "./pack.ts";
import { hashOfFile, restoreFiles } from "./restore-file.ts";

export interface UndoOptions extends KeepingOptions {
  readonly signal?: AbortSignal | undefined;
}

const undoNames: OptionNames<UndoOptions> = { dataDir: true, ports: true, signal: true };

/** An operation in the list of all. */
export interface RecordedOperation extends Operation {
  /** The operation that undid it. */
  readonly undoneBy: string | undefined;
  /** Whether what it removed was removed for good since. */
  readonly isExpired: boolean;
}

export interface UndoResult {
  /** Of this operation: undo it to do again what was undone. */
  readonly operation: string;
  readonly undone: RecordedOperation;
  /** What was done now; what was so already is not in it. */
  readonly changes: readonly FileChange[];
}

/**
 * Everything that replaced or removed a session, the first one first.
 * @throws BranchlogError as `openSession`, for the record of operations.
 */
export async function operations(
  options: KeepingOptions = {},
): Promise<readonly RecordedOperation[]> {
  const kept = new KeptFiles(requireOptions(options, { dataDir: true, ports: true }));
  return recorded(kept, await kept.operations());
}

function recorded(kept: KeptFiles, all: readonly Operation[]): RecordedOperation[] {
  const undone = undoneBy(all);
  return all.map((operation) => ({
    ...operation,
    undoneBy: undone.get(operation.id),
    isExpired:
      operation.keptUntilMs !== undefined &&
      operation.changes.some(({ kind, ...change }) => {
        return kind === "removed" && "file" in change && !kept.hasPack(change.file.pack);
      }),
  }));
}

/**
 * Takes back the last operation that is not undone, or the one whose id begins so. Nothing is
 * changed unless everything can be: a file that another program changed since is never replaced.
 * After an interruption, a second call does the rest.
 * @throws BranchlogError `ERR_OPERATION_NOT_FOUND`, `ERR_UNDO_REFUSED`, `ERR_LOG_EXISTS`,
 * `ERR_ARCHIVE_DAMAGED`, `ERR_LOCK_TIMEOUT`, `ERR_CREATE_FAILED`.
 * @example
 * const { undone } = await undoOperation();
 */
export async function undoOperation(id?: string, options: UndoOptions = {}): Promise<UndoResult> {
  const { signal, ...place } = requireOptions(options, undoNames);
  const kept = new KeptFiles(place);
  const undone = chosen(recorded(kept, await kept.operations()), id);
  const steps: FileChange[] = [];
  for (const change of inverted(undone.changes)) {
    signal?.throwIfAborted();
    if (await isToDo(change, undone)) steps.push(change);
  }
  const packed = steps.flatMap((change) => ("file" in change ? [change] : []));
  const files = packed.map(({ file }) => file);
  // Before anything is changed, all of it is known to be there.
  await readPacked(kept, files, undefined, signal);
  const restored = packed.filter(({ kind }) => kind === "restored").map(({ file }) => file);
  await restoreFiles(kept, restored);
  for (const change of steps) await carryOut(change, undone, kept);
  const { clock, ids } = kept.ports;
  const operation = ids.sessionId();
  const undo = { id: operation, kind: "undo", undoes: undone.id, timeMs: clock.now() } as const;
  await kept.record({ ...undo, changes: steps });
  return { operation, undone, changes: steps };
}

function chosen(all: readonly RecordedOperation[], id: string | undefined): RecordedOperation {
  const fitting =
    id === undefined
      ? all.filter(({ kind, undoneBy: by }) => kind !== "undo" && by === undefined).slice(-1)
      : all.filter((operation) => operation.id.startsWith(id));
  const [operation, other] = fitting;
  if (operation === undefined || other !== undefined || id === "") {
    const which = id === undefined ? "There is nothing to undo" : `No one operation is ${id}`;
    const message = `${which}. branchlog ops lists what was done.`;
    throw new BranchlogError("ERR_OPERATION_NOT_FOUND", message, id === undefined ? {} : { id });
  }
  if (operation.undoneBy !== undefined) {
    const again = `branchlog undo ${operation.undoneBy} does it again`;
    throw refused(operation, "", `it was undone already; ${again}`);
  }
  if (operation.isExpired) throw refused(operation, "", "what it removed was kept for 30 days");
  return operation;
}

/** False if it is so already. Throws if it cannot be done. */
async function isToDo(change: FileChange, of: Operation): Promise<boolean> {
  switch (change.kind) {
    case "restored": {
      const { path, sha256, sizeBytes } = change.file;
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats === undefined) return true;
      // What was appended since is not lost: the file is there.
      if (stats.isFile() && (await hashOfFile(path, sizeBytes)) === sha256) return false;
      throw refused(of, path, "there is another file in its place; move that away");
    }
    case "removed": {
      const { path, sha256 } = change.file;
      const there = await hashOfFile(path);
      if (there === undefined) return false;
      if (there !== sha256) throw refused(of, path, "it changed since");
      return true;
    }
    case "moved": {
      const place = placeOfMoved(change);
      if (place === "both") throw refused(of, change.to, "there is another file in its place");
      if (place === "none") throw refused(of, change.from, "it is gone");
      return place === "from";
    }
    case "replaced": {
      const { path, before, after } = change;
      const there = await hashOfFile(path);
      if (there === after) return false;
      if (there !== before) throw refused(of, path, "it changed since");
      if (originalOf(change, of) === null) {
        throw refused(of, path, "nothing keeps it; repair or migrate the session again");
      }
      return true;
    }
  }
}

/** The file that an undone replacement had kept. */
function originalOf({ path }: { readonly path: string }, of: Operation): string | null {
  for (const change of of.changes) {
    if (change.kind === "replaced" && change.path === path) return change.original;
  }
  return null;
}

async function carryOut(change: FileChange, of: Operation, kept: KeptFiles): Promise<void> {
  switch (change.kind) {
    case "restored":
      return;
    case "removed":
      descriptorPoolOf(nodeFileSystem).closePath(change.file.path);
      unlinkSync(change.file.path);
      return;
    case "moved":
      await moveFile(change, kept.ports);
      return;
    case "replaced": {
      const original = originalOf(change, of);
      if (original !== null) await putBack(change.path, original, change, of, kept);
    }
  }
}

/** Under the lock of the log, so that no append is lost. */
async function putBack(
  path: string,
  original: string,
  { before, after }: { readonly before: string; readonly after: string },
  of: Operation,
  { ports }: KeptFiles,
): Promise<void> {
  if ((await hashOfFile(original)) !== after) {
    throw refused(of, original, "it is not what was kept");
  }
  const held = await runAsync(acquireLock(path, ports, 0)).catch((error: unknown) => {
    if (!isBranchlogError(error, "ERR_LOCK_TIMEOUT")) throw error;
    throw refused(of, path, "another process is appending to it");
  });
  try {
    if ((await hashOfFile(path)) !== before) throw refused(of, path, "it changed since");
    renameSync(original, path);
    nodeFileSystem.syncDirectorySync(dirname(path));
  } finally {
    held.releaseSync();
  }
}

function refused({ id, kind }: Operation, path: string, why: string): BranchlogError {
  const what = path === "" ? "" : ` of ${path}`;
  const message = `The operation ${kind} ${id}${what} was not undone: ${why}. Nothing was changed.`;
  return new BranchlogError("ERR_UNDO_REFUSED", message, path === "" ? { id } : { id, path });
}
