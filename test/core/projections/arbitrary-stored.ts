/** Entries of known types whose fields hold anything that JSON can, as a damaged file might. */
import * as fc from "fast-check";
import type { SessionEntry } from "@branchlog/core";
import { stored } from "./sample-entries.ts";

const json = fc.jsonValue({ maxDepth: 3 });
const id = fc.constantFrom("a", "b", "c", "d");
const text = fc.constantFrom("", "text", "write", "read", "anthropic");
const hostile = fc.constantFrom({ toString: 1, valueOf: 1 }, { type: "text", text: { a: 1 } }, []);
const value: fc.Arbitrary<unknown> = fc.oneof(json, id, text, hostile);

const block: fc.Arbitrary<unknown> = fc.oneof(
  value,
  fc.record({
    type: fc.constantFrom("text", "toolCall"),
    text: value,
    name: text,
    arguments: value,
  }),
);

const usage: fc.Arbitrary<unknown> = fc.oneof(
  value,
  fc.record({ input: value, output: value, cacheRead: value, cost: value }, { requiredKeys: [] }),
);

const message: fc.Arbitrary<unknown> = fc.oneof(
  value,
  fc.record(
    {
      role: fc.oneof(
        fc.constantFrom("user", "assistant", "toolResult", "system", "bashExecution", "custom"),
        fc.constantFrom("branchSummary", "compactionSummary", "aNewRole"),
        value,
      ),
      content: fc.oneof(value, fc.array(block, { maxLength: 3 })),
      provider: value,
      model: value,
      usage,
      timestamp: value,
      command: value,
      output: value,
      exitCode: value,
      truncated: value,
      fullOutputPath: value,
      summary: value,
      sections: value,
      toolsAdded: fc.oneof(value, fc.array(value)),
      toolsRemoved: fc.oneof(value, fc.array(value)),
      nestedCalls: fc.oneof(value, fc.record({ calls: fc.oneof(value, fc.array(block)) })),
    },
    { requiredKeys: ["role"] },
  ),
);

const fields = fc.record(
  {
    timestamp: value,
    message,
    summary: value,
    firstKeptEntryId: value,
    tokensBefore: value,
    details: fc.oneof(value, fc.record({ readFiles: value, modifiedFiles: value })),
    usage,
    fromHook: value,
    systemMessage: message,
    fromId: value,
    customType: value,
    content: value,
    targetId: value,
    label: value,
    name: value,
    kind: value,
    provider: value,
    modelId: value,
    model: value,
    thinkingLevel: value,
    replacement: fc.oneof(value, fc.record({ content: fc.oneof(value, fc.array(block)) })),
  },
  { requiredKeys: [] },
);

const type = fc.constantFrom(
  "message",
  "message",
  "compaction",
  "branch_summary",
  "custom_message",
  "context_edit",
  "usage",
  "label",
  "session_info",
  "model_change",
  "thinking_level_change",
);

/** A handful of entries, ids repeated now and then. */
export const arbitraryStoredEntries: fc.Arbitrary<SessionEntry[]> = fc.array(
  fc.tuple(type, id, fields).map(([kind, own, rest]) => stored(kind, own, null, rest)),
  { maxLength: 8 },
);
