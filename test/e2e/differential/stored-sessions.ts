/**
 * Arbitrary session files as other programs may leave them, for fast-check: of any version, with
 * lines in any order, dangling links, and lines that are not records. Left out is what pi
 * itself cannot take (formats.md lists it): cycles, messages that are null, values that are not objects.
 */
import fc from "fast-check";

const time = fc.integer({ min: 0, max: 5 }).map((n) => new Date(1.7e12 + n * 1000).toISOString());
const word = fc.constantFrom("", "word", "two words", "\u00e9\u{1f600}", "a\\nb");
const number = fc.nat(1000);
const goodContent: fc.Arbitrary<unknown> = fc.oneof(
  word,
  fc.array(
    word.map((text) => ({ type: "text", text })),
    { maxLength: 2 },
  ),
);
const oddContent = fc.oneof(goodContent, fc.constantFrom(null, undefined));

function message(isNewest: boolean): fc.Arbitrary<Fields> {
  const content = isNewest ? oddContent : goodContent;
  const system = fc.record({ role: fc.constant("system"), content, timestamp: number });
  return fc.oneof(
    fc.record({ role: fc.constantFrom("user", "hookMessage", "custom", "unheard-of"), content }),
    fc.record({
      role: fc.constant("assistant"),
      content,
      provider: word,
      model: word,
      timestamp: number,
    }),
    fc.record({ role: fc.constant("toolResult"), content, toolCallId: word }),
    ...(isNewest ? [system] : []),
    fc.record({ role: fc.constant("bashExecution"), command: word, output: word }),
  );
}

interface TypeField {
  readonly type: fc.Arbitrary<string>;
}
type Fields = Readonly<Record<string, unknown>>;

const linked = fc.nat(12).map((n) => `entry-${n}`);

/** The fields of an entry besides those that every entry has. Links go to other lines. */
function body(isNewest: boolean): fc.Arbitrary<Fields> {
  const typed = <Own extends object>(type: string, fields: Own): Own & TypeField => ({
    type: fc.constant(type),
    ...fields,
  });
  const content = isNewest ? oddContent : goodContent;
  const replacement = fc.constantFrom(null, { content: "edited" }, { content: [] });
  const label = fc.constantFrom("x", "y", "", undefined);
  const name = fc.constantFrom("N", " M ", "", undefined);
  const data = fc.jsonValue({ maxDepth: 1 });
  const compaction = {
    summary: word,
    firstKeptEntryId: linked,
    firstKeptEntryIndex: fc.integer({ min: -1, max: 14 }),
    tokensBefore: fc.nat(9),
    retainedTail: word,
  };
  return fc.oneof(
    { weight: 6, arbitrary: fc.record(typed("message", { message: message(isNewest) })) },
    fc.record(typed("thinking_level_change", { thinkingLevel: word })),
    fc.record(typed("model_change", { provider: word, modelId: word })),
    fc.record(typed("compaction", compaction), {
      requiredKeys: ["type", "summary", "tokensBefore"],
    }),
    fc.record(typed("branch_summary", { fromId: word, summary: word })),
    fc.record(typed("custom", { customType: word, data })),
    fc.record(typed("custom_message", { customType: word, content, display: fc.boolean() })),
    fc.record(typed("label", { targetId: linked, label })),
    fc.record(typed("session_info", { name })),
    ...(isNewest ? [fc.record(typed("context_edit", { targetId: linked, replacement }))] : []),
    fc.record(typed("unheard_of", { data })),
  );
}

const header = fc.record(
  {
    type: fc.constant("session"),
    version: fc.constantFrom(1, 2, 3),
    id: fc.constantFrom("stored", "11111111-2222-3333-4444-555555555555"),
    timestamp: time,
    cwd: fc.constantFrom("/tmp", ""),
    parentSession: fc.constant("/tmp/parent.jsonl"),
    provider: word,
    metadata: fc.constant({ by: "another program" }),
  },
  { requiredKeys: ["type", "id", "timestamp"] },
);

const noise = fc.constantFrom(
  "",
  " ",
  "\t\r",
  "not json",
  '{"type":"message","id":"to',
  "[1,2",
  "\0\0",
);

/** A file, and whether opening it means to migrate it. */
export interface StoredSession {
  readonly text: string;
  readonly isOld: boolean;
}

/** See the file comment. `isNewest`: with what only newer versions understand. */
export function storedSession(isNewest: boolean): fc.Arbitrary<StoredSession> {
  return fc
    .record({
      header,
      bodies: fc.array(fc.tuple(body(isNewest), time, fc.nat(30)), { maxLength: 12 }),
      order: fc.array(fc.nat(1000), { minLength: 12, maxLength: 12 }),
      isShuffled: fc.boolean(),
      noise: fc.array(fc.tuple(fc.nat(13), noise), { maxLength: 3 }),
      lineEnd: fc.constantFrom("\n", "\n", "\r\n"),
      isTerminated: fc.boolean(),
      hasSecondHeader: fc.boolean(),
    })
    .map((parts) => {
      const version = parts.header.version ?? 1;
      const entries = parts.bodies.map(([fields, timestamp, link], i) => {
        const { firstKeptEntryId, firstKeptEntryIndex, ...rest } = fields;
        if (version < 2) return { ...rest, firstKeptEntryId, firstKeptEntryIndex, timestamp };
        return {
          id: `entry-${i}`,
          parentId: parentOf(i, link),
          timestamp,
          ...rest,
          firstKeptEntryId,
        };
      });
      const lines = entries.map((entry) => JSON.stringify(entry));
      if (parts.isShuffled && version >= 2) shuffle(lines, parts.order);
      if (parts.hasSecondHeader) lines.push(JSON.stringify({ type: "session", id: "second" }));
      for (const [at, text] of parts.noise) lines.splice(at, 0, text);
      const text = [JSON.stringify(parts.header), ...lines].join(parts.lineEnd);
      return { text: text + (parts.isTerminated ? parts.lineEnd : ""), isOld: version < 3 };
    });
}

/** The entry before, as a rule; else an earlier one, none, or one that is not there. */
function parentOf(i: number, link: number): string | null {
  if (i === 0 || link === 0) return null;
  if (link === 1) return "nowhere";
  return `entry-${link < 10 ? link % i : i - 1}`;
}

function shuffle(lines: string[], order: readonly number[]): void {
  for (let i = lines.length - 1; i > 0; i -= 1) {
    const j = (order[i % order.length] ?? 0) % (i + 1);
    const [a = "", b = ""] = [lines[i], lines[j]];
    lines[i] = b;
    lines[j] = a;
  }
}
