/**
 * Tells a record that was cut off, as a crash or a full disk in the midst of a write leaves it,
 * from text that is no JSON at all. Reads byte by byte with one bit per open bracket, iteratively,
 * and knows the grammar of JSON exactly; it neither decodes nor keeps anything.
 */

/** What is expected next, or what is being read. */
type State =
  | "start"
  | "end"
  | "value"
  | "first value"
  | "key"
  | "first key"
  | "colon"
  | "comma"
  | "string"
  | "escape"
  | "hex"
  | "literal"
  | NumberState;

type NumberState = "-" | "0" | "int" | "." | "fraction" | "e" | "sign" | "exponent";

const exponent = { e: "e", E: "e" } as const;
/** The next state by byte, `9` for any digit but 0; numbers end where there is none. */
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
const escapes: ReadonlySet<string> = new Set(['"', "\\", "/", "b", "f", "n", "r", "t", "u"]);

/**
 * Whether the bytes are the beginning of a JSON object, and not all of it: some bytes behind them
 * would make it whole. O(bytes).
 */
export function isCutOffRecord(chunks: Iterable<Uint8Array>): boolean {
  const reader = new RecordReader();
  for (const chunk of chunks) {
    for (const byte of chunk) if (!reader.take(byte)) return false;
  }
  return reader.isInside;
}

class RecordReader {
  #state: State = "start";
  /** Whether each open bracket is that of an object. */
  readonly #open: boolean[] = [];
  #isKey = false;
  /** What is missing of a literal. */
  #letters = "";
  #hexDigits = 0;

  /** Whether the record has begun and not ended. */
  get isInside(): boolean {
    return this.#state !== "start" && this.#state !== "end";
  }

  /** Takes the next byte; false if no JSON object goes on with it. */
  take(byte: number): boolean {
    const state = this.#state;
    if (state === "string") return this.#inString(byte);
    const char = String.fromCharCode(byte);
    if (state === "escape") return this.#escaped(char);
    if (state === "hex") return this.#hex(char);
    if (state === "literal") return this.#literal(char);
    if (isNumberState(state)) {
      const next = numberSteps[state][char >= "1" && char <= "9" ? "9" : char];
      if (next !== undefined) return this.#go(next);
      if (!wholeNumbers.has(state)) return false;
      this.#state = "comma";
    }
    return isWhiteSpace(byte) || this.#between(char);
  }

  #go(state: State): true {
    this.#state = state;
    return true;
  }

  #between(char: string): boolean {
    switch (this.#state) {
      case "start":
        return char === "{" && this.#enter(true);
      case "first key":
        return char === "}" ? this.#leave() : this.#key(char);
      case "key":
        return this.#key(char);
      case "colon":
        return char === ":" && this.#go("value");
      case "first value":
        return char === "]" ? this.#leave() : this.#value(char);
      case "value":
        return this.#value(char);
      case "comma":
        if (char === ",") return this.#go(this.#open.at(-1) === true ? "key" : "value");
        return char === (this.#open.at(-1) === true ? "}" : "]") && this.#leave();
      default:
        return false;
    }
  }

  #key(char: string): boolean {
    this.#isKey = true;
    return char === '"' && this.#go("string");
  }

  #value(char: string): boolean {
    if (char === "{" || char === "[") return this.#enter(char === "{");
    this.#isKey = false;
    if (char === '"') return this.#go("string");
    if (char === "-" || char === "0") return this.#go(char);
    if (char >= "1" && char <= "9") return this.#go("int");
    this.#letters = literals[char] ?? "";
    return this.#letters !== "" && this.#go("literal");
  }

  #enter(isObject: boolean): true {
    this.#open.push(isObject);
    return this.#go(isObject ? "first key" : "first value");
  }

  #leave(): true {
    this.#open.pop();
    return this.#go(this.#open.length === 0 ? "end" : "comma");
  }

  #inString(byte: number): boolean {
    if (byte === quote) return this.#go(this.#isKey ? "colon" : "comma");
    if (byte === backslash) return this.#go("escape");
    return byte >= space;
  }

  #escaped(char: string): boolean {
    this.#hexDigits = 0;
    return escapes.has(char) && this.#go(char === "u" ? "hex" : "string");
  }

  #hex(char: string): boolean {
    this.#hexDigits += 1;
    return /[\dA-Fa-f]/.test(char) && this.#go(this.#hexDigits === 4 ? "string" : "hex");
  }

  #literal(char: string): boolean {
    if (!this.#letters.startsWith(char)) return false;
    this.#letters = this.#letters.slice(1);
    return this.#go(this.#letters === "" ? "comma" : "literal");
  }
}

const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;

function isNumberState(state: State): state is NumberState {
  return Object.hasOwn(numberSteps, state);
}

function isWhiteSpace(byte: number): boolean {
  return byte === space || byte === 0x09 || byte === 0x0d || byte === 0x0a;
}
