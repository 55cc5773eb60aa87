/**
 * Follows a file of JSON lines as it grows: yields each whole line once, in order, whichever
 * process appends it. When the file was replaced, truncated or rewritten, it yields a reset and
 * starts over from the beginning.
 */
import { itemsOf } from "./batch-items.ts";
import { type FileSource, openByteSource, openIfExists } from "./byte-source.ts";
import { ChangeWait, type WatchDirectory } from "./change-wait.ts";
import { watchDirectory } from "./directory-watch.ts";
import { type CursorOptions, FileCursor } from "./file-cursor.ts";
import { EndableGenerator } from "./endable-generator.ts";
import { type FileLine, type FileRecord, toRecord } from "./file-line.ts";
import { pollMsDefault } from "./limits.ts";
import { type OptionNames, requireKnown } from "./option-names.ts";
import { requireAtLeast } from "./read-sizes.ts";

/** Where to start, and how to follow. */
export interface FollowOptions extends CursorOptions {
  /** Where to start: 0 (the default) or the start of a line. */
  readonly from?: number;
  /** Poll interval without a hint, in milliseconds. Default 1000. */
  readonly pollMs?: number;
  /** Ends the iteration: it throws the reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The names of {@link FollowOptions} without a signal. */
export const followStreamNames: OptionNames<Omit<FollowOptions, "signal">> = {
  from: true,
  lineBytesMax: true,
  chunkBytes: true,
  pollMs: true,
};

const followNames: OptionNames<FollowOptions> = { ...followStreamNames, signal: true };

/**
 * A record; or a reset, which voids all records before it: all records of the file follow, and
 * their line numbers count from 1. A file is "replaced" if another file has its path, or if its
 * bytes before the cursor have changed, and "truncated" if they no longer exist.
 */
export type FollowEvent =
  | { readonly kind: "record"; readonly record: FileRecord; readonly reason?: undefined }
  | {
      readonly kind: "reset";
      readonly record?: undefined;
      readonly reason: "replaced" | "truncated";
    };

/**
 * The records of a file from `from` on, then those that are appended, without end. Only whole lines
 * are yielded, each once its "\n" is in the file; `record.offset + record.length + 1` is the start
 * of the next one, and a valid `from` to resume.
 *
 * File system hints and a poll trigger the reads. Nothing is read before it is pulled, one chunk at
 * a time. The file stays open, so the last lines of a deleted or replaced file are still yielded; a
 * path that vanished is waited for. The file counts as rewritten only if the 64 bytes before the
 * next line differ: an earlier change goes unnoticed. An incomplete line may be withdrawn by its
 * writer, and is read again if its last 4 KiB differ.
 *
 * `return()` ends a pending pull; so does the signal, with its reason.
 *
 * @throws What `fs` throws if the file cannot be opened or read; `RangeError` for invalid sizes.
 * @example
 * for await (const event of followFile("session.jsonl")) {
 *   if (event.kind === "record") console.log(event.record.offset);
 *   else console.log("from the front:", event.reason);
 * }
 */
export function followFile(
  path: string,
  options: FollowOptions = {},
): AsyncGenerator<FollowEvent, void, undefined> {
  return followFileWith(watchDirectory, path, options);
}

/** {@link followFile}, with another source of hints. */
export function followFileWith(
  watch: WatchDirectory,
  path: string,
  options: FollowOptions,
): AsyncGenerator<FollowEvent, void, undefined> {
  const { signal } = requireKnown(options, followNames);
  const pollMs = requireAtLeast("pollMs", options.pollMs ?? pollMsDefault, 1);
  // A derived signal: many followers may share one, and Node warns of many listeners.
  const ending = signal && AbortSignal.any([signal]);
  const wait = new ChangeWait(watch, { pollMs, signal: ending });
  const events = itemsOf(followBatches(path, options, wait), signal);
  return new EndableGenerator(events, () => wait.end());
}

/** The events, in one batch per read. */
async function* followBatches(
  path: string,
  options: FollowOptions,
  wait: ChangeWait,
): AsyncGenerator<Iterable<FollowEvent>, void, undefined> {
  options.signal?.throwIfAborted();
  let file: FileSource = openByteSource(path);
  try {
    wait.watch(path);
    let cursor = new FileCursor(file, options.from ?? 0, options);
    while (!wait.isEnded) {
      options.signal?.throwIfAborted();
      wait.arm();
      // Checked before the read: a file that was replaced by then gets no more lines.
      const isAtPath = file.isAtSync(path);
      const found = await cursor.read();
      if (found.kind === "lines") {
        if (found.lines.length > 0) yield eventsOf(found.lines);
        continue;
      }
      const other = found.kind === "end" && !isAtPath ? openIfExists(path) : null;
      if (other !== null) {
        file.closeSync();
        file = other;
        wait.watch(path);
      }
      if (other !== null || found.kind === "lost") {
        cursor = new FileCursor(file, 0, options);
        yield [{ kind: "reset", reason: found.kind === "lost" ? found.reason : "replaced" }];
        continue;
      }
      await wait.change();
    }
  } finally {
    wait.end();
    file.closeSync();
  }
}

/** Decodes lazily, so that few records are alive at a time. */
function* eventsOf(lines: readonly FileLine[]): Generator<FollowEvent> {
  for (const line of lines) yield { kind: "record", record: toRecord(line) };
}
