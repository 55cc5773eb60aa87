/** Arbitrary scripts, for fast-check. */
import fc from "fast-check";
import type { Operation, Place, Step } from "./operation.ts";

const place: fc.Arbitrary<Place> = fc.oneof(
  { weight: 12, arbitrary: fc.nat(60) },
  { weight: 1, arbitrary: fc.constant(-1) },
);
const placeOrNull = fc.oneof({ weight: 6, arbitrary: place }, fc.constant(null));
/** Texts that are easy to get wrong. */
export const text = fc.oneof(
  fc.constantFrom("", "Hello.", "two\nlines", "\u2028 \u{1f600}", '"quoted" \\', "  spaces  "),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const json = fc.oneof(
  fc.constantFrom<unknown>(null, 0, "", [], {}, { n: 1e21, t: 0.1 }, ["\u0007", { deep: [{}] }]),
  fc.jsonValue({ maxDepth: 2 }),
);
const block = fc.oneof(
  text.map((value) => ({ type: "text", text: value })),
  fc.constant({ type: "image", data: "aGVsbG8=", mimeType: "image/png" }),
);
const content = fc.oneof(text, fc.array(block, { maxLength: 3 }));
export const usage = fc.nat(1000).map((input) => ({
  input,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: input + 1,
  cost: { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 0, total: 0.1 + 0.2 },
}));
const folder = fc.constantFrom(
  "/a/b-c",
  "/a-b/c/",
  "/",
  "relative/folder",
  "../up",
  "~",
  "~/home",
  "file:///url/folder",
  "/with space/\u00e9/a:b",
  "C:\\windows\\path",
);
const time = fc.integer({ min: 1_600_000_000_000, max: 1_700_000_000_000 });

function message(hasSystem: boolean): fc.Arbitrary<object> {
  const user = fc.record({ role: fc.constant("user"), content, timestamp: time });
  const assistant = fc.record({
    role: fc.constant("assistant"),
    content: fc.array(block, { maxLength: 2 }),
    api: fc.constant("api"),
    provider: fc.constantFrom("one", "two"),
    model: fc.constantFrom("small", "large"),
    usage,
    stopReason: fc.constantFrom("stop", "toolUse", "aborted"),
    timestamp: time,
  });
  const toolResult = fc.record({
    role: fc.constant("toolResult"),
    toolCallId: fc.constant("call"),
    toolName: fc.constant("bash"),
    content: fc.array(block, { maxLength: 2 }),
    isError: fc.boolean(),
    timestamp: time,
  });
  const bash = fc.record({
    role: fc.constant("bashExecution"),
    command: text,
    output: text,
    exitCode: fc.nat(2),
    cancelled: fc.boolean(),
    truncated: fc.boolean(),
    timestamp: time,
  });
  const system = fc.record({
    role: fc.constant("system"),
    content: text,
    sections: fc.dictionary(fc.constantFrom("tools", "rules"), fc.option(text), { maxKeys: 2 }),
    toolsAdded: fc.array(
      fc.constantFrom({ name: "read", description: "r" }, { name: "bash", description: "b" }),
      { maxLength: 2 },
    ),
    toolsRemoved: fc.subarray([{ name: "read" }, { name: "bash" }]),
    timestamp: time,
  });
  const oneof = fc.oneof(
    { weight: 4, arbitrary: user },
    { weight: 4, arbitrary: assistant },
    toolResult,
    bash,
    ...(hasSystem ? [system] : []),
  );
  return oneof.map((value) => ({ ...value }));
}

function operations(isNewest: boolean): fc.Arbitrary<Operation> {
  const of = <Kind extends Operation["do"]>(kind: Kind): { do: fc.Arbitrary<Kind> } => ({
    do: fc.constant(kind),
  });
  const details = fc.tuple(fc.option(json, { nil: undefined }), fc.boolean(), usage);
  const rest = isNewest ? details : details.map((values) => values.slice(0, 2));
  const name = isNewest
    ? fc.oneof(text, fc.constantFrom("A\r\n\r\nB", " "))
    : fc.constantFrom("A", " B ");
  const kept = isNewest ? placeOrNull : place;
  const replacement = fc.oneof(
    fc.record({ content }),
    fc.constantFrom<unknown>(null, {}, "text", { content: 5 }),
  );
  const newest: fc.Arbitrary<Operation>[] = [
    fc.record({ ...of("usage"), usage, note: text }),
    fc.record({ ...of("edit"), target: place, replacement }),
    fc.record({ ...of("edit"), target: place, replacement: fc.constant(null) }),
    fc.record({ ...of("folder"), cwd: folder }),
    fc.record({ ...of("reopen"), cwd: fc.constant("/") }),
    fc.record(of("adopt")),
  ];
  const badId = fc.constantFrom("", "-abc", "abc.", "a/b", "a b");
  const goodId = fc.string({
    unit: fc.constantFrom("x", "y", "-", ".", "_", "1"),
    minLength: 8,
    maxLength: 8,
  });
  const id = fc.oneof(
    goodId.map((part) => `x${part}x`),
    ...(isNewest ? [badId] : []),
  );
  const labels = fc.record(
    { ...of("label"), target: place, label: fc.constantFrom("a", "b", "") },
    { requiredKeys: ["do", "target"] },
  );
  return fc.oneof(
    { weight: 12, arbitrary: fc.record({ ...of("message"), message: message(isNewest) }) },
    fc.record({ ...of("thinking"), level: fc.constantFrom("off", "high") }),
    fc.record({ ...of("model"), provider: text, model: text }),
    { weight: 2, arbitrary: fc.record({ ...of("compact"), summary: text, kept, rest }) },
    fc.record({ ...of("custom"), type: text, data: json }, { requiredKeys: ["do", "type"] }),
    fc.record({ ...of("note"), content, rest: fc.tuple(fc.boolean(), json) }),
    fc.record({ ...of("name"), name }),
    { weight: 4, arbitrary: fc.record({ ...of("branch"), to: place }) },
    fc.record(of("reset")),
    { weight: 2, arbitrary: fc.record({ ...of("summary"), to: placeOrNull, summary: text, rest }) },
    { weight: 2, arbitrary: fc.record({ ...of("extract"), leaf: place }) },
    fc.record(of("reopen")),
    fc.record({ ...of("switch"), file: fc.nat(5) }),
    fc.record(of("recent")),
    fc.record(of("fork")),
    fc.record({ ...of("new"), isChild: fc.boolean(), id }, { requiredKeys: ["do", "isChild"] }),
    { weight: 2, arbitrary: fc.record({ ...of("ask"), about: place }) },
    { weight: 2, arbitrary: labels },
    ...(isNewest ? newest : []),
  );
}

/**
 * Steps in a row; some in the same millisecond. `isNewest`: with system messages, usage, context
 * edits, compactions that keep nothing.
 */
export function steps(isNewest: boolean): fc.Arbitrary<Step[]> {
  const step = fc.record({
    operation: operations(isNewest),
    laterMs: fc.constantFrom(0, 1, 1000),
  });
  return fc.array(step, { minLength: 1, maxLength: 40, size: "max" });
}
