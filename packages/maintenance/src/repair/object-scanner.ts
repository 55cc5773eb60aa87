/**
 * Recognises one JSON object in bytes that come piece by piece, without building it: accepts what
 * `JSON.parse` accepts, no more and no less, and says where bytes stop being JSON. Memory grows
 * with the depth of the object only. Pure; linear, no recursion.
 */

import { isSpace } from "./line-bytes.ts";

/** `open`: JSON so far, but not at its end. */
export type ScanStatus = "open" | "complete" | "failed";

/** A range of bytes; ends are exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What may come next. From `literal` on: inside of a token. */
const expects = {
  object: 0,
  keyOrEnd: 1,
  key: 2,
  colon: 3,
  value: 4,
  valueOrEnd: 5,
  commaOrEnd: 6,
  literal: 7,
  string: 8,
  escape: 9,
  unicode: 10,
  minus: 11,
  zero: 12,
  integer: 13,
  point: 14,
  fraction: 15,
  exponent: 16,
  exponentSign: 17,
  exponentDigits: 18,
} as const;

/** What may follow a backslash, but `u`. */
const escapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));

const literals: ReadonlyMap<number, string> = new Map(
  ["true", "false", "null"].map((text) => [text.charCodeAt(0), text]),
);

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [minus, plus, point, zero, nine] = [0x2d, 0x2b, 0x2e, 0x30, 0x39];

/** See the file comment. One scanner serves many objects, one after the other. */
export class ObjectScanner {
  #status: ScanStatus = "open";
  #expected: number = expects.object;
  /** Of each open container: its position, doubled, plus one if it is an object. */
  #containers: number[] = [];
  #isKey = false;
  /** What is left of a literal. */
  #literal = "";
  /** Hexadecimal digits that an escape still needs. */
  #digitsLeft = 0;
  /** The value that ended last, if it was an object and nothing followed but white space. */
  #closedStart = -1;
  #closedEnd = -1;

  get status(): ScanStatus {
    return this.#status;
  }

  /**
   * The object inside of the scanned one that ended last, if only white space was met behind it: a
   * failure there is a failure to go on after it.
   */
  get closedLast(): Span | null {
    return this.#closedStart < 0 ? null : { start: this.#closedStart, end: this.#closedEnd };
  }

  /** Forgets what was scanned. The next byte has to be the opening brace of an object. */
  begin(): void {
    this.#status = "open";
    this.#expected = expects.object;
    this.#containers = [];
    this.#closedStart = -1;
  }

  /**
   * Scans `bytes[from, to)`, of which the first has the position `position`.
   * @returns Where it stopped: `to` if it is open, behind the object if that is complete, at the
   * byte that cannot follow if it failed.
   */
  push(bytes: Buffer, from: number, to: number, position: number): number {
    const base = position - from;
    let at = from;
    while (at < to && this.#status === "open") {
      if (this.#expected === expects.string) at = this.#scanString(bytes, at, to);
      else if (this.#expected >= expects.literal) at = this.#scanToken(bytes[at] ?? 0, at);
      else at = this.#scanStructure(bytes[at] ?? 0, at, base);
    }
    return at;
  }

  #scanStructure(byte: number, at: number, base: number): number {
    if (isSpace(byte) && this.#expected !== expects.object) return at + 1;
    switch (this.#expected) {
      case expects.object:
        return byte === openBrace ? this.#open(at, base, true) : this.#fail(at);
      case expects.keyOrEnd:
        return byte === closeBrace ? this.#close(at, base) : this.#beginKey(byte, at);
      case expects.key:
        return this.#beginKey(byte, at);
      case expects.colon:
        return byte === colon ? this.#expect(expects.value, at) : this.#fail(at);
      case expects.valueOrEnd:
        return byte === closeBracket ? this.#close(at, base) : this.#beginValue(byte, at, base);
      case expects.value:
        return this.#beginValue(byte, at, base);
      default:
        return this.#goOn(byte, at, base);
    }
  }

  #beginKey(byte: number, at: number): number {
    if (byte !== quote) return this.#fail(at);
    this.#isKey = true;
    return this.#expect(expects.string, at);
  }

  #beginValue(byte: number, at: number, base: number): number {
    if (byte === openBrace || byte === openBracket) return this.#open(at, base, byte === openBrace);
    this.#closedStart = -1;
    this.#isKey = false;
    if (byte === quote) return this.#expect(expects.string, at);
    if (byte === minus) return this.#expect(expects.minus, at);
    if (byte === zero) return this.#expect(expects.zero, at);
    if (isDigit(byte)) return this.#expect(expects.integer, at);
    const literal = literals.get(byte);
    if (literal === undefined) return this.#fail(at);
    this.#literal = literal.slice(1);
    return this.#expect(expects.literal, at);
  }

  /** After a value inside of a container. */
  #goOn(byte: number, at: number, base: number): number {
    const isObject = (this.#containers.at(-1) ?? 0) % 2 === 1;
    if (byte === comma) {
      this.#closedStart = -1;
      return this.#expect(isObject ? expects.key : expects.value, at);
    }
    return byte === (isObject ? closeBrace : closeBracket) ? this.#close(at, base) : this.#fail(at);
  }

  #open(at: number, base: number, isObject: boolean): number {
    this.#closedStart = -1;
    this.#containers.push((base + at) * 2 + (isObject ? 1 : 0));
    return this.#expect(isObject ? expects.keyOrEnd : expects.valueOrEnd, at);
  }

  #close(at: number, base: number): number {
    const container = this.#containers.pop() ?? 0;
    const isObject = container % 2 === 1;
    this.#closedStart = isObject ? (container - 1) / 2 : -1;
    this.#closedEnd = base + at + 1;
    if (this.#containers.length === 0) this.#status = "complete";
    return this.#expect(expects.commaOrEnd, at);
  }

  #scanString(bytes: Buffer, from: number, to: number): number {
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === quote) {
        return this.#expect(this.#isKey ? expects.colon : expects.commaOrEnd, at);
      }
      if (byte === backslash) return this.#expect(expects.escape, at);
      if (byte < 0x20) return this.#fail(at);
    }
    return to;
  }

  /** One byte of a literal, an escape or a number. */
  #scanToken(byte: number, at: number): number {
    switch (this.#expected) {
      case expects.literal:
        if (byte !== this.#literal.charCodeAt(0)) return this.#fail(at);
        this.#literal = this.#literal.slice(1);
        return this.#expect(this.#literal === "" ? expects.commaOrEnd : expects.literal, at);
      case expects.escape:
        if (byte !== 0x75)
          return escapes.has(byte) ? this.#expect(expects.string, at) : this.#fail(at);
        this.#digitsLeft = 4;
        return this.#expect(expects.unicode, at);
      case expects.unicode:
        if (!isHexDigit(byte)) return this.#fail(at);
        this.#digitsLeft -= 1;
        return this.#expect(this.#digitsLeft === 0 ? expects.string : expects.unicode, at);
      default:
        return this.#scanNumber(byte, at);
    }
  }

  #scanNumber(byte: number, at: number): number {
    const next = numberGoesOn(this.#expected, byte);
    if (next >= 0) return this.#expect(next, at);
    if (!numberMayEnd(this.#expected)) return this.#fail(at);
    this.#expected = expects.commaOrEnd;
    return at;
  }

  #expect(expected: number, at: number): number {
    this.#expected = expected;
    return at + 1;
  }

  #fail(at: number): number {
    this.#status = "failed";
    return at;
  }
}

/** What a number expects after one more byte, or -1 if the byte is no part of it. */
function numberGoesOn(expected: number, byte: number): number {
  const digit = isDigit(byte);
  const isExponent = byte === 0x65 || byte === 0x45;
  switch (expected) {
    case expects.minus:
      if (!digit) return -1;
      return byte === zero ? expects.zero : expects.integer;
    case expects.zero:
    case expects.integer:
      if (digit && expected === expects.integer) return expects.integer;
      if (byte === point) return expects.point;
      return isExponent ? expects.exponent : -1;
    case expects.point:
      return digit ? expects.fraction : -1;
    case expects.fraction:
      if (digit) return expects.fraction;
      return isExponent ? expects.exponent : -1;
    case expects.exponent:
      if (byte === plus || byte === minus) return expects.exponentSign;
      return digit ? expects.exponentDigits : -1;
    default:
      return digit ? expects.exponentDigits : -1;
  }
}

function numberMayEnd(expected: number): boolean {
  return (
    expected === expects.zero ||
    expected === expects.integer ||
    expected === expects.fraction ||
    expected === expects.exponentDigits
  );
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= nine;
}

function isHexDigit(byte: number): boolean {
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}
