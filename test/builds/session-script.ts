/** Random histories of a session, as plain data that goes to another process; for fast-check. */
import fc from "fast-check";
import { text, usage } from "../e2e/differential/scripts.ts";

/** An entry by its place in file order, counted around the end. */
type Place = number;

/** One thing that a program does with a session, or another program to its file. */
export type SessionStep =
  | { readonly do: "append"; readonly drafts: readonly Draft[]; readonly options: StepOptions }
  | { readonly do: "bytes"; readonly text: string }
  | { readonly do: "move"; readonly to: Place | null; readonly persist: boolean }
  | { readonly do: "follow" | "refresh" | "reopen" | "verify" }
  | { readonly do: "name"; readonly name: string };

/** Draft of an entry; `target` and `kept` are places instead of ids. */
export interface Draft {
  readonly type: string;
  readonly target?: Place;
  readonly [field: string]: unknown;
}

/** Options of an append, with places instead of ids. */
export interface StepOptions {
  readonly parent?: "leaf" | "tail" | Place;
  readonly onDiverged?: "branch" | "follow" | "reject";
  readonly expectedTail?: Place;
  readonly id?: string;
}

/** What happens to a file. */
export interface SessionScript {
  /** The file before the first step; undefined: the session is created. */
  readonly stored: string | undefined;
  readonly steps: readonly SessionStep[];
}

const place = fc.nat(40);
const message = fc.oneof(
  fc.record({ role: fc.constant("user"), content: text, timestamp: fc.nat() }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.array(
      text.map((value) => ({ type: "text", text: value })),
      { maxLength: 2 },
    ),
    api: fc.constant("api"),
    provider: fc.constantFrom("one", "two"),
    model: fc.constantFrom("small", "large"),
    usage,
    stopReason: fc.constantFrom("stop", "toolUse", "aborted"),
    timestamp: fc.nat(),
  }),
);

const typed = (type: string, fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.record({ type: fc.constant(type), ...fields });
const draft: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 8, arbitrary: typed("message", { message }) },
  typed("label", { target: place, label: fc.constantFrom("a", "b") }),
  typed("session_info", { name: text }),
  typed("model_change", { provider: fc.constantFrom("one", "two"), modelId: text }),
  typed("thinking_level_change", { thinkingLevel: fc.constantFrom("off", "high") }),
  typed("custom", { customType: fc.constantFrom("k", "l"), data: fc.jsonValue({ maxDepth: 2 }) }),
  typed("custom_message", { customType: text, content: text, display: fc.boolean() }),
  typed("compaction", { summary: text, kept: place, tokensBefore: fc.nat(100) }),
  typed("branch_summary", { from: place, summary: text }),
);

const options: fc.Arbitrary<StepOptions> = fc.record(
  {
    parent: fc.oneof(fc.constantFrom<"leaf" | "tail">("leaf", "tail"), place),
    onDiverged: fc.constantFrom<"branch" | "follow" | "reject">("branch", "follow", "reject"),
    expectedTail: place,
    id: fc.constantFrom("own-1", "own-2"),
  },
  { requiredKeys: [] },
);

/** Bytes of programs that know no lock and no rules. */
const foreign = fc.oneof(
  fc.nat(9).map((n) => {
    const fields = { type: "message", id: `foreign-${n}`, parentId: null };
    const said = { role: "user", content: "From elsewhere.", timestamp: n };
    return `${JSON.stringify({ ...fields, timestamp: "2026-01-01T00:00:00.000Z", message: said })}\n`;
  }),
  fc.constantFrom("", "\n", "not json\n", '{"type":"message","id":"torn', "\0\0\0", '{"a":1}\n'),
);

const step: fc.Arbitrary<SessionStep> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant<"append">("append"),
      drafts: fc.array(draft, { minLength: 1, maxLength: 4 }),
      options,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant<"bytes">("bytes"), text: foreign }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant<"move">("move"),
      to: fc.oneof(place, fc.constant(null)),
      persist: fc.boolean(),
    }),
  },
  fc.record({
    do: fc.constantFrom<"follow" | "refresh" | "reopen" | "verify">(
      "follow",
      "refresh",
      "reopen",
      "verify",
    ),
  }),
  fc.record({ do: fc.constant<"name">("name"), name: text }),
);

/** Steps in a row. */
export const sessionSteps: fc.Arbitrary<SessionStep[]> = fc.array(step, {
  minLength: 1,
  maxLength: 25,
  size: "max",
});
