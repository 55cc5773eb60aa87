/**
 * Recognises one JSON object in bytes that come piece by piece, without building it: accepts what
 * `JSON.parse` accepts, no more and no less, and reports where bytes stop being JSON. Memory grows
 * with the depth of the object only. Pure; linear, no recursion.
 */

/** `open`: JSON so far, but not at its end. */
export type ScanStatus = "open" | "complete" | "failed";

/** A range of bytes; ends are exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What is expected next, or what is being read. */
type State =
  | "object"
  | "first key"
  | "key"
  | "colon"
  | "first value"
  | "value"
  | "comma"
  | "string"
  | "escape"
  | "hex"
  | "literal"
  | NumberState;

type NumberState = "-" | "0" | "int" | "." | "fraction" | "e" | "sign" | "exponent";

const exponent = { e: "e", E: "e" } as const;
/** The next state by character, `9` for any digit but 0; a number ends where there is none. */
const numberSteps: Readonly<Record<NumberState, Readonly<Record<string, NumberState>>>> = {
  "-": { "0": "0", "9": "int" },
  "0": { ".": ".", ...exponent },
  int: { "0": "int", "9": "int", ".": ".", ...exponent },
  ".": { "0": "fraction", "9": "fraction" },
  fraction: { "0": "fraction", "9": "fraction", ...exponent },
  e: { "+": "sign", "-": "sign", "0": "exponent", "9": "exponent" },
  sign: { "0": "exponent", "9": "exponent" },
  exponent: { "0": "exponent", "9": "exponent" },
};
const wholeNumbers: ReadonlySet<State> = new Set(["0", "int", "fraction", "exponent"]);
const literals: Readonly<Record<string, string>> = { t: "rue", f: "alse", n: "ull" };
const [space, quote, backslash] = [0x20, 0x22, 0x5c];

/** See the file comment. One scanner serves one object, whose first byte has to be its brace. */
export class ObjectScanner {
  #status: ScanStatus = "open";
  #state: State = "object";
  /** The position of the next byte. */
  #position: number;
  /** Of each open container: where it begins, doubled, plus one if it is an object. */
  readonly #containers: number[] = [];
  #isKey = false;
  /** The missing part of a literal. */
  #letters = "";
  /** Hexadecimal digits that an escape still needs. */
  #digitsLeft = 0;
  #closedLast: Span | null = null;

  /** @param position Of the first byte, as `closedLast` will count. */
  constructor(position: number) {
    this.#position = position;
  }

  get status(): ScanStatus {
    return this.#status;
  }

  /**
   * The object inside of the scanned one that ended last, if only white space was met after it: a
   * failure there is a failure to continue after it.
   */
  get closedLast(): Span | null {
    return this.#closedLast;
  }

  /**
   * Scans `bytes[from, to)`.
   * @returns Where it stopped: `to` if the object is open, after it if it is complete, at the byte
   * that cannot follow if it failed.
   */
  push(bytes: Uint8Array, from: number, to: number): number {
    const base = this.#position - from;
    let at = from;
    while (at < to && this.#status === "open") {
      if (this.#state === "string") at = this.#skipText(bytes, at, to);
      else if (this.#take(bytes[at] ?? 0, base + at)) at += 1;
      else this.#status = "failed";
    }
    this.#position = base + at;
    return at;
  }

  /** Takes one byte outside of the text of a string; false if no object continues with it. */
  #take(byte: number, position: number): boolean {
    const char = String.fromCharCode(byte);
    const state = this.#state;
    if (state === "escape" || state === "hex") return this.#takeEscaped(char);
    if (state === "literal") return this.#takeLetter(char);
    if (isNumberState(state)) {
      const next = numberSteps[state][char >= "1" && char <= "9" ? "9" : char];
      if (next !== undefined) return this.#expect(next);
      if (!wholeNumbers.has(state)) return false;
      this.#state = "comma";
    }
    return (isSpace(byte) && state !== "object") || this.#takeStructure(char, position);
  }

  #takeStructure(char: string, position: number): boolean {
    switch (this.#state) {
      case "object":
        return char === "{" && this.#open(char, position);
      case "first key":
        return char === "}" ? this.#close(position) : this.#beginKey(char);
      case "key":
        return this.#beginKey(char);
      case "colon":
        return char === ":" && this.#expect("value");
      case "first value":
        return char === "]" ? this.#close(position) : this.#beginValue(char, position);
      case "value":
        return this.#beginValue(char, position);
      default:
        return this.#takeAfterValue(char, position);
    }
  }

  #beginKey(char: string): boolean {
    this.#isKey = true;
    return char === '"' && this.#expect("string");
  }

  #beginValue(char: string, position: number): boolean {
    this.#closedLast = null;
    if (char === "{" || char === "[") return this.#open(char, position);
    this.#isKey = false;
    if (char === '"') return this.#expect("string");
    if (char === "-" || char === "0") return this.#expect(char);
    if (char >= "1" && char <= "9") return this.#expect("int");
    this.#letters = literals[char] ?? "";
    return this.#letters !== "" && this.#expect("literal");
  }

  #takeAfterValue(char: string, position: number): boolean {
    const isObject = (this.#containers.at(-1) ?? 0) % 2 === 1;
    if (char === (isObject ? "}" : "]")) return this.#close(position);
    if (char !== ",") return false;
    this.#closedLast = null;
    return this.#expect(isObject ? "key" : "value");
  }

  #open(char: "{" | "[", position: number): true {
    this.#containers.push(position * 2 + (char === "{" ? 1 : 0));
    return this.#expect(char === "{" ? "first key" : "first value");
  }

  #close(position: number): true {
    const container = this.#containers.pop() ?? 0;
    const isObject = container % 2 === 1;
    this.#closedLast = isObject ? { start: (container - 1) / 2, end: position + 1 } : null;
    if (this.#containers.length === 0) this.#status = "complete";
    return this.#expect("comma");
  }

  /** Where the text of a string is interrupted, or has an invalid byte. */
  #skipText(bytes: Uint8Array, from: number, to: number): number {
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === quote) this.#expect(this.#isKey ? "colon" : "comma");
      else if (byte === backslash) this.#expect("escape");
      else if (byte >= space) continue;
      else this.#status = "failed";
      return byte >= space ? at + 1 : at;
    }
    return to;
  }

  #takeEscaped(char: string): boolean {
    if (this.#state === "hex") {
      this.#digitsLeft -= 1;
      return /[\dA-Fa-f]/.test(char) && this.#expect(this.#digitsLeft === 0 ? "string" : "hex");
    }
    this.#digitsLeft = 4;
    return '"\\/bfnrtu'.includes(char) && this.#expect(char === "u" ? "hex" : "string");
  }

  #takeLetter(char: string): boolean {
    if (!this.#letters.startsWith(char)) return false;
    this.#letters = this.#letters.slice(1);
    return this.#expect(this.#letters === "" ? "comma" : "literal");
  }

  #expect(state: State): true {
    this.#state = state;
    return true;
  }
}

/**
 * Whether the bytes are an incomplete start of a JSON object: further bytes could complete it. A
 * crash or a full disk during a write leaves such a record. O(bytes).
 */
export function isCutOffObject(chunks: Iterable<Uint8Array>): boolean {
  const scanner = new ObjectScanner(0);
  let hasBegun = false;
  for (const chunk of chunks) {
    const start: number = hasBegun ? 0 : skipSpace(chunk, 0);
    hasBegun ||= start < chunk.length;
    if (scanner.push(chunk, start, chunk.length) < chunk.length) return false;
  }
  return hasBegun && scanner.status === "open";
}

/** Position of the first byte of `bytes[from, end)` that is not white space; `end` without one. */
export function skipSpace(bytes: Uint8Array, from: number, end: number = bytes.length): number {
  let at = from;
  while (at < end && isSpace(bytes[at])) at += 1;
  return at;
}

/** White space as JSON has it. */
export function isSpace(byte: number | undefined): boolean {
  return byte === space || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isNumberState(state: State): state is NumberState {
  return Object.hasOwn(numberSteps, state);
}
