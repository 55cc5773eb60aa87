/**
 * Removes files without losing appends of programs without the lock. Each file is renamed aside in
 * its directory and compared under that name; then it is removed, or renamed back. A program that
 * opens the file by its path finds none, or creates a new one, which is never replaced. One that
 * had the file open before is found by `filesOpenElsewhere`, or by the bytes that it wrote before
 * the last comparison.
 */
import { basename } from "node:path";
import { BranchlogError } from "@branchlog/core";
import type { FileSystem, Ports, FileStat } from "@branchlog/core/types";
import {
  errorCodeOf,
  isLinkUnsupported,
  isSameFile,
  isUnchanged,
  logExists,
  ownProcessName,
  processState,
  sidecarPath,
} from "@branchlog/core/files";
import { identityOf } from "./file-state.ts";
import {
  busySession,
  changedMeanwhile,
  leftAside,
  notPutBack,
  removalFailed,
} from "./removal-errors.ts";
import { hashOfFile } from "./restore-file.ts";

/** No agent lists a file with this name, and no program opens it. */
export const asideEnding = ".branchlog-aside";

/** `<file>.<process>.<uuid>.branchlog-aside`. */
const asideForm =
  /^(.+)\.([1-9]\d{0,9}(?:\.\d{1,20}\.[\da-f]{32})?)\.[\da-f-]{36}\.branchlog-aside$/;

/** Those that this process has set aside and not finished. */
const ownAside = new Set<string>();

function asidePath(path: string, id: string): string {
  return sidecarPath(path, `.${ownProcessName()}.${id}${asideEnding}`);
}

/** The name of the file, or its hash. Undefined: a running process is working on it. */
export function abandonedName(aside: string): string | undefined {
  const [, name, by = ""] = asideForm.exec(basename(aside)) ?? [];
  const isOwn = by === ownProcessName();
  const isInUse = isOwn ? ownAside.has(aside) : processState(by) === "running";
  return isInUse ? undefined : name;
}

export interface KnownFile {
  readonly path: string;
  readonly sizeBytes?: number;
  /** Of the bytes that may be removed, in hexadecimal. */
  readonly sha256: string;
  /** Where it is, if another process has set it aside already. */
  readonly aside?: string;
}

interface AsideFile extends KnownFile {
  readonly aside: string;
  /** As it was when it was compared. */
  stat?: FileStat;
}

/** Always end it: by `remove`, or by `putBack`. */
export class FilesAside {
  /** Paths of the files that are removed. */
  readonly removed: string[] = [];
  readonly #fs: FileSystem;
  #files: AsideFile[] = [];

  /** Renames all files, or none. Throws `ERR_LOG_CHANGED`, `ERR_DELETE_FAILED`. */
  constructor({ fs, ids }: Ports, files: readonly KnownFile[]) {
    this.#fs = fs;
    for (const file of files) {
      const aside = file.aside ?? asidePath(file.path, ids.sessionId());
      ownAside.add(aside);
      // Before the call: one that failed may have had its effect.
      this.#files.push({ ...file, aside });
      if (file.aside !== undefined) continue;
      try {
        fs.renameSync(file.path, aside);
      } catch (error) {
        const toError = errorCodeOf(error) === "ENOENT" ? changedMeanwhile : removalFailed;
        throw this.putBack(toError(file.path, error));
      }
    }
  }

  /**
   * Compares all files with their known state.
   * @param openElsewhere Found after they were renamed: no process can open them since.
   * Throws `ERR_SESSION_BUSY`, `ERR_LOG_CHANGED`, `ERR_DELETE_FAILED`.
   */
  async requireKnown(openElsewhere: ReadonlySet<string>): Promise<void> {
    for (const file of this.#files) {
      const { path, aside, sha256 } = file;
      const before = this.#statOf(file);
      if (openElsewhere.has(identityOf(before))) {
        throw busySession(path, "another process has it open");
      }
      const hash = await hashOfFile(aside);
      file.stat = this.#statOf(file);
      if (hash !== sha256 || !isUnchanged(before, file.stat)) throw changedMeanwhile(path);
    }
  }

  /**
   * Removes the compared files, the first one first. Throws `ERR_LOG_CHANGED`, `ERR_DELETE_FAILED`;
   * those before are removed then.
   */
  remove(): void {
    for (;;) {
      const [file] = this.#files;
      if (file === undefined) return;
      const now = this.#statOf(file);
      if (file.stat === undefined || !isUnchanged(now, file.stat)) {
        throw changedMeanwhile(file.path);
      }
      this.#unlink(file);
      ownAside.delete(file.aside);
      this.#files.shift();
      this.removed.push(file.path);
    }
  }

  /** Gives a single file another name, which must be free, with its later writes. */
  moveTo(path: string): void {
    const [file] = this.#files;
    if (file === undefined) return;
    giveName(this.#fs, file.aside, path);
    this.#end();
  }

  /**
   * Gives all files that are not removed their names back.
   * @param error Why they are not removed; the result also reports files that did not get their
   * name back.
   */
  putBack(error: BranchlogError): BranchlogError {
    let result = error;
    for (const { path, aside } of this.#files) {
      try {
        giveName(this.#fs, aside, path);
      } catch (cause) {
        if (this.#isBack(path, aside)) continue;
        const isTaken = cause instanceof BranchlogError;
        result = isTaken ? leftAside(path, aside, error) : notPutBack(path, aside, cause);
      }
    }
    this.#end();
    return result;
  }

  #end(): void {
    for (const { aside } of this.#files) ownAside.delete(aside);
    this.#files = [];
  }

  /** By another process, or since the rename had no effect. */
  #isBack(path: string, aside: string): boolean {
    try {
      return this.#fs.statSync(aside) === null && this.#fs.statSync(path) !== null;
    } catch {
      return false;
    }
  }

  #statOf({ path, aside }: AsideFile): FileStat {
    let stat: FileStat | null;
    try {
      stat = this.#fs.statSync(aside);
    } catch (error) {
      throw removalFailed(path, error);
    }
    if (stat === null) throw changedMeanwhile(path);
    return stat;
  }

  #unlink({ path, aside }: AsideFile): void {
    try {
      this.#fs.unlinkSync(aside);
    } catch (error) {
      // A failed call may have had its effect.
      if (!isGone(this.#fs, aside)) throw removalFailed(path, error);
    }
  }
}

function isGone(fs: FileSystem, path: string): boolean {
  try {
    return fs.statSync(path) === null;
  } catch {
    return false;
  }
}

/**
 * Renames a file, not over another one. A name that is its own already is fine. Throws
 * `ERR_LOG_EXISTS`, errors of the file system. Without hard links, one created between the last
 * check and the rename is replaced.
 */
export function giveName(fs: FileSystem, from: string, to: string): void {
  try {
    // A link, unlike a rename, never replaces a file.
    fs.linkSync(from, to);
  } catch (error) {
    const [one, other] = [fs.statSync(from), fs.statSync(to)];
    const isLinked = one !== null && other !== null && isSameFile(one, other);
    if (!isLinked) {
      if (other !== null) throw logExists(to, error);
      if (!isLinkUnsupported(error)) throw error;
      fs.renameSync(from, to);
      return;
    }
  }
  try {
    fs.unlinkSync(from);
  } catch {
    // A second name loses nothing; the next recovery removes it.
  }
}
