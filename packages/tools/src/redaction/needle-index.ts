/** Finds in one pass which of many short texts a text has: most rules need not search it. Pure. */

/** The first characters, of which a pass keeps the bits that upper and lower case share. */
const startUnits = 3;

interface Needle {
  readonly text: string;
  readonly place: number;
  readonly ignoresCase: boolean;
}

export interface Needles {
  readonly needles: readonly string[];
  /** The needles are in lower case then. */
  readonly ignoresCase: boolean;
}

export class NeedleIndex {
  readonly #byStart = new Map<number, readonly Needle[]>();
  /** Marks hashes of starts, so that almost no place of a text is looked up. */
  readonly #starts = new Uint8Array(1 << 16);
  readonly #always: readonly number[];
  readonly #found: Uint8Array;

  /** @param all A list with a needle of fewer than 3 characters is in every text. */
  constructor(all: readonly Needles[]) {
    this.#found = new Uint8Array(all.length);
    const short = [...all.entries()].filter(([, { needles }]) =>
      needles.some(({ length }) => length < startUnits),
    );
    this.#always = short.map(([place]) => place);
    for (const [place, { needles, ignoresCase }] of all.entries()) {
      for (const text of needles) this.#add({ text, place, ignoresCase });
    }
  }

  #add(needle: Needle): void {
    if (needle.text.length < startUnits) return;
    let start = 0;
    for (let at = 0; at < startUnits; at += 1) start = startBehind(start, needle.text, at);
    this.#byStart.set(start, [...(this.#byStart.get(start) ?? []), needle]);
    this.#starts[hashOf(start)] = 1;
  }

  /** The places of the lists of which a needle is in the text, in order. */
  in(text: string): readonly number[] {
    const found = this.#found;
    const places = [...this.#always];
    for (const place of places) found[place] = 1;
    let start = 0;
    for (let at = 0; at < text.length; at += 1) {
      start = startBehind(start, text, at);
      if (this.#starts[hashOf(start)] === 0) continue;
      for (const needle of this.#byStart.get(start) ?? []) {
        if (found[needle.place] === 0 && isAt(needle, text, at + 1 - startUnits)) {
          found[needle.place] = 1;
          places.push(needle.place);
        }
      }
    }
    for (const place of places) found[place] = 0;
    return places.sort((one, other) => one - other);
  }
}

function isAt({ text: needle, ignoresCase }: Needle, text: string, at: number): boolean {
  if (!ignoresCase) return text.startsWith(needle, at);
  return text.slice(at, at + needle.length).toLowerCase() === needle;
}

/** The last three characters, of which others than ASCII may be mistaken. */
function startBehind(start: number, text: string, at: number): number {
  return ((start << 8) | ((text.charCodeAt(at) | 0x20) & 0xff)) & 0xff_ff_ff;
}

function hashOf(start: number): number {
  return (start ^ (start >> 7)) & 0xff_ff;
}
