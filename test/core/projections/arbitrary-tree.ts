/** Random small trees of entries, rich in compactions, edits and settings, for laws. */
import * as fc from "fast-check";
import type { SessionEntry } from "@branchlog/core";
import {
  assistant,
  assistantMessage,
  compaction,
  contextEdit,
  message,
  stored,
  usageOf,
  user,
} from "./sample-entries.ts";

interface Pick {
  readonly kind: number;
  /** Chooses the parent: 0 is a root, mostly it is the entry before. */
  readonly parent: number;
  /** Chooses another entry: what is kept, edited or labelled. */
  readonly other: number;
  readonly text: string;
}

const pick: fc.Arbitrary<Pick> = fc.record({
  kind: fc.nat({ max: 11 }),
  parent: fc.nat({ max: 9 }),
  other: fc.nat({ max: 30 }),
  text: fc.constantFrom("", "alpha", "beta", " gamma "),
});

/** At least one entry, ids `e0`, `e1`, …; parents are before their children. */
export const arbitraryTree: fc.Arbitrary<SessionEntry[]> = fc
  .array(pick, { minLength: 1, maxLength: 30 })
  .map((picks) => picks.map((one, i) => makeEntry(one, i, picks.length)));

function makeEntry(one: Pick, i: number, count: number): SessionEntry {
  const isRoot = i === 0 || one.parent === 0;
  const back = one.parent < 7 ? 1 : (one.other % i) + 1;
  const parentId = isRoot ? null : `e${i - back}`;
  return make(one, `e${i}`, parentId, `e${one.other % (count + 1)}`);
}

function make(
  { kind, text, other }: Pick,
  id: string,
  parentId: string | null,
  otherId: string,
): SessionEntry {
  switch (kind) {
    case 0:
      return user(id, parentId, text);
    case 1:
      return message(id, parentId, assistantMessage(text, `model-${other % 3}`));
    case 2:
      return message(id, parentId, { role: "system", content: text, timestamp: other });
    case 3:
    case 4:
      return { ...compaction(id, parentId, text, otherId), usage: usageOf(other, 1, 0.1) };
    case 5:
      return contextEdit(id, parentId, otherId, text === "" ? null : { content: text });
    case 6:
      return stored("thinking_level_change", id, parentId, { thinkingLevel: text });
    case 7:
      return stored("model_change", id, parentId, { provider: "openai", modelId: text });
    case 8:
      return stored("label", id, parentId, { targetId: otherId, label: text });
    case 9:
      return stored("session_info", id, parentId, { name: text });
    case 10:
      return stored("custom_message", id, parentId, { customType: "c", content: text });
    default:
      return assistant(id, parentId, text);
  }
}
