/** Session records as the agents write them, and hostile ones, as text lines and as arbitraries. */
import fc from "fast-check";

const id = "a1b2c3d4";
const parentId = "0f0e0d0c";
const timestamp = "2026-11-21T20:28:20.131Z";
const core = { id, parentId, timestamp };

/** One entry of every form that pi and omp write, in their key order, by name. */
export const writtenForms: Readonly<Record<string, object>> = {
  user: { type: "message", ...core, message: { role: "user", content: "hello", timestamp: 1 } },
  assistant: {
    type: "message",
    ...core,
    message: { role: "assistant", content: [{ type: "text", text: "hi" }], usage: { input: 1 } },
  },
  root: { type: "message", ...core, parentId: null, message: { role: "user", content: "first" } },
  modelChange: { type: "model_change", ...core, provider: "anthropic", modelId: "claude" },
  label: { type: "label", ...core, targetId: parentId, label: "here" },
  bare: { type: "mark", ...core },
  usage: { type: "usage", ...core, kind: "warm", usage: { input: 1 } },
  custom: { type: "custom", customType: "todo", data: { items: [1, 2] }, ...core },
  customNoData: { type: "custom", customType: "todo", ...core },
  customText: { type: "custom", customType: "todo", data: "some text", ...core },
  customMessage: {
    type: "custom_message",
    customType: "note",
    content: [{ type: "text", text: "look" }],
    display: true,
    ...core,
  },
  customMessageDetails: {
    type: "custom_message",
    customType: "note",
    content: "look",
    display: false,
    details: { a: 1 },
    attribution: "agent",
    ...core,
  },
  migratedMessage: {
    type: "message",
    timestamp,
    message: { role: "toolResult", content: [], isError: false },
    id,
    parentId,
  },
  migratedThinking: {
    type: "thinking_level_change",
    timestamp,
    thinkingLevel: "off",
    id,
    parentId,
  },
  migratedBare: { type: "mark", timestamp, id, parentId: null },
};

/** Records without parentId: headers, the title slot of omp, v1 lines before migration. */
export const otherForms: Readonly<Record<string, object>> = {
  header: { type: "session", version: 3, id, timestamp, cwd: "/work" },
  title: { type: "title", v: 1, title: "a title", updatedAt: timestamp, pad: "    " },
  v1Message: { type: "message", timestamp, message: { role: "user", content: "hello" } },
};

/** The line of a record, without "\n". */
export function lineOf(record: unknown): Buffer {
  return Buffer.from(JSON.stringify(record));
}

const hostileTexts = fc.constantFrom(
  '"parentId":',
  ',"id":"x","parentId":null,"timestamp":"t"}',
  '"data":',
  '"content":',
  '"message":',
  '"customType":',
  "\u0000",
  "\\",
  '"',
  "\n",
  "{",
  "}}",
  "é漢😀",
  "\ud800",
  "",
);

/** Text that looks like parts of records, or like nothing in particular. */
const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.array(hostileTexts, { maxLength: 3 }).map((parts) => parts.join("")),
);

const key = fc.oneof(
  fc.constantFrom("id", "parentId", "timestamp", "type", "data", "content", "message", "role"),
  fc.constantFrom("customType", "details", "display", "__proto__", "a", ""),
  text,
);

const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);

/** Any JSON value, with keys of the envelope at every level. Its text has no duplicate keys. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    scalar.map((value) => JSON.stringify(value)),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    objectText(tie("value")),
  ),
})).value;

/** The text of an object. */
export const objectJson: fc.Arbitrary<string> = objectText(jsonText);

function objectText(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const pair = fc.tuple(key, value);
  return fc
    .uniqueArray(pair, { selector: ([name]) => name, maxLength: 5 })
    .map((pairs) => pairs.map(([name, item]) => `${JSON.stringify(name)}:${item}`))
    .map((members) => `{${members.join(",")}}`);
}

const messageJson = fc
  .tuple(text, objectJson)
  .map(([role, rest]) => withMember(rest, "role", JSON.stringify(role)));

/** Puts a member first; drops one of the same name, so that keys stay unique. */
function withMember(object: string, name: string, value: string): string {
  // Rebuilt from the parsed object, whose own keys are unique.
  const parsed: unknown = JSON.parse(object);
  const others = Object.entries(parsed as object).filter(([other]) => other !== name);
  const members = others.map(([other, item]) => `${JSON.stringify(other)}:${JSON.stringify(item)}`);
  return `{${[`${JSON.stringify(name)}:${value}`, ...members].join(",")}}`;
}

const plainId = fc.oneof(
  fc.stringMatching(/^[0-9a-f]{8}$/),
  fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/),
  text,
);

/** The orders of the keys in which the agents write entries. */
const writtenOrders = fc.constantFrom<readonly string[]>(
  ["type", "id", "parentId", "timestamp", "message"],
  ["type", "id", "parentId", "timestamp", "customType", "data"],
  ["type", "id", "parentId", "timestamp"],
  ["type", "customType", "data", "id", "parentId", "timestamp"],
  ["type", "customType", "id", "parentId", "timestamp"],
  ["type", "customType", "content", "display", "details", "id", "parentId", "timestamp"],
  ["type", "timestamp", "message", "id", "parentId"],
  ["type", "timestamp", "id", "parentId"],
);

const anyOrder = fc.shuffledSubarray(
  ["type", "id", "parentId", "timestamp", "message", "customType", "data", "content"],
  { minLength: 3 },
);

/** The text of an entry in a written order, hostile in its values. Its keys are unique. */
export const writtenJson: fc.Arbitrary<string> = recordText(writtenOrders);

/** The same in any order of any keys, though mostly in a written one. */
export const recordJson: fc.Arbitrary<string> = recordText(fc.oneof(writtenOrders, anyOrder));

function recordText(orders: fc.Arbitrary<readonly string[]>): fc.Arbitrary<string> {
  return fc
    .record({
      type: fc.oneof(fc.constantFrom("message", "custom", "custom_message", "mark"), text),
      customType: text,
      id: plainId,
      parentId: fc.option(plainId),
      timestamp: fc.oneof(fc.constant(timestamp), text),
      message: fc.oneof({ weight: 3, arbitrary: messageJson }, { weight: 1, arbitrary: jsonText }),
      payload: jsonText,
      order: orders,
    })
    .map(({ order, message, payload, ...values }) => {
      const texts: Readonly<Record<string, string>> = {
        type: JSON.stringify(values.type),
        customType: JSON.stringify(values.customType),
        id: JSON.stringify(values.id),
        parentId: JSON.stringify(values.parentId),
        timestamp: JSON.stringify(values.timestamp),
        message,
      };
      return `{${order.map((name) => `"${name}":${texts[name] ?? payload}`).join(",")}}`;
    });
}

/** Divides bytes into chunks at the given positions (taken modulo the length). */
export function chunksOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const positions = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
  const borders = [0, ...positions, bytes.length];
  return borders.slice(1).map((end, i) => bytes.subarray(borders[i], end));
}

/** Chunks of one size. */
export function chunksOfSize(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}
