/** Finds what is odd about a ConnectOnion document. Pure; nothing is repaired. */
import { localTimeMs } from "./costs-and-times.ts";
import { numberOfTurn } from "./document-types.ts";
import type { ConnectonionDocument, DocumentDiagnostic } from "./document-types.ts";
import { isObject } from "./json-values.ts";
import type { YamlText } from "./yaml-reader.ts";

type Undiagnosed = Omit<ConnectonionDocument, "diagnostics">;

/** Sums of four places differ if they do so by more than the noise of doubles. */
const noise = 0.000_01;

/** The findings: of the turns first, then of the totals, then of the text. */
export function documentDiagnostics(
  document: Undiagnosed,
  { repeatedKeys, beyondJsonCount }: YamlText,
): DocumentDiagnostic[] {
  const found = [...turnFindings(document), ...sumFindings(document)];
  for (const key of repeatedKeys) {
    const message = `The key ${key} is there twice in one mapping; the last one counts.`;
    found.push({ kind: "duplicate-key", message });
  }
  if (beyondJsonCount > 0) {
    const count = `${beyondJsonCount} values without quotes`;
    const message = `${count} are more than JSON can say, as times are.`;
    found.push({ kind: "no-json-form", message });
  }
  return found;
}

function turnFindings({ turns, messages, data, shape }: Undiagnosed): DocumentDiagnostic[] {
  const found: DocumentDiagnostic[] = [];
  const seen = new Set<number>();
  for (const [place, turn] of turns.entries()) {
    const own = numberOfTurn(turn, place);
    if (seen.has(own)) {
      found.push({ kind: "duplicate-turn", message: `Turn ${own} is there twice.`, turn: own });
    } else if (!messages.has(own)) {
      const message = `Turn ${own} has no messages.`;
      found.push({ kind: "turn-without-messages", message, turn: own });
    }
    seen.add(own);
  }
  for (let number = 1; number <= turns.length; number += 1) {
    if (seen.has(number)) continue;
    found.push({ kind: "missing-turn", message: `No turn is number ${number}.`, turn: number });
  }
  for (const number of messages.keys()) {
    if (seen.has(number)) continue;
    const message = `There are messages of turn ${number}, but no such turn.`;
    found.push({ kind: "messages-without-turn", message, turn: number });
  }
  const inBatches = shape === "nested" ? turns.filter((turn) => "messages" in turn).length : 0;
  const keyed = data["messages"];
  const count = inBatches + (isObject(keyed) ? Object.keys(keyed).length : 0) - messages.size;
  if (count > 0) {
    const message = `${count} of its lists of messages cannot be read, or are there twice.`;
    found.push({ kind: "messages-unreadable", message });
  }
  return found;
}

function sumFindings({ storedTotals, totals, updated, turns }: Undiagnosed): DocumentDiagnostic[] {
  const { total_cost: cost, total_tokens: tokens } = storedTotals;
  const found: DocumentDiagnostic[] = [];
  if (cost !== undefined && Math.abs(cost - totals.total_cost) > noise) {
    const message = `total_cost says ${cost}; its turns cost ${totals.total_cost}.`;
    found.push({ kind: "total-cost-differs", message });
  }
  if (tokens !== undefined && tokens !== totals.total_tokens) {
    const message = `total_tokens says ${tokens}; its turns took ${totals.total_tokens}.`;
    found.push({ kind: "total-tokens-differ", message });
  }
  const last = turns.at(-1)?.timestamp;
  // A comparison with NaN is never true.
  if (localTimeMs(updated) < localTimeMs(last)) {
    const message = `updated says ${updated}, before the last turn at ${String(last)}.`;
    found.push({ kind: "updated-before-last-turn", message });
  }
  return found;
}
