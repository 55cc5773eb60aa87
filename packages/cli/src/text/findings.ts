/** Findings of a session as `verify`, `repair` and `info` name them. Pure. */
import type { DivergedEntry } from "@branchlog/core/types";
import type { Finding, FindingWeight, VerifyReport } from "@branchlog/tools";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { numberText } from "./quantities.ts";

type Verified = Pick<VerifyReport, "path" | "findings">;

/** A line for each weight that has findings, the verdict last: `damaged: torn 1, cycle 2`. */
export function findingsText(findings: readonly Finding[], style: Style): string {
  const lineOf = (weight: FindingWeight, title: string): string => {
    const kinds = kindsText(findings, weight);
    return kinds === "" ? "" : `${title}: ${kinds}`;
  };
  const others = [lineOf("pending", "pending"), lineOf("noted", "noted")];
  const damage = lineOf("damage", "damaged");
  const verdict = damage === "" ? style.good("no damage") : style.bad(damage);
  return [...others, verdict].map((line) => (line === "" ? "" : `${line}\n`)).join("");
}

/** Of one of several sessions: `damaged   work/a.jsonl: torn 1, cycle 2`. */
export function verdictLine({ path, findings }: Verified, style: Style): string {
  const damage = kindsText(findings, "damage");
  const shown = oneLine(path, 400);
  if (damage === "") return `${style.good("fine")}      ${shown}\n`;
  return `${style.bad("damaged")}   ${shown}: ${damage}\n`;
}

/** `b5 below a1, unaware of the branch that ended with c3`. */
export function divergenceText({ id, parentId, tailId }: DivergedEntry): string {
  const place = parentId === null ? "as a root" : `below ${oneLine(parentId, 60)}`;
  const other = oneLine(tailId, 60);
  return `${oneLine(id, 60)} ${place}, unaware of the branch that ended with ${other}`;
}

/** `torn 1, missing-parent 3`; empty without findings of that weight. */
export function kindsText(findings: readonly Finding[], weight: FindingWeight): string {
  const ofWeight = findings.filter((found) => found.weight === weight);
  return ofWeight.map(({ kind, count }) => `${kind} ${numberText(count)}`).join(", ");
}
