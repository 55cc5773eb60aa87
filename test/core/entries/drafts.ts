/** Drafts of every type for the tests of entries, and pi's objects for them as an oracle. */
import * as fc from "fast-check";
import type { AnyDraft, KnownDraft } from "@branchlog/core/entries";

const any = fc.jsonValue({ stringUnit: "grapheme", maxDepth: 3 });
const text = fc.string({ unit: "grapheme" });
const oddText = fc.oneof(text, fc.string({ unit: "binary" }), fc.constant('\ud800 \u2028 \n"\\'));
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

const message = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "custom"), content: oddText, timestamp: fc.nat() }),
  fc.record({ content: oddText, role: oddText }),
  fc.dictionary(oddText, any),
);

/** Any draft, as the compiler cannot see it: fields hold whatever JSON can hold. */
export const anyDraft: fc.Arbitrary<AnyDraft> = fc.oneof(
  fc.record({ type: fc.constant("message"), message }),
  fc.record({ type: fc.constant("thinking_level_change"), thinkingLevel: oddText }),
  fc.record({ type: fc.constant("model_change"), modelId: oddText, provider: oddText }),
  fc.record({
    type: fc.constant("compaction"),
    usage: optional(any),
    tokensBefore: fc.nat(),
    firstKeptEntryId: fc.option(oddText),
    summary: optional(oddText),
    details: optional(any),
    fromHook: optional(fc.boolean()),
    systemMessage: optional(any),
  }),
  fc.record({
    type: fc.constant("branch_summary"),
    summary: oddText,
    fromId: oddText,
    usage: optional(any),
    details: optional(any),
    fromHook: optional(fc.boolean()),
  }),
  fc.record({ type: fc.constant("custom"), data: optional(any), customType: oddText }),
  fc.record({
    type: fc.constant("custom_message"),
    details: optional(any),
    display: fc.boolean(),
    content: any,
    customType: oddText,
  }),
  fc.record({ type: fc.constant("label"), label: optional(oddText), targetId: oddText }),
  fc.record({ type: fc.constant("session_info"), name: oddText }),
  fc.record({
    type: fc.constant("usage"),
    note: optional(oddText),
    usage: any,
    model: oddText,
    provider: oddText,
    kind: oddText,
  }),
  fc.record({ type: fc.constant("context_edit"), replacement: any, targetId: oddText }),
  fc
    .tuple(fc.string({ minLength: 1 }).filter(isForeign), fc.dictionary(text, optional(any)))
    .map(([type, fields]) => ({ ...withoutReserved(fields), type })),
);

const piTypes = new Set(
  (
    "message thinking_level_change model_change compaction branch_summary custom " +
    "custom_message label session_info usage context_edit session"
  ).split(" "),
);

function isForeign(type: string): boolean {
  return !piTypes.has(type);
}

function withoutReserved(fields: Record<string, unknown>): Record<string, unknown> {
  const { id: _i, parentId: _p, timestamp: _t, type: _y, ...rest } = fields;
  return rest;
}

/** The object that pi 1.5.2 would hand to JSON.stringify, key by key. */
export function piObject(
  draft: AnyDraft,
  id: string,
  parentId: string | null,
  timestamp: string,
): object {
  const { type } = draft;
  const base = { type, id, parentId, timestamp };
  if (isForeign(type)) return { ...base, ...withoutReserved({ ...draft }) };
  const known = draft as KnownDraft;
  switch (known.type) {
    case "custom": {
      const { customType, data } = known;
      return { type, customType, data, id, parentId, timestamp };
    }
    case "custom_message": {
      const { customType, content, display, details } = known;
      return { type, customType, content, display, details, id, parentId, timestamp };
    }
    default:
      return { ...base, ...piPayload(known, id) };
  }
}

type PayloadLast = Exclude<KnownDraft, { type: "custom" | "custom_message" }>;

function piPayload(d: PayloadLast, id: string): object {
  switch (d.type) {
    case "message":
      return { message: d.message };
    case "thinking_level_change":
      return { thinkingLevel: d.thinkingLevel };
    case "model_change":
      return { provider: d.provider, modelId: d.modelId };
    case "compaction": {
      const { summary, tokensBefore, details, usage: cost, fromHook, systemMessage } = d;
      const firstKeptEntryId = d.firstKeptEntryId ?? id;
      const rest = { details, usage: cost, fromHook, systemMessage };
      return { summary, firstKeptEntryId, tokensBefore, ...rest };
    }
    case "branch_summary": {
      const { fromId, summary, details, usage: cost, fromHook } = d;
      return { fromId, summary, details, usage: cost, fromHook };
    }
    case "label":
      return { targetId: d.targetId, label: d.label };
    case "session_info":
      return { name: d.name };
    case "usage": {
      const { kind, provider, model, usage: cost, note } = d;
      return { kind, provider, model, usage: cost, note };
    }
    case "context_edit":
      return { targetId: d.targetId, replacement: d.replacement };
    default:
      throw new Error("no such draft");
  }
}
