/** Undoes an operation, if every file is unchanged since. */
import { dirname } from "node:path";
import { runAsync } from "@branchlog/streaming";
import type { OptionNames } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import { acquireLock, nodeFileSystem, requireOptions } from "@branchlog/core/files";
import { trashMs } from "./limits.ts";
import { filesOpenElsewhere, statOf } from "./file-state.ts";
import { Archive, dataDirectoryNames } from "./archive-directory.ts";
import type { DataDirectoryOptions } from "./archive-directory.ts";
import { moveFile, placeOfMoved } from "./move-file.ts";
import { inverted, isVoid, undoneBy } from "./operation.ts";
import type { FileChange, Operation, PackedFile } from "./operation.ts";
import { readPacked } from "./pack.ts";
import { recoverAside } from "./recover-aside.ts";
import { removalFailed } from "./removal-errors.ts";
import { removeAgain } from "./remove-sessions.ts";
import { hashOfFile, restoreFiles } from "./restore-file.ts";
import { FilesAside, giveName } from "./set-aside.ts";

export interface UndoOptions extends DataDirectoryOptions {
  readonly signal?: AbortSignal | undefined;
}

const undoNames: OptionNames<UndoOptions> = { ...dataDirectoryNames, signal: true };

/** An operation in the list of all. */
export interface RecordedOperation extends Operation {
  /** The operation that undid it. */
  readonly undoneBy: string | undefined;
  /** Whether the files it removed were permanently removed since. */
  readonly isExpired: boolean;
}

export interface UndoResult {
  /** Of this operation: undo it to redo what was undone. */
  readonly operation: string;
  readonly undone: RecordedOperation;
  /** The changes made now, without those already in place. */
  readonly changes: readonly FileChange[];
}

/**
 * Everything that replaced or removed a session, the first one first.
 * @throws BranchlogError as `openSession`, for the record of operations.
 */
export async function operations(
  options: DataDirectoryOptions = {},
): Promise<readonly RecordedOperation[]> {
  const kept = new Archive(requireOptions(options, dataDirectoryNames));
  return recorded(kept, await kept.operations());
}

/** With what is known of them now; without those that did nothing. */
export function recorded(kept: Archive, all: readonly Operation[]): RecordedOperation[] {
  const undone = undoneBy(all);
  const done = all.filter((operation) => !isVoid(operation));
  return done.map((operation) => ({
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
 * Takes back the last operation that is not undone, or the one whose id starts with it. Nothing is
 * changed unless everything can be: a file that another program changed since is never replaced.
 * After an interruption, a second call does the rest.
 * @throws BranchlogError `ERR_OPERATION_NOT_FOUND`, `ERR_UNDO_REFUSED`, `ERR_LOG_EXISTS`,
 * `ERR_ARCHIVE_DAMAGED`, `ERR_LOCK_TIMEOUT`, `ERR_CREATE_FAILED`.
 * @example
 * const { undone } = await undoOperation();
 */
export async function undoOperation(id?: string, options: UndoOptions = {}): Promise<UndoResult> {
  const { signal, ...place } = requireOptions(options, undoNames);
  const kept = new Archive(place);
  await recoverAside(kept);
  const undone = chosen(recorded(kept, await kept.operations()), id);
  const inverse = inverted(undone.changes);
  const steps: FileChange[] = [];
  for (const change of inverse) {
    signal?.throwIfAborted();
    if (await isToDo(change, undone)) steps.push(change);
  }
  const packed = steps.flatMap((change) => ("file" in change ? [change] : []));
  // Before anything is changed, all of it is checked.
  await readPacked(
    kept,
    packed.map(({ file }) => file),
    undefined,
    signal,
  );
  const { clock, ids } = kept.ports;
  const [operation, timeMs] = [ids.sessionId(), clock.now()];
  const removed = packed.filter(({ kind }) => kind === "removed");
  const isTrash = removed.length > 0 && (await isKeptForAWhile(kept, removed));
  const undo = {
    id: operation,
    kind: "undo",
    timeMs,
    ...(isTrash ? { keptUntilMs: timeMs + trashMs } : {}),
  } as const;
  // Before anything is removed, it is recorded that its pack is needed again.
  const removing = inverse.filter(({ kind }) => kind === "removed");
  if (removing.length > 0) await kept.record({ ...undo, changes: removing });
  const restored = packed.filter(({ kind }) => kind === "restored").map(({ file }) => file);
  await restoreFiles(kept, restored);
  const gone = await removeAgain(removed, kept.ports);
  const [failure] = [...gone.values()].flatMap(({ error }) => error ?? []);
  if (failure !== undefined) {
    const left = removed.flatMap((change) =>
      gone.get(change.file.path)?.removed.length === 0
        ? [{ ...change, kind: "restored" } as const]
        : [],
    );
    await kept.record({ ...undo, changes: left });
    throw failure;
  }
  for (const change of steps) await carryOut(change, undone, kept);
  // All of it, also what an earlier call had done before it was interrupted.
  const others = inverse.filter(({ kind }) => kind !== "removed");
  await kept.record({ ...undo, undoes: undone.id, changes: others });
  return { operation, undone, changes: steps };
}

/** Whether all files removed again come from packs that are kept for 30 days only. */
async function isKeptForAWhile(
  kept: Archive,
  removed: readonly { readonly file: PackedFile }[],
): Promise<boolean> {
  const forGood = new Set<string>();
  for (const { keptUntilMs, changes } of await kept.operations()) {
    if (keptUntilMs !== undefined) continue;
    for (const one of changes) if (one.kind === "removed") forGood.add(one.file.pack);
  }
  return removed.every(({ file }) => !forGood.has(file.pack));
}

function chosen(all: readonly RecordedOperation[], id: string | undefined): RecordedOperation {
  const fitting =
    id === undefined
      ? all.filter((one) => one.kind !== "undo" && one.undoneBy === undefined).slice(-1)
      : all.filter((operation) => operation.id.startsWith(id));
  const [operation, other] = fitting;
  if (operation === undefined || other !== undefined || id === "") {
    const which =
      id === undefined ? "There is nothing to undo" : `No single operation matches ${id}`;
    const message = `${which}. branchlog ops lists what was done.`;
    throw new BranchlogError("ERR_OPERATION_NOT_FOUND", message, id === undefined ? {} : { id });
  }
  if (operation.undoneBy !== undefined) {
    const again = `branchlog undo ${operation.undoneBy} redoes it`;
    throw refused(operation, "", `it was already undone; ${again}`);
  }
  if (operation.isExpired)
    throw refused(
      operation,
      "",
      "what it removed was kept for 30 days, which have passed; branchlog ops lists what is kept",
    );
  return operation;
}

/** False if it is so already. Throws if it cannot be done. */
async function isToDo(change: FileChange, of: Operation): Promise<boolean> {
  switch (change.kind) {
    case "restored": {
      const { path, sha256, sizeBytes } = change.file;
      const stats = statOf(path);
      if (stats === undefined) return true;
      // Later appends are not lost: the file exists.
      if (stats.isFile() && (await hashOfFile(path, sizeBytes)) === sha256) return false;
      throw refused(
        of,
        path,
        `there is another file in its place; move that away, then ${againBy(of)}`,
      );
    }
    case "removed": {
      const { path, sha256 } = change.file;
      const there = await hashOfFile(path);
      if (there === undefined) return false;
      if (there !== sha256) {
        throw refused(
          of,
          path,
          "it changed since; branchlog archive or delete removes it as it is",
        );
      }
      return true;
    }
    case "moved": {
      const place = placeOfMoved(change);
      if (place === "none")
        throw refused(
          of,
          change.from,
          `it is missing or was replaced; restore it, then ${againBy(of)}`,
        );
      // A file that was never moved, or is back, is unchanged.
      return place === "from";
    }
    case "replaced": {
      const { path, before, after } = change;
      const there = await hashOfFile(path);
      if (there === after) return false;
      if (there !== before) throw refused(of, path, changedSince(change, of));
      if (originalOf(change, of) === null) {
        throw refused(
          of,
          path,
          "it has no copy; run branchlog repair or branchlog migrate on the session again",
        );
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

async function carryOut(change: FileChange, of: Operation, kept: Archive): Promise<void> {
  switch (change.kind) {
    case "restored":
    case "removed":
      return;
    case "moved":
      await moveFile(change, kept.ports, false);
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
  { ports }: Archive,
): Promise<void> {
  if ((await hashOfFile(original)) !== after) {
    throw refused(of, original, "it differs from what was kept; restore it from a backup");
  }
  const held = await runAsync(acquireLock(path, ports, 0)).catch((error: unknown) => {
    if (!isBranchlogError(error, "ERR_LOCK_TIMEOUT")) throw error;
    throw refused(of, path, `another process is appending to it; close that, then ${againBy(of)}`);
  });
  try {
    if ((await hashOfFile(path)) !== before) throw refused(of, path, changedSince({ path }, of));
    const file = new FilesAside(ports, [{ path, sha256: before }]);
    try {
      await file.requireKnown(filesOpenElsewhere());
      giveName(ports.fs, original, path);
      file.remove();
    } catch (error) {
      throw file.putBack(error instanceof BranchlogError ? error : removalFailed(path, error));
    }
    nodeFileSystem.syncDirectorySync(dirname(path));
  } finally {
    held.releaseSync();
  }
}

function againBy({ id }: Operation): string {
  return `branchlog undo ${id}`;
}

function changedSince(change: { readonly path: string }, of: Operation): string {
  const original = originalOf(change, of);
  const where =
    original === null ? "" : `; branchlog entries ${original} shows it as it was before`;
  return `it changed since${where}`;
}

function refused({ id, kind }: Operation, path: string, why: string): BranchlogError {
  const what = path === "" ? "" : ` of ${path}`;
  const message = `The operation ${kind} ${id}${what} was not undone: ${why}. Nothing was changed.`;
  return new BranchlogError("ERR_UNDO_REFUSED", message, path === "" ? { id } : { id, path });
}
