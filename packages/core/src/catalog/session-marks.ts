/**
 * What a list has to remember of a session to go on reading where it ended: the places that name
 * it, and whose it is as far as its entries tell.
 */
import type { DialectName } from "../dialects/dialect.ts";
import { nameInForce } from "../projections/name.ts";
import type { GivenName } from "../projections/name.ts";
import type { SessionHeader } from "../entries/entry-types.ts";

/** See the file comment. */
export interface SessionMarks {
  /** By the title slot, "" if that is empty; null without a slot. */
  readonly slot: string | null;
  /** By the latest entry that names it, "" if that took the name away; null if none does. */
  readonly entry: string | null;
  /** The dialect of the first entry that only one agent writes; null if none does. */
  readonly dialect: DialectName | null;
}

/** What the entries name it, as it is remembered. */
export function markOf(given: GivenName): string | null {
  return given === undefined ? null : (given ?? "");
}

/** The same the other way round. */
export function givenBy({ entry }: Pick<SessionMarks, "entry">): GivenName {
  return entry === null ? undefined : entry || null;
}

/** The name in force. */
export function markedName(header: SessionHeader, marks: SessionMarks): string | undefined {
  const slot = marks.slot === null ? undefined : { title: marks.slot, updatedAt: "" };
  return nameInForce({ slot, given: givenBy(marks), header });
}
