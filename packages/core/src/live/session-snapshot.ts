/** What the index knows of a session, all of the same moment. */
import type { SessionHeader } from "../entries/entry-types.ts";
import type { Labels } from "../projections/labels.ts";
import type { PathSettings } from "../projections/settings.ts";

/** See the file comment. It does not change with the session. */
export interface SessionSnapshot {
  /** Counts from 1; one more each time the log turned out to be another. */
  readonly generation: number;
  /** Entries in this generation of the log. */
  readonly revision: number;
  /** Length of the log in bytes. */
  readonly sizeBytes: number;
  readonly header: SessionHeader;
  /** Where the session stands: the id of an entry, or null before the first. */
  readonly leaf: string | null;
  /** The id of the last entry of the log, or null. */
  readonly tail: string | null;
  readonly name: string | undefined;
  /** By the id of their target. */
  readonly labels: Labels;
  /** Model and thinking level at the leaf. */
  readonly settings: PathSettings;
}
