/** What kind of entry a row is for a reader: a word, and how it is marked in the list. */
import type { Row } from "../../api.ts";

export type RowMark =
  | "user"
  | "assistant"
  | "tool"
  | "error"
  | "compaction"
  | "summary"
  | "damage"
  | "note";

export interface RowKind {
  readonly mark: RowMark;
  readonly word: string;
}

export function rowKind(row: Pick<Row, "isDamaged" | "isError" | "role" | "type">): RowKind {
  if (row.isDamaged) return { mark: "damage", word: "damaged" };
  if (row.isError) return { mark: "error", word: "error" };
  if (/compact/i.test(row.type)) return { mark: "compaction", word: "compaction" };
  if (/branch.?summary/i.test(row.type)) return { mark: "summary", word: "branch summary" };
  if (row.role === "user") return { mark: "user", word: "user" };
  if (row.role === "assistant") return { mark: "assistant", word: "assistant" };
  if (row.role !== null && /tool|bash/i.test(row.role)) return { mark: "tool", word: "result" };
  const word = row.role ?? row.type;
  return { mark: "note", word: word.replaceAll(/[_-]/g, " ") };
}
