/** A turn that tests put into documents, and what documents then say. */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@branchlog/streaming";
import { printableJson } from "../../../packages/agents/src/connectonion/json-values.ts";
import { readDocument } from "../../../packages/agents/src/connectonion/read-document.ts";
import type { TurnToAdd } from "../../../packages/agents/src/connectonion/turn-splice.ts";

/** A turn with a message of several lines. */
export const sample: TurnToAdd = {
  fields: {
    input: "say yes",
    result: "yes",
    model: "co/gemini-2.5-pro",
    duration_ms: 1200,
    tokens: 100,
    cost: 0.00125,
    tools_called: ["run(command='ls -la')"],
    timestamp: "2026-02-03 04:05:06",
  },
  messages: [
    { role: "user", content: "say yes" },
    { role: "tool", tool_call_id: "call_1", content: "a\nb\n" },
  ],
  updated: "2026-02-03 04:05:06",
};

/** What a text says. */
export function dataOf(text: string): JsonObject {
  return readDocument(text, "/a.yaml").document.data;
}

/** Whether a text is a document that says this. */
export function says(text: string, data: JsonObject): boolean {
  try {
    return isDeepStrictEqual(dataOf(text), data);
  } catch {
    return false;
  }
}

/** What a document says with the turn in it. */
export function withTurn(data: JsonObject, { fields, messages, updated }: TurnToAdd): JsonObject {
  const turns = Array.isArray(data["turns"]) ? data["turns"] : [];
  const turn = turns.length + 1;
  const isKeyed = "messages" in data;
  const own = isKeyed ? {} : { messages: printableJson(messages) };
  const keyed = { ...(data["messages"] as JsonObject | undefined), [turn]: messages };
  const spent = { cost: Number(data["total_cost"]), tokens: Number(data["total_tokens"]) };
  return {
    ...data,
    updated,
    total_cost: Number((spent.cost + Number(fields["cost"])).toFixed(4)),
    total_tokens: spent.tokens + Number(fields["tokens"]),
    turns: [...turns, { turn, ...fields, ...own }],
    ...(isKeyed ? { messages: keyed } : {}),
  };
}
