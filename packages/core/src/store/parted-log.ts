/**
 * A log that its agent spreads over several files, as one: the parts before the last file, which do
 * not change any more, each after a record that names it, and that file, which may grow.
 */
import { Buffer } from "node:buffer";
import { basename } from "node:path";
import { openByteSource } from "@branchlog/streaming";
import type { ByteSource, FileSource } from "@branchlog/streaming";
import { earlierFiles, transcriptFormats } from "../dialects/agent.ts";
import type { LogPart } from "../dialects/agent.ts";
import { LogFile } from "../platform/log-file.ts";
import { FollowedLog } from "./followed-log.ts";
import type { FileReading } from "./followed-log.ts";
import type { StoredLog, StoredPosition } from "./log-store.ts";
import { storedLogError } from "./stored-names.ts";

/** A file of a session with what it continues. */
export interface LogSource extends FileSource {
  /** Bytes before those of its file; 0 for most. */
  readonly before: number;
  /** How many of these are of other sessions; they come first. */
  readonly inherited: number;
  /** Paths of the files that they are of, whether or not these can be read. */
  readonly earlier: readonly string[];
}

/** Throws what `fs.openSync` throws for any of its files. */
export function openLogSource(path: string): LogSource {
  const own = openByteSource(path);
  try {
    const parts = partsOf(path, own);
    if (parts.length > 0) return joined(path, own, parts);
    return { ...own, before: 0, inherited: 0, earlier: [] };
  } catch (error) {
    own.closeSync();
    throw error;
  }
}

/** All that the session has before its last file, oldest first; empty for most. */
function partsOf(path: string, last: ByteSource): readonly LogPart[] {
  const [first, ...others] = earlierFiles(path);
  if (first === undefined) return inheritedBy(path, last);
  const source = openByteSource(first);
  try {
    const own = [first, ...others].map((file) => ({ path: file, isOwn: true }));
    return [...inheritedBy(first, source), ...own];
  } finally {
    source.closeSync();
  }
}

function inheritedBy(path: string, source: ByteSource): readonly LogPart[] {
  return transcriptFormats().flatMap(({ parts }) => parts?.inherited(path, source) ?? []);
}

/** What is read for bytes from `from` on. */
interface Piece {
  readonly from: number;
  readonly length: number;
  readonly source: ByteSource;
}

function joined(path: string, own: FileSource, parts: readonly LogPart[]): LogSource {
  const pieces: Piece[] = [];
  const opened: FileSource[] = [own];
  let [before, inherited] = [0, 0];
  const add = (source: ByteSource, length: number): void => {
    pieces.push({ from: before, length, source });
    before += length;
  };
  let isTerminated = true;
  const openedPart = (part: LogPart): FileSource | undefined => {
    try {
      return openByteSource(part.path);
    } catch {
      // The transcript learns what is missing by the next file.
      return undefined;
    }
  };
  const addRecord = (part: LogPart): void => {
    const line = partLine(part, isTerminated);
    add(textSource(line), Buffer.byteLength(line));
  };
  for (const part of parts) {
    const source = openedPart(part);
    if (source === undefined) continue;
    opened.push(source);
    addRecord(part);
    const length = Math.min(part.endBytes ?? Infinity, source.sizeSync());
    add(source, length);
    if (!part.isOwn) inherited = before;
    isTerminated = endsLine(source, length);
  }
  addRecord({ path, isOwn: true });
  const pieceAt = (position: number): Piece =>
    pieces.findLast(({ from }) => from <= position && position < before) ?? {
      from: before,
      length: Infinity,
      source: own,
    };
  return {
    before,
    inherited,
    earlier: parts.map((part) => part.path),
    readSync: (target, offset, length, position) => {
      const piece = pieceAt(position);
      const at = position - piece.from;
      return piece.source.readSync(target, offset, Math.min(length, piece.length - at), at);
    },
    read: (target, offset, length, position) => {
      const piece = pieceAt(position);
      const at = position - piece.from;
      return piece.source.read(target, offset, Math.min(length, piece.length - at), at);
    },
    closeSync: () => {
      for (const source of opened) source.closeSync();
    },
    sizeSync: () => before + own.sizeSync(),
    statSync: () => own.statSync(),
  };
}

/** The line before a part. */
function partLine({ path, isOwn }: LogPart, isTerminated: boolean): string {
  const record = { type: partType, payload: { file: basename(path), isOwn } };
  return `${isTerminated ? "" : "\n"}${JSON.stringify(record)}\n`;
}

/** The log of a session of which all files are at hand, the last one last. */
export function joinedFiles(files: readonly { path: string; bytes: Buffer }[]): Buffer {
  const pieces: Buffer[] = [];
  let isTerminated = true;
  for (const { path, bytes } of files) {
    pieces.push(Buffer.from(partLine({ path, isOwn: true }, isTerminated)), bytes);
    isTerminated = bytes.length === 0 || bytes.at(-1) === 0x0a;
  }
  return Buffer.concat(pieces);
}

export const partType = "branchlog_part";

function textSource(text: string): ByteSource {
  const bytes = Buffer.from(text);
  const readSync: ByteSource["readSync"] = (target, offset, length, position) =>
    bytes.copy(target, offset, position, position + length);
  return { readSync, read: async (...args) => readSync(...args) };
}

function endsLine(source: ByteSource, length: number): boolean {
  const last = Buffer.alloc(1);
  return length === 0 || (source.readSync(last, 0, 1, length - 1) === 1 && last[0] === 0x0a);
}

/** Undefined: the session at this path is one file, or cannot be read. */
export function openParted(path: string, reading: FileReading): PartedLog | undefined {
  try {
    // Most files are opened once only.
    const name = basename(path);
    if (!transcriptFormats().some(({ parts }) => parts?.mayHave(name))) return undefined;
    // To open a pipe would wait for its writer.
    if (reading.ports.fs.statSync(path)?.isFile !== true) return undefined;
    const source = openLogSource(path);
    source.closeSync();
    return source.before === 0
      ? undefined
      : new PartedLog(new LogFile(reading.ports.fs, path).path, reading);
  } catch {
    return undefined;
  }
}

const pieceBytesMax = 4 * 1024 * 1024;

export class PartedLog extends FollowedLog implements StoredLog {
  end(): StoredPosition | undefined {
    return this.reading.ports.fs.statSync(this.address) === null
      ? undefined
      : this.#with((source) => positionIn(source, source.sizeSync()));
  }

  /** Once another file took its place, or it lost bytes, the log that was read is gone. */
  *read({ generation, at }: StoredPosition): Generator<Buffer, void, undefined> {
    const end = this.end();
    if (end === undefined || end.generation !== generation || end.at < at) {
      throw storedLogError("gone", this.name);
    }
    const source = openLogSource(this.address);
    try {
      for (let from = at; from < end.at;) {
        const piece = Buffer.allocUnsafe(Math.min(pieceBytesMax, end.at - from));
        const length = source.readSync(piece, 0, piece.length, from);
        // A part lost bytes meanwhile.
        if (length === 0) throw storedLogError("gone", this.name);
        yield piece.subarray(0, length);
        from += length;
      }
    } finally {
      source.closeSync();
    }
  }

  #with<T>(use: (source: LogSource) => T): T {
    const source = openLogSource(this.address);
    try {
      return use(source);
    } finally {
      source.closeSync();
    }
  }
}

function positionIn(source: LogSource, at: number): StoredPosition {
  const { dev, ino } = source.statSync();
  return { generation: `${dev}:${ino}:${source.before}`, at };
}
