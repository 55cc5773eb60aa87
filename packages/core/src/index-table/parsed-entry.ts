/** What the index keeps of an entry, from its parsed record instead of its envelope. */
import type { JsonObject } from "@branchlog/streaming";
import { modelRole } from "../dialects/model-reference.ts";
import type { Kind } from "./kind-table.ts";

/** The kind of a parsed entry; v2's role hookMessage is custom since v3. */
export function kindOfValue(type: string, value: JsonObject, version: number): Kind {
  const { message, customType } = value;
  const stored =
    type === "message" && message !== null && typeof message === "object" && !Array.isArray(message)
      ? message["role"]
      : undefined;
  const ofMessage = typeof stored === "string" ? stored : undefined;
  const role = type === "model_change" ? modelRole(value) : ofMessage;
  const hasCustomType = type === "custom" || type === "custom_message";
  return {
    type,
    role: role === "hookMessage" && version < 3 ? "custom" : role,
    customType: hasCustomType && typeof customType === "string" ? customType : undefined,
  };
}

/** Epoch milliseconds of a stored timestamp, or NaN. */
export function timeOfValue(timestamp: unknown): number {
  if (typeof timestamp === "string") return Date.parse(timestamp);
  // A number that no Date can hold is no time.
  return typeof timestamp === "number" ? new Date(timestamp).getTime() : Number.NaN;
}
