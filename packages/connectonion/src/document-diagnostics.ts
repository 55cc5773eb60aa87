/** Finds what is odd about a ConnectOnion document. Pure; nothing is repaired. */
import type { ConnectonionDocument, DocumentDiagnostic } from "./document-types.ts";
import { localTimeMs } from "./local-time.ts";
import { keyText } from "./yaml-nodes.ts";
import type { YamlMap, YamlNode } from "./yaml-nodes.ts";

/** Sums of four places differ if they do so by more than the noise of doubles. */
const noise = 0.000_01;

/** The findings: of the turns first, then of the totals, then of the text. */
export function documentDiagnostics(
  document: Omit<ConnectonionDocument, "diagnostics">,
  root: YamlMap,
): DocumentDiagnostic[] {
  return [
    ...turnFindings(document),
    ...totalFindings(document),
    ...timeFindings(document),
    ...textFindings(root),
  ];
}

function turnFindings({
  turns,
  messages,
  data,
  shape,
}: Omit<ConnectonionDocument, "diagnostics">): DocumentDiagnostic[] {
  const found: DocumentDiagnostic[] = [];
  const seen = new Set<number>();
  for (const [place, turn] of turns.entries()) {
    const number: unknown = turn.turn;
    const own = typeof number === "number" && Number.isSafeInteger(number) ? number : place + 1;
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
  const inTurns = shape === "nested" ? turns.filter((turn) => "messages" in turn).length : 0;
  const keyed = data["messages"];
  const underKeys = typeof keyed === "object" && keyed !== null ? Object.keys(keyed).length : 0;
  const count = inTurns + underKeys - messages.size;
  if (count > 0) {
    const message = `${count} of its lists of messages cannot be read, or are there twice.`;
    found.push({ kind: "messages-unreadable", message });
  }
  return found;
}

function totalFindings({
  storedTotals,
  totals,
}: Omit<ConnectonionDocument, "diagnostics">): DocumentDiagnostic[] {
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
  return found;
}

function timeFindings({
  updated,
  turns,
}: Omit<ConnectonionDocument, "diagnostics">): DocumentDiagnostic[] {
  const last = turns.at(-1)?.timestamp;
  // A comparison with NaN is never true.
  if (!(localTimeMs(updated) < localTimeMs(last))) return [];
  const message = `updated says ${updated}, before the last turn at ${String(last)}.`;
  return [{ kind: "updated-before-last-turn", message }];
}

/** Repeated keys, and values that JSON cannot say; aliases are not followed. */
function textFindings(root: YamlMap): DocumentDiagnostic[] {
  const found: DocumentDiagnostic[] = [];
  let beyondJson = 0;
  const pending: YamlNode[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.kind === "scalar" && node.isBeyondJson) beyondJson += 1;
    else if (node.kind === "list") for (const item of node.items) pending.push(item);
    else if (node.kind === "map") {
      const keys = new Set<string>();
      for (const { key, value } of node.pairs) {
        const text = keyText(key);
        if (keys.has(text)) {
          const message = `The key ${text} is there twice in one mapping; the last one counts.`;
          found.push({ kind: "duplicate-key", message });
        }
        keys.add(text);
        pending.push(value);
      }
    }
  }
  if (beyondJson > 0) {
    const message = `${beyondJson} values without quotes are more than JSON can say, as times are.`;
    found.push({ kind: "no-json-form", message });
  }
  return found;
}
