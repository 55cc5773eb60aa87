/**
 * The texts that base64 has within a text, on one line or wrapped over lines, also behind other
 * characters of its alphabet, as in a path. Pure; linear.
 */
import type { DecodedView, TextRange } from "./decoded-views.ts";

/** Twelve bytes of ASCII: the first bits of each are zero, which few words and ids have. */
const asciiGroups = /(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][\w+/-]){4}/g;

/** The rest of a line, and lines of nothing else. */
const restOfToken = /[\w+/-]*(?:\r?\n[ \t]{0,16}[\w+/-]{4,}(?=\r?\n|=|[ \t]|$))*={0,2}/y;

const tokenCharacter = /[\w+/-]/;

/** Bytes as characters: ASCII, and what may be UTF-8. */
const texts = /(?:[\t\n\r -~]|[\xc2-\xf4][\x80-\xbf]{1,3}){12,}/g;

/** False: the text has no views. */
export function hasBase64(text: string): boolean {
  asciiGroups.lastIndex = 0;
  return asciiGroups.test(text);
}

/** @param isWanted Of a range; asked in their order. */
export function* base64Views(
  text: string,
  isWanted: (range: TextRange) => boolean,
): Generator<DecodedView, void, undefined> {
  let tokenEnd = 0;
  for (;;) {
    asciiGroups.lastIndex = tokenEnd;
    const match = asciiGroups.exec(text);
    if (match === null) return;
    let start = match.index;
    while (start > tokenEnd && tokenCharacter.test(text[start - 1] ?? "")) start -= 1;
    restOfToken.lastIndex = asciiGroups.lastIndex;
    restOfToken.test(text);
    tokenEnd = Math.max(asciiGroups.lastIndex, restOfToken.lastIndex);
    if (isWanted({ start, end: tokenEnd })) yield* viewsOfToken(text, start, tokenEnd);
  }
}

/** The groups of four may begin at any of its first four characters. */
function* viewsOfToken(
  text: string,
  start: number,
  end: number,
): Generator<DecodedView, void, undefined> {
  const token = text.slice(start, end).replaceAll(/\s+/g, "");
  const rangeOf = (): readonly [number, number] => [start, end];
  for (let lead = 0; lead < 4; lead += 1) {
    const bytes = Buffer.from(token.slice(lead), "base64").toString("latin1");
    for (const found of bytes.match(texts) ?? []) yield { text: found, rangeOf };
  }
}
