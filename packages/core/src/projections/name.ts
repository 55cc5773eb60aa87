/**
 * The name of a session: that of the latest entry that names it, anywhere in the log, not on one
 * branch, so that renaming moves no leaf. omp keeps names in other places, too; the rule which of
 * them counts is here.
 */
import type { TitleSlot } from "../dialects/title-slot.ts";
import type { SessionEntry, SessionHeader } from "../entries/entry-types.ts";
import type { Projection } from "./projection.ts";

/** What the entries of a log name it: undefined if none does, null if the name was cleared. */
export type GivenName = string | null | undefined;

/** The types of entries that name a session: pi's, and omp's. */
export const namingTypes: readonly string[] = ["session_info", "title_change"];

/** What an entry of one of {@link namingTypes} calls the session, as stored: it may be anything. */
export function nameSaidBy(entry: SessionEntry): unknown {
  return Reflect.get(entry, entry.type === "session_info" ? "name" : "title");
}

/**
 * Folds to the name without surrounding white space; null once it was cleared, by a name that is
 * absent, null or empty. One that is not a string is ignored.
 */
export const sessionName: Projection<GivenName> = {
  name: "name",
  version: 2,
  types: namingTypes,
  initial: () => undefined,
  apply: (state, { entry }) => {
    if (!namingTypes.includes(entry.type)) return state;
    const name = nameSaidBy(entry) ?? "";
    return typeof name === "string" ? name.trim() || null : state;
  },
};

/** Everything in a log that may name it. */
export interface NameSources {
  readonly slot: TitleSlot | undefined;
  readonly given: GivenName;
  readonly header: SessionHeader | undefined;
}

/**
 * The name in force: that of the title slot; else that of the entries; else the title in the
 * header, unless there is a slot, which is empty then: omp takes the title away with it.
 */
export function nameInForce({ slot, given, header }: NameSources): string | undefined {
  const inSlot = slot?.title.trim();
  if (inSlot) return inSlot;
  if (given !== undefined) return given ?? undefined;
  // Decoding boundary: of a header only type and id were checked.
  const title: unknown = slot === undefined ? header?.title : undefined;
  return typeof title === "string" ? title.trim() || undefined : undefined;
}
