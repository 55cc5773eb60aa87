/**
 * The texts encoded in base64 within a text, on one line or wrapped over lines, also after other
 * characters of its alphabet, as in a path. Pure; linear.
 */
import type { DecodedView, TextRange } from "./decoded-views.ts";

/** Twelve bytes: shorter texts have no secret that shows itself. */
const tokenUnitsMin = 16;

/** Three bytes of ASCII: the first bits of each are zero. */
const asciiGroup = "[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9_+/-]";

/** Twelve, which few words and ids are. A repetition in the pattern is slower. */
const asciiGroups = new RegExp(asciiGroup.repeat(4));

/** The rest of a line, and the starts of the next ones, which may be words of their own. */
const restOfToken = /[\w+/-]*(?:\r?\n[ \t]{0,16}[\w+/-]+)*={0,2}/y;

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

interface TokenLine extends TextRange {
  /** Where it begins in the token without line ends. */
  readonly at: number;
}

/** Each line, which may be one of a list, and all lines as one. */
function* viewsOfToken(
  text: string,
  { start, end }: TextRange,
): Generator<DecodedView, void, undefined> {
  const lines: TokenLine[] = [];
  let token = "";
  for (const { index, 0: line } of text.slice(start, end).matchAll(/\S+/g)) {
    const range = { start: start + index, end: start + index + line.length };
    if (line.length >= tokenUnitsMin) yield* decodedTexts(line, [{ ...range, at: 0 }]);
    lines.push({ ...range, at: token.length });
    token += line;
  }
  if (lines.length > 1) yield* decodedTexts(token, lines);
}

/** The groups of four may begin at any of the first four characters. */
function* decodedTexts(
  token: string,
  lines: readonly TokenLine[],
): Generator<DecodedView, void, undefined> {
  for (let lead = 0; lead < 4; lead += 1) {
    const bytes = Buffer.from(token.slice(lead), "base64").toString("latin1");
    for (const { index, 0: text } of bytes.matchAll(texts)) {
      const rangeOf = (start: number, end: number): readonly [number, number] => {
        const first = Math.floor(((index + start) * 4) / 3);
        const last = Math.ceil(((index + end) * 4) / 3) - 1;
        return [lineAt(lines, lead + first)?.start ?? 0, lineAt(lines, lead + last)?.end ?? 0];
      };
      yield { text, rangeOf };
    }
  }
}

function lineAt(lines: readonly TokenLine[], at: number): TokenLine | undefined {
  let [low, high] = [0, lines.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((lines[middle]?.at ?? 0) <= at) low = middle;
    else high = middle;
  }
  return lines[low];
}
