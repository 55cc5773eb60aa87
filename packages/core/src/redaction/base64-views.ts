/**
 * The texts that base64 has within a text, on one line or wrapped over lines, also behind other
 * characters of its alphabet, as in a path. Pure; linear.
 */
import type { DecodedView, TextRange } from "./decoded-views.ts";

/** Twelve bytes: shorter texts have no secret that shows itself. */
const tokenUnitsMin = 16;

/** Three bytes of ASCII: the first bits of each are zero. */
const asciiGroup = "[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9_+/-]";

/** Twelve, which few words and ids are. A repetition in the pattern is slower. */
const asciiGroups = new RegExp(asciiGroup.repeat(4));

/** The rest of a line, and lines of nothing else. */
const restOfToken = /[\w+/-]*(?:\r?\n[ \t]{0,16}[\w+/-]{4,}(?=\r?\n|=|[ \t]|$))*={0,2}/y;

/** Bytes as characters: ASCII, and what may be UTF-8. */
const texts = /(?:[\t\n\r -~]|[\xc2-\xf4][\x80-\xbf]{1,3}){12,}/g;

const inToken = Uint8Array.from({ length: 128 }, (_, code) => {
  return /[\w+/-]/.test(String.fromCharCode(code)) ? 1 : 0;
});

/** False: the text has no views. */
export function hasBase64(text: string): boolean {
  return nextToken(text, 0) !== undefined;
}

/** @param isWanted Of a range; asked in their order. */
export function* base64Views(
  text: string,
  isWanted: (range: TextRange) => boolean,
): Generator<DecodedView, void, undefined> {
  for (let token = nextToken(text, 0); token !== undefined; token = nextToken(text, token.end)) {
    if (isWanted(token)) yield* viewsOfToken(text, token);
  }
}

/** One that may decode to a text. Of most words, only one character is read. */
function nextToken(text: string, from: number): TextRange | undefined {
  for (let at = from + tokenUnitsMin - 1; at < text.length;) {
    let start = at;
    while (start > at - tokenUnitsMin && inToken[text.charCodeAt(start)] === 1) start -= 1;
    if (start > at - tokenUnitsMin) {
      at = start + tokenUnitsMin;
      continue;
    }
    while (start >= from && inToken[text.charCodeAt(start)] === 1) start -= 1;
    restOfToken.lastIndex = at;
    restOfToken.test(text);
    const end = restOfToken.lastIndex;
    if (asciiGroups.test(text.slice(start + 1, end))) return { start: start + 1, end };
    at = end + tokenUnitsMin - 1;
  }
  return undefined;
}

/** The groups of four may begin at any of its first four characters. */
function* viewsOfToken(
  text: string,
  { start, end }: TextRange,
): Generator<DecodedView, void, undefined> {
  const token = text.slice(start, end).replaceAll(/\s+/g, "");
  const rangeOf = (): readonly [number, number] => [start, end];
  for (let lead = 0; lead < 4; lead += 1) {
    const bytes = Buffer.from(token.slice(lead), "base64").toString("latin1");
    for (const found of bytes.match(texts) ?? []) yield { text: found, rangeOf };
  }
}
