/** Cuts a JSON text into strings, braces and what is between them. Pure; keeps every character. */
import { behindText } from "@branchlog/core/rows";

export interface JsonToken {
  readonly source: string;
  readonly start: number;
  readonly kind: "text" | "key" | "open" | "close" | "between";
}

/** The text must be JSON. */
export function* jsonTokens(json: string): Generator<JsonToken, void, undefined> {
  const marks = /["{}]/g;
  for (let at = 0; at < json.length;) {
    marks.lastIndex = at;
    const start = marks.exec(json)?.index ?? json.length;
    if (start > at) yield { source: json.slice(at, start), start: at, kind: "between" };
    const mark = json[start];
    if (mark === undefined) return;
    at = mark === '"' ? behindText(json, start) : start + 1;
    const source = json.slice(start, at);
    if (mark !== '"') yield { source, start, kind: mark === "{" ? "open" : "close" };
    else yield { source, start, kind: isKeyBefore(json, at) ? "key" : "text" };
  }
}

function isKeyBefore(json: string, at: number): boolean {
  const colon = /\s*:/y;
  colon.lastIndex = at;
  return colon.test(json);
}
