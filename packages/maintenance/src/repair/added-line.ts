/** The lines that a repair adds: a rebuilt header, and stand-ins for lost entries. Pure. */
import { encodeDraft, encodeHeader, spliceDraft } from "@branchlog/core/internal";
import type { HeaderStep, StandInStep } from "./repair-plan.ts";

/** The `customType` of stand-ins. */
const standInType = "branchlog.lost";

/** The line, newline included. */
export function addedLine(step: HeaderStep | StandInStep): Buffer {
  if (step.kind === "header") return encodeHeader(step.header);
  const { id, parentId, timestamp, source } = step;
  const draft = { type: "custom", customType: standInType, data: { parentFrom: source } };
  return spliceDraft(encodeDraft(draft, timestamp), id, parentId);
}
