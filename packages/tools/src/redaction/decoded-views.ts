/**
 * A text as its readers decode it: without percent-encoding, escapes, entities, colours, marks of
 * a diff, quotes between the parts of a word and line ends within it. Only the lines that have such
 * an encoding. Pure; linear, and bounded by the size of a window.
 */

export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Whether a range has anything that others do not have. Both are asked and given by their start.
 */
export function notWithin(others: readonly TextRange[]): (range: TextRange) => boolean {
  let place = 0;
  let end = 0;
  return (range) => {
    for (; (others[place]?.start ?? Infinity) <= range.start; place += 1) {
      end = Math.max(end, others[place]?.end ?? 0);
    }
    return range.end > end;
  };
}

/** A part of a text, decoded. */
export interface DecodedView {
  readonly text: string;
  /** A kind of secrets that is found without the view, and that its text would prolong. */
  readonly except?: string | undefined;
  /** The range of the text whose decoding has a range of the view. */
  rangeOf(start: number, end: number): readonly [start: number, end: number];
}

interface Encoding {
  /** A text without it is not encoded so. */
  readonly sign: string | RegExp;
  /** Global. A match is longer than its decoded text. */
  readonly pattern: RegExp;
  readonly decoded: (encoded: string) => string;
  /** How much of the lines before belongs to a view: a value's name may be there. */
  readonly unitsBefore?: number;
  readonly except?: string;
}

const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

function unescaped(encoded: string): string {
  const character = encoded[1] ?? "";
  if (encoded.length > 2) return /[ux]/.test(character) ? characterOf(encoded.slice(2), 16) : "";
  return controls[character] ?? character;
}

function characterOf(digits: string, radix: number): string {
  return String.fromCharCode(Number.parseInt(digits, radix));
}

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
};

function characterOfEntity(entity: string): string {
  const [, hexadecimal, decimal = ""] = /^&#(?:x([\da-f]+)|(\d+));$/i.exec(entity) ?? [];
  if (hexadecimal !== undefined) return characterOf(hexadecimal, 16);
  return entities[entity] ?? characterOf(decimal, 10);
}

const nothing = (): string => "";

const escapeCharacter = String.raw`(?:\x1b|\\u001[bB]|\\x1b|\\033|\\e)`;

/** Between parts of a word: of one word of a shell, or of one text of a program. */
const betweenQuotes =
  String.raw`(?:[ \t]{0,8}[+.&][ \t]{0,8})?` +
  String.raw`(?:\\?\r?\n[ \t]{0,40}(?:[+.&][ \t]{0,8})?)?`;

/** Widths at which programs break lines: of PEM, and of MIME with its soft line ends. */
const lineEndInWord =
  String.raw`\r?\n(?=\S)(?<=^(?:[^\r\n]{63}|[^\r\n]{75})\S\r?\n)|` +
  String.raw`=\r?\n(?=\S)(?<=^[^\r\n]{61,76}\r?\n)`;

const hunk = "@@ -";

const encodings: readonly Encoding[] = [
  {
    sign: new RegExp(`${escapeCharacter}\\[`),
    pattern: new RegExp(String.raw`${escapeCharacter}\[[\d;]{0,20}m`, "g"),
    decoded: nothing,
  },
  {
    sign: "\\",
    pattern: /\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|\r\n|[^])/g,
    decoded: (encoded) => (encoded.endsWith("\n") ? "" : unescaped(encoded)),
  },
  {
    sign: "%",
    // Bytes of one character are searched as if each were one.
    pattern: /%[\da-fA-F]{2}/g,
    decoded: (encoded) => characterOf(encoded.slice(1), 16),
  },
  {
    sign: "&",
    pattern: /&(?:amp|lt|gt|quot|apos|#\d{2,4}|#[xX][\da-fA-F]{2,4});/g,
    decoded: characterOfEntity,
  },
  {
    sign: /["'`]/,
    pattern: new RegExp(
      String.raw`["'\x60](?<=[^\s"'\x60([{=:,].)${betweenQuotes}["'\x60](?=[^\s"'\x60)\]};,:])`,
      "g",
    ),
    decoded: nothing,
  },
  { sign: "\\\n", pattern: /\\\n/g, decoded: nothing, unitsBefore: 128 },
  {
    sign: "\n",
    pattern: new RegExp(lineEndInWord, "gm"),
    decoded: nothing,
    unitsBefore: 128,
    except: "private-key",
  },
  { sign: hunk, pattern: /^(?:[+ ]|-[^\n]*\n)/gm, decoded: nothing },
  { sign: hunk, pattern: /^(?:[- ]|\+[^\n]*\n)/gm, decoded: nothing },
  { sign: "\n+", pattern: /^\+/gm, decoded: nothing },
  { sign: "\n-", pattern: /^-/gm, decoded: nothing },
];

/** Of what every encoding has, which few short texts do. */
const anySign = new RegExp(String.raw`[\n\x1b\\%&"'\x60]`);

/** False: the text has no views. */
export function hasEncoding(text: string): boolean {
  return anySign.test(text);
}

/** Of each encoding, the lines that have it; all lines of a text with a private key. */
export function* decodedViews(text: string): Generator<DecodedView, void, undefined> {
  const isKey = text.includes("PRIVATE");
  for (const encoding of encodings) {
    const { sign } = encoding;
    const isPossible = typeof sign === "string" ? text.includes(sign) : sign.test(text);
    if (isPossible) yield* viewsOf(text, isKey ? { ...encoding, unitsBefore: Infinity } : encoding);
  }
}

function* viewsOf(text: string, encoding: Encoding): Generator<DecodedView, void, undefined> {
  const { pattern, decoded } = encoding;
  let view: LinesView | undefined;
  let at = 0;
  let viewsEnd = 0;
  for (;;) {
    // Others use the pattern while the view is searched.
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (view !== undefined && (match === null || match.index > view.nextLineEnd)) {
      viewsEnd = view.lineEnd;
      yield view.ended();
      view = undefined;
    }
    if (match === null) return;
    const [encoded] = match;
    at = match.index + encoded.length;
    view ??= new LinesView(text, match.index, viewsEnd, encoding);
    view.add(match.index, at, decoded(encoded));
  }
}

/** Successive lines with an encoding. */
class LinesView implements DecodedView {
  readonly #source: string;
  readonly #parts: string[] = [];
  /** Where what was decoded begins in the view and ends there, and its range in the source. */
  readonly #places: number[] = [];
  #at: number;
  #length = 0;
  lineEnd: number;
  /** Of the line after: the view continues with it, if it has the encoding. */
  nextLineEnd: number;
  readonly except: string | undefined;
  text = "";

  /** @param from The end of the view before. */
  constructor(source: string, index: number, from: number, encoding: Encoding) {
    const { unitsBefore = 0, except } = encoding;
    this.except = except;
    this.#source = source;
    this.lineEnd = unitsBefore === Infinity ? source.length : index;
    this.nextLineEnd = this.lineEnd;
    let start = index;
    while (start > 0 && source[start - 1] !== "\n") start -= 1;
    const first = Math.max(from, start - unitsBefore);
    this.#at = first === 0 ? 0 : source.indexOf("\n", first - 1) + 1;
    this.#places.push(0, 0, this.#at, this.#at);
  }

  add(start: number, end: number, decoded: string): void {
    this.#parts.push(this.#source.slice(this.#at, start), decoded);
    this.#length += start - this.#at;
    this.#places.push(this.#length, this.#length + decoded.length, start, end);
    this.#length += decoded.length;
    this.#at = end;
    if (end <= this.lineEnd) return;
    this.lineEnd = lineEndFrom(this.#source, end);
    this.nextLineEnd = lineEndFrom(this.#source, this.lineEnd + 1);
  }

  ended(): DecodedView {
    this.text = this.#parts.join("") + this.#source.slice(this.#at, this.lineEnd);
    return this;
  }

  rangeOf(start: number, end: number): readonly [start: number, end: number] {
    return [this.#placeOf(start)[0], this.#placeOf(end - 1)[1]];
  }

  /** The range of one character. */
  #placeOf(at: number): readonly [start: number, end: number] {
    const places = this.#places;
    let [low, high] = [0, places.length / 4];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((places[middle * 4] ?? 0) <= at) low = middle;
      else high = middle;
    }
    const [, viewEnd = 0, start = 0, end = 0] = places.slice(low * 4, low * 4 + 4);
    if (at < viewEnd) return [start, end];
    return [end + at - viewEnd, end + at - viewEnd + 1];
  }
}

function lineEndFrom(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}
