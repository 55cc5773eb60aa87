/**
 * Files as observables. They push, so they cannot know whether a subscriber keeps up: to read in
 * bulk, or for slow work per item, use the async iterators.
 *
 * Each subscription reads the file separately and stops at unsubscribing. There is no queue: the
 * next item is made after `next()` returned, from one chunk of the file at most, and none is
 * skipped.
 */
import type { FileLine, FileRecord } from "./file-line.ts";
import {
  followFile,
  followStreamNames,
  type FollowEvent,
  type FollowOptions,
} from "./follow-file.ts";
import { type Observable, observableOf } from "./observable.ts";
import { requireKnown } from "./option-names.ts";
import { lines, type ReadFileOptions, readStreamNames, records } from "./read-file.ts";

/** {@link ReadFileOptions}, but for the signal: an observable is stopped by unsubscribing. */
export type ReadStreamOptions = Omit<ReadFileOptions, "signal">;

/** {@link FollowOptions}, but for the signal. */
export type FollowStreamOptions = Omit<FollowOptions, "signal">;

/** {@link lines} as a cold observable. Its error is what `fs` throws. */
export function lines$(path: string, options: ReadStreamOptions = {}): Observable<FileLine> {
  const known = requireKnown(options, readStreamNames);
  return observableOf((signal) => lines(path, { ...known, signal }));
}

/** {@link records} as a cold observable. A damaged record is an item, not an error. */
export function records$(path: string, options: ReadStreamOptions = {}): Observable<FileRecord> {
  const known = requireKnown(options, readStreamNames);
  return observableOf((signal) => records(path, { ...known, signal }));
}

/** {@link followFile} as a cold observable, which never completes. */
export function follow$(path: string, options: FollowStreamOptions = {}): Observable<FollowEvent> {
  const known = requireKnown(options, followStreamNames);
  return observableOf((signal) => followFile(path, { ...known, signal }));
}
