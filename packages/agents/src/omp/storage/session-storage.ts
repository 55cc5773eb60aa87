/**
 * The session storage of oh-my-pi over files or a store: omp's own session manager on our log.
 * A session is read unchanged, except for the rest of killed writes: an unfinished last line counts
 * as finished, and a line that is not UTF-8 as blank, so that sizes computed by omp are correct.
 */
import { isUtf8 } from "node:buffer";
import { dirname, join } from "node:path";
import { rm } from "node:fs/promises";
import { decodeLine } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import { isObject } from "@branchlog/core/rows";
import type { TitleSource } from "@branchlog/core/rows";
import { engineSettings, invalidArgument, requireOptions, storePlace } from "@branchlog/core/files";
import { dataDirectoryNames } from "@branchlog/library/catalogs";
import type { DataDirectoryOptions } from "@branchlog/library";
import { artifactsOf, sessionEnding } from "../session-artifacts.ts";
import { StoredTexts } from "./stored-texts.ts";
import { TextFiles } from "./text-files.ts";
import { noSuchText, requireExpected } from "./texts.ts";
import type { Appender, IsWanted, Texts } from "./texts.ts";

/** Options of {@link ompSessionStorage}. */
export interface OmpStorageOptions extends DataDirectoryOptions {
  /** Of a store, once `branchlog/postgres/blocking` is imported: `postgres://…`. Else: files. */
  readonly address?: string | undefined;
  /** As that of a session. */
  readonly lockWaitMs?: number | undefined;
}

/** The arguments of omp for a new title. */
export interface OmpTitleUpdate {
  readonly title?: string | undefined;
  readonly source?: TitleSource | undefined;
  /** ISO 8601. */
  readonly updatedAt: string;
}

/** The checks in the same step as the replacement of a text. */
export interface OmpWriteOptions {
  /** Null: not created yet. */
  readonly expectedSize?: number | null | undefined;
  /** False: nothing is written. Runs while the lock is held. */
  readonly commitGuard?: (() => boolean) | undefined;
}

/** How a writer is opened. */
export interface OmpWriterOptions {
  /** `w`: begins with an empty text. Default `a`. */
  readonly flags?: "a" | "w" | undefined;
  readonly onError?: ((error: Error) => void) | undefined;
}

/**
 * A storage for `SessionManager.open(path, undefined, storage)` of omp 18.
 *
 * An append is in the file, or committed in the store, when it returns; several processes can use
 * one session. `deleteSessionWithArtifacts` moves files into the archive of the user.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`. Its methods throw what appends and creations do,
 * and `ERR_CONFLICT` if others changed a text since omp read it.
 * @example
 * const session = SessionManager.create(cwd, "sessions", ompSessionStorage());
 */
export function ompSessionStorage(options: OmpStorageOptions = {}): OmpSessionStorage {
  const names = { ...dataDirectoryNames, address: true, lockWaitMs: true } as const;
  const { address, lockWaitMs, ...archive } = requireOptions(options, names);
  if (address === undefined) {
    const waiting = lockWaitMs === undefined ? {} : { lockWaitMs };
    const settings = engineSettings({ ports: archive.ports ?? {}, ...waiting });
    return new OmpFileStorage(new TextFiles(settings, archive));
  }
  const place = storePlace(address);
  if (place !== undefined && place.name === undefined) {
    return new OmpSessionStorage(new StoredTexts(place.store));
  }
  throw invalidArgument("The address must be that of a store, and of no session in it");
}

/** Made by {@link ompSessionStorage}; has the methods that omp asks for. */
export class OmpSessionStorage {
  readonly #texts: Texts;

  /** @internal */
  constructor(texts: Texts) {
    this.#texts = texts;
  }

  ensureDirSync(directory: string): void {
    this.#texts.makeDirectory(directory);
  }

  existsSync(path: string): boolean {
    return this.#texts.facts(path) !== undefined;
  }

  async exists(path: string): Promise<boolean> {
    return this.existsSync(path);
  }

  /** Throws an error with the code `ENOENT` for a missing file. */
  statSync(path: string): { size: number; mtimeMs: number; mtime: Date } {
    const facts = this.#texts.facts(path);
    if (facts === undefined) throw noSuchText(path);
    const { sizeBytes, changedMs } = facts;
    const [last] = this.#sessionLast(path, sizeBytes);
    const size = last === undefined || last === newline ? sizeBytes : sizeBytes + 1;
    return { size, mtimeMs: changedMs, mtime: new Date(changedMs) };
  }

  #sessionLast(path: string, sizeBytes: number): Iterable<number> {
    if (!isSession(path) || sizeBytes === 0) return [];
    return this.#texts.read(path, sizeBytes - 1, sizeBytes) ?? [];
  }

  /** @param pattern A name, in which `*` stands for any part. */
  listFilesSync(directory: string, pattern: string): string[] {
    const parts = pattern.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"));
    const wanted = new RegExp(`^${parts.join(".*")}$`, "s");
    return this.#texts
      .names(directory)
      .filter((name) => wanted.test(name) && name.startsWith(".") === pattern.startsWith("."))
      .map((name) => join(directory, name));
  }

  /** Rejects with the code `ENOENT` for a missing file. */
  async readText(path: string): Promise<string> {
    const bytes = this.#texts.read(path);
    if (bytes === undefined) throw noSuchText(path);
    return (isSession(path) ? sized(bytes) : bytes).toString();
  }

  /** So many bytes of its start and of its end, as texts. */
  async readTextSlices(
    path: string,
    prefixBytes: number,
    suffixBytes: number,
  ): Promise<[string, string]> {
    const { sizeBytes } = this.#texts.facts(path) ?? {};
    if (sizeBytes === undefined) throw noSuchText(path);
    const slice = (from: number, to: number): string =>
      to > from ? (this.#texts.read(path, from, to)?.toString() ?? "") : "";
    const start = slice(0, Math.min(prefixBytes, sizeBytes));
    return [start, slice(Math.max(0, sizeBytes - Math.max(0, suffixBytes)), sizeBytes)];
  }

  /** Whether a message of the model is in the session. */
  async hasAssistantTurn(path: string): Promise<boolean> {
    const text = await this.readText(path);
    return text.split("\n").some((line) => {
      if (!line.includes("assistant")) return false;
      const decoded = decodeLine(Buffer.from(line));
      if (!decoded.ok || decoded.value["type"] !== "message") return false;
      const { message } = decoded.value;
      return isObject(message) && message["role"] === "assistant";
    });
  }

  /** Replaces a text, or creates it. Throws `ERR_CONFLICT`. */
  writeTextSync(path: string, content: string, options: OmpWriteOptions = {}): void {
    const bytes = Buffer.from(content);
    const isWanted: IsWanted = (found) => {
      if (options.commitGuard?.() === false) return false;
      requireExpected(path, options.expectedSize, bytes, found);
      return true;
    };
    this.#texts.replace(path, bytes, isWanted);
  }

  async writeText(path: string, content: string): Promise<void> {
    this.writeTextSync(path, content);
  }

  /** As {@link OmpSessionStorage.writeTextSync}. */
  async writeTextAtomic(path: string, content: string, options?: OmpWriteOptions): Promise<void> {
    this.writeTextSync(path, content, options);
  }

  /** Writes the title into the slot; one that a user set stays if the new one is generated. */
  async updateSessionTitle(path: string, update: OmpTitleUpdate): Promise<void> {
    this.#texts.setTitle(path, { ...update, title: update.title ?? "" });
  }

  async rename(path: string, nextPath: string): Promise<void> {
    this.#texts.rename(path, nextPath);
  }

  async unlink(path: string): Promise<void> {
    const isThere: IsWanted = (found) => {
      if (found === undefined) throw noSuchText(path);
      return true;
    };
    this.#texts.replace(path, undefined, isThere);
  }

  /** Files go into the archive (`branchlog undo`); from a store they are removed. */
  async deleteSessionWithArtifacts(sessionPath: string): Promise<void> {
    await this.#texts.removeSession(sessionPath);
  }

  openWriter(path: string, options: OmpWriterOptions = {}): OmpSessionWriter {
    this.#texts.makeDirectory(dirname(path));
    if (options.flags === "w") this.writeTextSync(path, "");
    return new OmpSessionWriter(this.#texts.appender(path), options.onError);
  }

  /** Nothing waits: writes are complete when the call returns. */
  async drain(): Promise<void> {
    // See above.
  }
}

/** Over files, whose locks several processes share. */
class OmpFileStorage extends OmpSessionStorage {
  readonly #files: TextFiles;

  constructor(files: TextFiles) {
    super(files);
    this.#files = files;
  }

  /** The first entry of omp, while nobody removes the empty session. */
  withSessionFileLockSync<T>(sessionPath: string, operation: () => T): T {
    return this.#files.whileAlone(sessionPath, operation);
  }

  /** For sessions without entries, which need no archive. */
  async deleteSessionWithArtifactsIf(
    sessionPath: string,
    shouldDelete: (content: string) => boolean,
  ): Promise<boolean> {
    const isWanted: IsWanted = (found) =>
      found !== undefined && shouldDelete(found.read(0).toString());
    const isRemoved = this.#files.whileAlone(sessionPath, () =>
      this.#files.replace(sessionPath, undefined, isWanted),
    );
    if (isRemoved) await rm(artifactsOf(sessionPath), { recursive: true, force: true });
    return isRemoved;
  }
}

/** Appends to one session; its lines are complete, with concurrent writers. */
export class OmpSessionWriter {
  readonly #appender: Appender;
  readonly #onError: ((error: Error) => void) | undefined;
  #isOpen = true;
  #error: Error | undefined;

  /** @internal */
  constructor(appender: Appender, onError: ((error: Error) => void) | undefined) {
    this.#appender = appender;
    this.#onError = onError;
  }

  /** @param line With its newline. Throws the first error again after it. */
  appendSync(line: string): void {
    if (!this.#isOpen)
      throw new BranchlogError("ERR_CLOSED", "The writer is closed; open another one.");
    this.flushSync();
    try {
      if (line.indexOf("\n") !== line.length - 1) {
        throw invalidArgument("What is appended must be one line, with its newline");
      }
      this.#appender.append(Buffer.from(line));
    } catch (cause) {
      this.#error = cause instanceof Error ? cause : new Error(String(cause));
      this.#onError?.(this.#error);
      throw this.#error;
    }
  }

  async append(line: string): Promise<void> {
    this.appendSync(line);
  }

  /** Throws the error of an append. */
  flushSync(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  async flush(): Promise<void> {
    this.flushSync();
  }

  isOpen(): boolean {
    return this.#isOpen;
  }

  /** Rejects with the error of an append. */
  async close(): Promise<void> {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    if (wasOpen) this.flushSync();
  }

  getError(): Error | undefined {
    return this.#error;
  }
}

const newline = 0x0a;

function isSession(path: string): boolean {
  return path.endsWith(sessionEnding);
}

/** As many bytes of UTF-8, and the newline that the last line lacks. */
function sized(bytes: Buffer): Buffer {
  const isWhole = bytes.length === 0 || bytes.at(-1) === newline;
  const whole = isWhole ? bytes : Buffer.concat([bytes, Buffer.from("\n")]);
  if (isUtf8(whole)) return whole;
  const text = Buffer.from(whole);
  for (let from = 0; from < text.length;) {
    const end = text.indexOf(newline, from);
    const line = text.subarray(from, end);
    if (!isUtf8(line)) line.fill(" ");
    from = end + 1;
  }
  return text;
}
