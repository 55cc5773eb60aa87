/**
 * Texts of omp as files. Replacing, renaming or removing one happens under our lock of it and under
 * omp's; a text appears completely or not at all.
 */
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { runSync } from "@branchlog/streaming";
import { isBranchlogError } from "@branchlog/core";
import {
  encodeTitleSlot,
  overwriteSlot,
  readTitleSlot,
  titleSlotBytes,
  underBothLocks,
} from "@branchlog/core/engine";
import type { TitleSlot } from "@branchlog/core/engine";
import {
  AtomicFile,
  LogFile,
  acquireLock,
  createLog,
  errorCodeOf,
  makeDurableDirectory,
  requireOwnPlace,
  sidecarPath,
} from "@branchlog/core/files";
import type { EngineSettings } from "@branchlog/core/files";
import { archiveFiles } from "@branchlog/library/catalogs";
import type { DataDirectoryOptions } from "@branchlog/library";
import { artifactsOf } from "../session-artifacts.ts";
import { AppendedFile } from "./appended-file.ts";
import { isTitleWanted, noSuchText } from "./texts.ts";
import type { FoundText, IsWanted, TextFacts, Texts } from "./texts.ts";

export class TextFiles implements Texts {
  readonly #settings: EngineSettings;
  readonly #archive: DataDirectoryOptions;

  constructor(settings: EngineSettings, archive: DataDirectoryOptions) {
    this.#settings = settings;
    this.#archive = archive;
  }

  makeDirectory(directory: string): void {
    makeDurableDirectory(this.#settings.ports.fs, directory);
  }

  facts(path: string): TextFacts | undefined {
    const stat = this.#settings.ports.fs.statSync(path);
    return stat === null ? undefined : { sizeBytes: stat.size, changedMs: stat.mtimeMs };
  }

  read(path: string, from: number = 0, to: number = Infinity): Buffer | undefined {
    const { fs } = this.#settings.ports;
    let fd: number;
    try {
      fd = fs.openSync(path, "read");
    } catch (error) {
      if (errorCodeOf(error) === "ENOENT") return undefined;
      throw error;
    }
    try {
      const target = Buffer.alloc(Math.max(0, Math.min(to, fs.fstatSync(fd).size) - from));
      let at = 0;
      for (let count = -1; at < target.length && count !== 0; at += count) {
        count = fs.readSync(fd, target, at, target.length - at, from + at);
      }
      return target.subarray(0, at);
    } finally {
      fs.closeSync(fd);
    }
  }

  names(directory: string): readonly string[] {
    try {
      return this.#settings.ports.fs.listSync(directory);
    } catch (error) {
      if (errorCodeOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  appender(path: string): AppendedFile {
    return new AppendedFile(path, this.#settings);
  }

  replace(path: string, content: Buffer | undefined, isWanted: IsWanted): boolean {
    for (;;) {
      const isDone = this.#isThere(path)
        ? this.#replaceFile(path, content, isWanted)
        : this.#create(path, content, isWanted);
      if (isDone !== undefined) return isDone;
    }
  }

  #isThere(path: string): boolean {
    return this.#settings.ports.fs.statSync(path) !== null;
  }

  /** Undefined: another process was faster. */
  #create(path: string, content: Buffer | undefined, isWanted: IsWanted): boolean | undefined {
    if (!isWanted(undefined)) return false;
    if (content === undefined) return true;
    try {
      createLog(this.#settings.ports, path, [content]);
      return true;
    } catch (error) {
      if (isBranchlogError(error, "ERR_LOG_EXISTS")) return undefined;
      throw error;
    }
  }

  /** Undefined: it is missing. A long text is written before the locks are held. */
  #replaceFile(path: string, content: Buffer | undefined, isWanted: IsWanted): boolean | undefined {
    const { ports } = this.#settings;
    const at = new LogFile(ports.fs, path).path;
    requireOwnPlace(ports.fs, at);
    const staged = content && new AtomicFile(ports, at);
    try {
      staged?.add(content ?? Buffer.alloc(0));
      staged?.syncSync();
      return this.#locked(at, () => {
        const stat = ports.fs.statSync(at);
        if (stat === null) return undefined;
        if (!isWanted(this.#found(at, stat.size))) return false;
        if (staged === undefined) {
          ports.fs.unlinkSync(at);
          return true;
        }
        ports.fs.setModeSync(staged.fd, stat.mode);
        staged.close();
        staged.replace();
        staged.syncName();
        return true;
      });
    } finally {
      staged?.discard();
    }
  }

  #found(path: string, sizeBytes: number): FoundText {
    return { sizeBytes, read: (from) => this.read(path, from) ?? Buffer.alloc(0) };
  }

  #locked<T>(path: string, work: () => T): T {
    return runSync(underBothLocks(path, this.#settings, work));
  }

  setTitle(path: string, slot: TitleSlot): void {
    const { fs } = this.#settings.ports;
    const at = new LogFile(fs, path).path;
    this.#locked(at, () => {
      const stat = fs.statSync(at);
      const start = this.read(at, 0, titleSlotBytes);
      if (stat === null || start === undefined) throw noSuchText(path);
      if (!isTitleWanted(slot, readTitleSlot(start))) return;
      overwriteSlot(at, encodeTitleSlot(slot), this.#settings, stat);
    });
  }

  rename(path: string, nextPath: string): void {
    const { fs } = this.#settings.ports;
    if (!this.#isThere(path)) throw noSuchText(path);
    this.#locked(new LogFile(fs, path).path, () => {
      fs.renameSync(path, nextPath);
      for (const changed of new Set([dirname(path), dirname(nextPath)])) {
        fs.syncDirectorySync(changed);
      }
    });
  }

  /** Into the archive, from which `branchlog undo` restores it. */
  async removeSession(path: string): Promise<void> {
    const below = artifactsOf(path);
    const attached = this.names(below).length === 0 ? [] : filesBelow(below);
    await archiveFiles(path, attached, this.#archive);
  }

  /** Two processes never do both at once; the lock of the file itself is not held. */
  whileAlone<T>(path: string, work: () => T): T {
    const { ports, lockWaitMs } = this.#settings;
    const name = sidecarPath(new LogFile(ports.fs, path).path, ".first-entry");
    const held = runSync(acquireLock(name, ports, lockWaitMs));
    try {
      return work();
    } finally {
      held.releaseSync();
    }
  }
}

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
