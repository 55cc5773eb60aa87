/** What the index knows of a session, all of the same moment. */
import type { SessionHeader } from "../entries/entry-types.ts";
import type { Labels } from "../projections/labels.ts";
import { settingsOfPath } from "../projections/settings.ts";
import type { PathSettings } from "../projections/settings.ts";
import type { Engine } from "../session/engine.ts";

/** What is known at a leaf, of the log of an engine. May read bodies for the settings. */
export function sessionSnapshot(engine: Engine, leaf: string | null): SessionSnapshot {
  const { log, header, tailId, index } = engine;
  const { revision, folded, name } = log.state;
  const isThere = leaf !== null && index.rowOfId(leaf) >= 0;
  return {
    generation: log.generation,
    revision,
    sizeBytes: log.size,
    header,
    leaf,
    tail: tailId,
    name,
    labels: new Map(folded.labels),
    settings: settingsOfPath(engine.pathView(isThere ? leaf : null)),
  };
}

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
