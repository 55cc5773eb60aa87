/** What is known of a log up to a newline, as it is saved: all but what its files hold. */
import type { SavedLog } from "../index-table/log-indexer.ts";
import type { SavedFolded } from "../projections/folded.ts";

/** See the file comment. */
export interface SavedState {
  readonly indexer: SavedLog;
  readonly folded: SavedFolded;
  readonly settledRows: number;
  /** Position after the newline, and the number of the line that comes next. */
  readonly end: number;
  readonly lineNumber: number;
}
