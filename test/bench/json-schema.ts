/**
 * Checks a value against as much of JSON Schema as our own schema uses. A keyword that is not known
 * here is an error, so that nothing of a schema is silently not checked.
 */

/** A schema, parsed. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

const annotations = new Set(["$schema", "$defs", "title", "description"]);

/** What is wrong with the value, each with the path to it; nothing if it is valid. */
export function schemaProblems(root: Schema, value: unknown): string[] {
  return problemsAt(root, root, value, "report");
}

function problemsAt(root: Schema, schema: Schema, value: unknown, path: string): string[] {
  return Object.keys(schema).flatMap((keyword) => {
    if (annotations.has(keyword)) return [];
    const check = keywords[keyword];
    if (check === undefined) return [`${path}: the checker does not know "${keyword}"`];
    return check({ root, schema, value, path, wanted: schema[keyword] });
  });
}

interface Check {
  readonly root: Schema;
  readonly schema: Schema;
  readonly value: unknown;
  readonly path: string;
  /** The value of the keyword. */
  readonly wanted: unknown;
}

const keywords: Readonly<Record<string, (check: Check) => string[]>> = {
  $ref: ({ root, value, path, wanted }) => {
    const name = String(wanted).replace("#/$defs/", "");
    const found = (root["$defs"] as Record<string, Schema>)[name];
    return found === undefined ? [`${path}: no ${name}`] : problemsAt(root, found, value, path);
  },
  type: ({ value, path, wanted }) =>
    isOfType(value, String(wanted)) ? [] : [`${path}: is no ${String(wanted)}`],
  enum: ({ value, path, wanted }) =>
    (wanted as unknown[]).includes(value) ? [] : [`${path}: is ${JSON.stringify(value)}`],
  minimum: ({ value, path, wanted }) =>
    Number(value) >= Number(wanted) ? [] : [`${path}: is below ${Number(wanted)}`],
  required: ({ value, path, wanted }) =>
    (wanted as string[]).flatMap((name) =>
      isObject(value) && !(name in value) ? [`${path}.${name}: is missing`] : [],
    ),
  properties: ({ root, value, path, wanted }) =>
    Object.entries(wanted as Record<string, Schema>).flatMap(([name, schema]) =>
      isObject(value) && name in value
        ? problemsAt(root, schema, value[name], `${path}.${name}`)
        : [],
    ),
  additionalProperties: ({ root, schema, value, path, wanted }) => {
    const known = Object.keys((schema["properties"] as object | undefined) ?? {});
    const others = isObject(value) ? Object.keys(value).filter((key) => !known.includes(key)) : [];
    return others.flatMap((name) => {
      if (wanted === false) return [`${path}.${name}: is not in the schema`];
      const other = isObject(value) ? value[name] : undefined;
      return problemsAt(root, wanted as Schema, other, `${path}.${name}`);
    });
  },
  items: ({ root, value, path, wanted }) =>
    (Array.isArray(value) ? (value as unknown[]) : []).flatMap((item, at) =>
      problemsAt(root, wanted as Schema, item, `${path}[${at}]`),
    ),
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}
