/**
 * What was said about turns after they happened, such as `expected` and `passed`: entries of the
 * type `branchlog.turn`, each with the id of the user message that begins the turn. They hold
 * wherever they stand in the log, on whatever branch. Pure.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import type { Projection } from "./projection.ts";
import { isStoredObject } from "./stored-value.ts";

/** The `customType` of these entries. */
export const turnNoteType = "branchlog.turn";

/** What was said about one turn, in the order in which it was first said. */
export type TurnFields = Readonly<Record<string, unknown>>;

/** What was said about turns, by the id of the user message. */
export type TurnNotes = ReadonlyMap<string, TurnFields>;

/** What one of these entries says. */
interface TurnNote {
  readonly targetId: string;
  readonly fields: TurnFields;
}

/** Reads such an entry; undefined for every other, and for one that says nothing of a turn. */
function turnNoteOf(entry: SessionEntry): TurnNote | undefined {
  if (entry.type !== "custom" || entry.customType !== turnNoteType) return undefined;
  const { data } = entry;
  if (!isStoredObject(data) || !("targetId" in data) || !("fields" in data)) return undefined;
  const { targetId, fields } = data;
  if (typeof targetId !== "string" || !isStoredObject(fields)) return undefined;
  return { targetId, fields: { ...fields } };
}

const fold: Projection<Map<string, TurnFields>> = {
  name: "turn-notes",
  version: 1,
  types: ["custom"],
  customTypes: [turnNoteType],
  initial: () => new Map(),
  apply: (state, { entry }) => {
    const note = turnNoteOf(entry);
    if (note === undefined) return state;
    return state.set(note.targetId, { ...state.get(note.targetId), ...note.fields });
  },
  snapshot: (state) => new Map(state),
};

/**
 * Folds them: of several for one turn, the later one's keys win, key by key. `apply` changes the
 * map that it is given: O(fields of the turn) per entry; take a `snapshot` of what must not change.
 */
export const turnNotes: Projection<TurnNotes> = fold;
