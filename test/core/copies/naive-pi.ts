/**
 * pi's reading of its logs, as plain as can be, and of nothing that pi does not know: the latest
 * compaction on the path gives its summary, then comes everything from its first kept entry up to
 * it, then what follows. Types that are not known say nothing.
 */
import { recordsIn } from "./session-files.ts";

type Entry = Readonly<Record<string, unknown>>;

/** The path to an entry, root first; of a log whose every line is a record. */
export function piPath(log: string, at: string): Entry[] {
  // Test data that is known to be entries.
  const entries = recordsIn(log).slice(1) as Entry[];
  const byId = new Map(entries.map((entry) => [entry["id"], entry]));
  const path: Entry[] = [];
  let next = byId.get(at);
  while (next !== undefined && path.length <= entries.length) {
    path.unshift(next);
    next = byId.get(next["parentId"]);
  }
  return path;
}

/** Whether omp's model sees less at the end of a path than pi's, which knows no resets. */
export function isReset(path: readonly Entry[]): boolean {
  const cut = path.findLast(({ type }) => type === "compaction" || type === "reset_boundary");
  return cut?.["type"] === "reset_boundary";
}

/** The texts that a model of pi sees at the end of a path. */
export function piTexts(path: readonly Entry[]): string[] {
  const last = path.findLastIndex(({ type }) => type === "compaction");
  const shown = last < 0 ? path : [...keptBy(path, last), ...path.slice(last + 1)];
  const edits = new Map<unknown, unknown>();
  for (const entry of shown) {
    if (entry["type"] === "context_edit") edits.set(entry["targetId"], entry["replacement"]);
  }
  return shown.flatMap((entry, place) => {
    const edit = edits.get(entry["id"]);
    return edit === null ? [] : texts(entry, place === 0 && last >= 0, edit);
  });
}

/** The compaction, and what it keeps before it but for system messages. */
function keptBy(path: readonly Entry[], compaction: number): Entry[] {
  const { firstKeptEntryId } = path[compaction] ?? {};
  const first = path.slice(0, compaction).findIndex(({ id }) => id === firstKeptEntryId);
  const kept = first < 0 ? [] : path.slice(first, compaction);
  return [...path.slice(compaction, compaction + 1), ...kept.filter((one) => !isSystem(one))];
}

function isSystem({ type, message }: Entry): boolean {
  return type === "message" && fieldOf(message, "role") === "system";
}

function texts(entry: Entry, isSummary: boolean, edit: unknown): string[] {
  const { type, summary, content, message } = entry;
  if (type === "compaction") return isSummary ? [textOf(summary)] : [];
  if (type === "custom_message") return [textOf(fieldOf(edit, "content") ?? content)];
  if (type !== "message") return [];
  const own = fieldOf(message, "content");
  return [textOf(isSystem(entry) ? own : (fieldOf(edit, "content") ?? own))];
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return content.map((block: unknown) => String(fieldOf(block, "text"))).join(" ");
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
