/**
 * Splits a value of plain objects into JSON and its typed arrays, and puts it together again. So
 * large columns are written and read as they stand in memory, and everything else stays legible.
 */

/** A typed array of the kinds that indexes are made of. */
export type Column = Float64Array | Int32Array | Uint32Array | Uint8Array;

/** The name of a typed array. */
export type ColumnKind = "Float64Array" | "Int32Array" | "Uint32Array" | "Uint8Array";

/** Where a column stands in its value, of what kind it is, and how many elements it has. */
export interface ColumnPlace {
  readonly path: readonly string[];
  readonly kind: ColumnKind;
  readonly length: number;
}

const elementBytes: Readonly<Record<ColumnKind, number>> = {
  Float64Array: 8,
  Int32Array: 4,
  Uint32Array: 4,
  Uint8Array: 1,
};

/** The value as JSON without its columns, and these with their places. None stands in an array. */
export function detachColumns(value: object): {
  readonly json: string;
  readonly columns: readonly { readonly place: ColumnPlace; readonly column: Column }[];
} {
  const columns = [...columnsIn(value, [])];
  const json = JSON.stringify(value, (_, member: unknown) => (isColumn(member) ? null : member));
  return { json, columns };
}

/** Puts columns where they stood in a value that was parsed from its JSON. */
export function attachColumns(
  value: unknown,
  columns: readonly { readonly place: ColumnPlace; readonly column: Column }[],
): void {
  for (const { place, column } of columns) {
    let at = value;
    for (const key of place.path.slice(0, -1)) at = isObject(at) ? at[key] : undefined;
    if (isObject(at)) at[place.path.at(-1) ?? ""] = column;
  }
}

/** Bytes of a column; NaN if there is no such column. */
export function columnBytes({ kind, length }: ColumnPlace): number {
  const isLength = Number.isSafeInteger(length) && length >= 0;
  return isLength ? (elementBytes[kind] ?? Number.NaN) * length : Number.NaN;
}

/** A column with room for so many elements. */
export function newColumn(kind: ColumnKind, capacity: number): Column {
  switch (kind) {
    case "Float64Array":
      return new Float64Array(capacity);
    case "Int32Array":
      return new Int32Array(capacity);
    case "Uint32Array":
      return new Uint32Array(capacity);
    case "Uint8Array":
      return new Uint8Array(capacity);
  }
}

function* columnsIn(
  value: object,
  path: readonly string[],
): Generator<{ readonly place: ColumnPlace; readonly column: Column }> {
  for (const [key, member] of Object.entries(value)) {
    const own = [...path, key];
    if (isColumn(member)) {
      yield { place: { path: own, kind: kindOf(member), length: member.length }, column: member };
    } else if (isObject(member) && !Array.isArray(member)) {
      yield* columnsIn(member, own);
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isColumn(value: unknown): value is Column {
  return (
    value instanceof Float64Array ||
    value instanceof Int32Array ||
    value instanceof Uint32Array ||
    value instanceof Uint8Array
  );
}

function kindOf(column: Column): ColumnKind {
  if (column instanceof Float64Array) return "Float64Array";
  if (column instanceof Int32Array) return "Int32Array";
  return column instanceof Uint32Array ? "Uint32Array" : "Uint8Array";
}
