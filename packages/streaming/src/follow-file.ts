/**
 * Reads a file of JSON lines and goes on as it grows: each whole line once, in order, whoever
 * appends it. What cannot go on, because the file was replaced, cut or rewritten, begins again from
 * the front, and says so.
 */
import { itemsOf } from "./batch-items.ts";
import { type FileSource, openByteSource, openIfThere } from "./byte-source.ts";
import { ChangeWait, type WatchDirectory } from "./change-wait.ts";
import { watchDirectory } from "./directory-watch.ts";
import { type CursorOptions, FileCursor } from "./file-cursor.ts";
import { EndableGenerator } from "./endable-generator.ts";
import { type FileLine, type FileRecord, toRecord } from "./file-line.ts";
import { pollMsDefault } from "./limits.ts";
import { requireAtLeast } from "./read-sizes.ts";

/** Where to begin, and how to go on. */
export interface FollowOptions extends CursorOptions {
  /** Where to start: 0 (the default) or the start of a line. */
  readonly from?: number;
  /** How often to look without a hint, in milliseconds. Default 1000. */
  readonly pollMs?: number;
  /** Ends the following: it throws the reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A record; or the news that what came before is void, since the file begins anew: all its records
 * follow, and their line numbers count from 1. A file is "replaced" if another one has its path, or
 * if its bytes before the cursor have changed, and "truncated" if they are not there any more.
 */
export type FollowEvent =
  | { readonly kind: "record"; readonly record: FileRecord }
  | { readonly kind: "reset"; readonly reason: "replaced" | "truncated" };

/**
 * The records of a file from `from` on, then those that are appended, without end. Only whole lines
 * come, each when its "\n" is there; `record.offset + record.length + 1` is where the next one
 * begins, and where following can be taken up again.
 *
 * Hints of the file system and a poll say when to look. Nothing is read before it is pulled, one
 * chunk at a time. The file stays open, so that the last lines of one that is deleted or replaced
 * still come; one that vanished is waited for. It counts as rewritten only if the 64 bytes before
 * the next line differ: a change further up goes unnoticed. The beginning of a line may be taken
 * back, and is read again if the last 4 KiB of it differ.
 *
 * `return()` ends a pull that waits. So does the signal, with its reason.
 *
 * @throws What `fs` throws if the file cannot be opened or read; `RangeError` for sizes that are
 * none.
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

/** {@link followFile}, with hints from elsewhere. */
export function followFileWith(
  watch: WatchDirectory,
  path: string,
  options: FollowOptions,
): AsyncGenerator<FollowEvent, void, undefined> {
  const { signal } = options;
  const pollMs = requireAtLeast("pollMs", options.pollMs ?? pollMsDefault, 1);
  // A signal of its own: many may follow with one, and Node warns of many listeners.
  const ending = signal && AbortSignal.any([signal]);
  const wait = new ChangeWait(watch, { pollMs, signal: ending });
  const events = itemsOf(followBatches(path, options, wait), signal);
  return new EndableGenerator(events, () => wait.end());
}

/** The events, read by read. */
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
      // Asked before reading: what has another file in its place gets no more lines afterwards.
      const isThere = file.isAtSync(path);
      const found = await cursor.read();
      if (found.kind === "lines") {
        if (found.lines.length > 0) yield eventsOf(found.lines);
        continue;
      }
      const other = found.kind === "end" && !isThere ? openIfThere(path) : null;
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

/** Decodes lines one by one as they are taken, so that few records are alive at a time. */
function* eventsOf(lines: readonly FileLine[]): Generator<FollowEvent> {
  for (const line of lines) yield { kind: "record", record: toRecord(line) };
}
