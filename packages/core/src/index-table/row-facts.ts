/** What a row keeps of its line: of the scanned envelope, or of the parsed entry. */
import { scanFlags } from "@branchlog/streaming";
import type { JsonObject, ScannedKind } from "@branchlog/streaming";
import { dialectMarkers } from "../dialects/dialect.ts";
import { modelRole } from "../dialects/model-reference.ts";
import { rowFlags } from "./row-table.ts";
import type { Kind } from "./row-table.ts";

/** Parsed whole while reading: projections or the context need them. */
export const foldedTypes: ReadonlySet<string> = new Set(["label", ...dialectMarkers]);

export type ParsingNeed = "never" | "unless flat" | "always";

/** Whether the envelope of a line of this kind says too little. */
export function parsingNeedOf({ type, role }: ScannedKind): ParsingNeed {
  if (foldedTypes.has(type) || type === "session" || role === "hookMessage") return "always";
  return type === "thinking_level_change" ? "unless flat" : "never";
}

const scannedMax = Object.values(scanFlags).reduce((all, flag) => all | flag, 0);

/** By the flags of a scanned line. */
export const rowFlagsOf: Uint8Array = Uint8Array.from({ length: scannedMax + 1 }, (_, scanned) => {
  const { tailForm, endsWithObject, hasPayload, exactTime, root, flat } = scanFlags;
  const pairs = [
    [tailForm, rowFlags.tailForm],
    [endsWithObject, rowFlags.endsWithObject],
    [hasPayload, rowFlags.hasPayload],
    [exactTime, rowFlags.exactTime],
    [root, rowFlags.root],
  ] as const;
  return pairs.reduce(
    (flags, [from, to]) => ((scanned & from) === 0 ? flags : flags | to),
    (scanned & flat) === 0 ? rowFlags.provisional : 0,
  );
});

/** v2's role hookMessage is custom since v3. */
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

export function timeOfValue(timestamp: unknown): number {
  if (typeof timestamp === "string") return Date.parse(timestamp);
  // A number that no Date can hold is not a time.
  return typeof timestamp === "number" ? new Date(timestamp).getTime() : Number.NaN;
}
