/**
 * The name of a session: that of the latest entry that names it, anywhere in the log, so that
 * renaming moves no leaf. omp keeps names in other places, too.
 */
import type { TitleSlot } from "../dialects/title-slot.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import type { Projection } from "./projection.ts";

/** Undefined if no entry names the log, null if the name was cleared. */
export type GivenName = string | null | undefined;

/** pi's and omp's. */
export const namingTypes: readonly string[] = ["session_info", "title_change"];

/** As stored: it may be anything. */
export function nameSaidBy(entry: { readonly type: string }): unknown {
  return Reflect.get(entry, entry.type === "session_info" ? "name" : "title");
}

/**
 * The name without surrounding white space; null once it was cleared, by a name that is absent,
 * null or empty. One that is not a string is ignored.
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

export interface NameSources {
  readonly slot: TitleSlot | undefined;
  readonly given: GivenName;
  readonly header: SessionHeader | undefined;
}

/**
 * The name of the title slot; else of the entries; else the title in the header, unless there is an
 * empty slot: omp removes the title with it.
 */
export function nameInForce({ slot, given, header }: NameSources): string | undefined {
  const inSlot = slot?.title.trim();
  if (inSlot) return inSlot;
  if (given !== undefined) return given ?? undefined;
  // Decoding boundary: of a header only type and id were checked.
  const title: unknown = slot === undefined ? header?.title : undefined;
  return typeof title === "string" ? title.trim() || undefined : undefined;
}
