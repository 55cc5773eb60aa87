/**
 * The record of a change or removal of session files: enough to undo it, with the hash of every
 * file. Pure.
 */
import { SavedFields } from "@branchlog/core/rows";

export const operationKinds = [
  "delete",
  "archive",
  "prune",
  "restore",
  "move",
  "migrate",
  "repair",
  "undo",
] as const;

export type OperationKind = (typeof operationKinds)[number];

/** A file in a pack: many files one after the other, compressed together. */
export interface PackedFile {
  /** Where it was, and where it is restored. */
  readonly path: string;
  /** The name of the pack in the directory of packs. */
  readonly pack: string;
  /** Where its bytes begin in the decompressed pack. */
  readonly offset: number;
  readonly sizeBytes: number;
  /** Of its bytes, in hexadecimal. */
  readonly sha256: string;
  /** Permission bits. */
  readonly mode: number;
  /** When its bytes changed last, in epoch ms with fractions. */
  readonly changedMs: number;
}

/** What a list shows of a session in a pack. */
export interface ArchivedFacts {
  readonly id: string;
  readonly agent: string;
  readonly name?: string | undefined;
  readonly firstMessage?: string | undefined;
  readonly cwd: string;
  readonly messageCount: number;
  /** Epoch ms. */
  readonly modifiedMs: number;
}

export type FileChange =
  /** From its path into a pack. `session`: absent for files that belong to another one. */
  | { readonly kind: "removed"; readonly file: PackedFile; readonly session?: ArchivedFacts }
  /** From a pack to its path. */
  | { readonly kind: "restored"; readonly file: PackedFile; readonly session?: ArchivedFacts }
  | {
      readonly kind: "moved";
      readonly from: string;
      readonly to: string;
      /** Distinguishes it from a file that replaces it, when no header changes. */
      readonly inode?: string;
      /** The first line if it changed, with its newline: before and after. */
      readonly header?: readonly [before: string, after: string];
    }
  /** By other content under the same path. Hashes as in {@link PackedFile}. */
  | {
      readonly kind: "replaced";
      readonly path: string;
      /** The file with the previous content; null: there is none. */
      readonly original: string | null;
      readonly before: string;
      readonly after: string;
    };

export interface Operation {
  readonly id: string;
  readonly kind: OperationKind;
  /** Epoch ms. */
  readonly timeMs: number;
  /** The operation that this one undid. */
  readonly undoes?: string | undefined;
  /** When the removed files are permanently removed, in epoch ms; absent: never. */
  readonly keptUntilMs?: number | undefined;
  readonly changes: readonly FileChange[];
}

/** The changes that undo these, the last one first. */
export function inverted(changes: readonly FileChange[]): FileChange[] {
  return changes.toReversed().map((change) => inverse(change));
}

function inverse(change: FileChange): FileChange {
  switch (change.kind) {
    case "removed":
      return { ...change, kind: "restored" };
    case "restored":
      return { ...change, kind: "removed" };
    case "moved": {
      const { from, to, header, inode } = change;
      const [before, after] = header ?? [];
      const moved = { kind: "moved", from: to, to: from } as const;
      if (before === undefined || after === undefined) {
        return inode === undefined ? moved : { ...moved, inode };
      }
      return { ...moved, header: [after, before] };
    }
    case "replaced": {
      const { path, before, after } = change;
      return { kind: "replaced", path, original: null, before: after, after: before };
    }
  }
}

/** An operation may be recorded in several parts, each before its files are removed. */
export function joined(parts: Iterable<Operation>): Operation[] {
  const operations = new Map<string, Operation>();
  for (const part of parts) {
    const { changes = [] } = operations.get(part.id) ?? {};
    operations.set(part.id, { ...part, changes: [...changes, ...part.changes] });
  }
  return [...operations.values()];
}

/** Whether all removed files were put back at once: nothing was done. */
export function isVoid({ changes }: Operation): boolean {
  const placeOf = ({ pack, offset }: PackedFile): string => `${pack} ${offset}`;
  const removed = changes.flatMap((one) => (one.kind === "removed" ? [placeOf(one.file)] : []));
  const restored = changes.flatMap((one) => (one.kind === "restored" ? [placeOf(one.file)] : []));
  return removed.length > 0 && removed.every((place) => restored.includes(place));
}

/** Which operations are undone, and by which: an undo that was undone does not count. */
export function undoneBy(operations: readonly Operation[]): ReadonlyMap<string, string> {
  const undone = new Map<string, string>();
  for (const { id, undoes } of operations.toReversed()) {
    if (undoes !== undefined && !undone.has(id) && !undone.has(undoes)) undone.set(undoes, id);
  }
  return undone;
}

const listMax = 1_000_000;
const anySize = Number.MAX_SAFE_INTEGER;

/** Throws `TypeError` for anything but what {@link Operation} is. */
export function readOperation(value: unknown): Operation {
  const fields = new SavedFields(value);
  return {
    id: fields.text("id"),
    kind: fields.oneOf("kind", operationKinds),
    timeMs: fields.dateMs("timeMs"),
    undoes: fields.optionalText("undoes"),
    keptUntilMs: fields.optionalDateMs("keptUntilMs"),
    changes: fields.list("changes", listMax, (change) => readChange(new SavedFields(change))),
  };
}

function readChange(fields: SavedFields): FileChange {
  const kind = fields.oneOf("kind", ["removed", "restored", "moved", "replaced"] as const);
  switch (kind) {
    case "removed":
    case "restored": {
      const file = readFile(fields.fields("file"));
      return fields.has("session")
        ? { kind, file, session: readFacts(fields.fields("session")) }
        : { kind, file };
    }
    case "moved": {
      const moved = { kind, from: fields.text("from"), to: fields.text("to") };
      if (fields.has("inode")) return { ...moved, inode: fields.text("inode") };
      if (!fields.has("header")) return moved;
      const [before = "", after = ""] = fields.list("header", 2, String);
      return { ...moved, header: [before, after] };
    }
    case "replaced":
      return {
        kind,
        path: fields.text("path"),
        original: fields.nullableText("original"),
        before: fields.text("before"),
        after: fields.text("after"),
      };
  }
}

function readFile(fields: SavedFields): PackedFile {
  return {
    path: fields.text("path"),
    pack: fields.text("pack"),
    offset: fields.whole("offset", 0, anySize),
    sizeBytes: fields.whole("sizeBytes", 0, anySize),
    sha256: fields.text("sha256"),
    mode: fields.whole("mode", 0, 0o7777),
    changedMs: fields.dateMs("changedMs"),
  };
}

function readFacts(fields: SavedFields): ArchivedFacts {
  return {
    id: fields.text("id"),
    agent: fields.text("agent"),
    name: fields.optionalText("name"),
    firstMessage: fields.optionalText("firstMessage"),
    cwd: fields.text("cwd"),
    messageCount: fields.whole("messageCount", 0, anySize),
    modifiedMs: fields.dateMs("modifiedMs"),
  };
}
