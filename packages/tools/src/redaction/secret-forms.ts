/** The forms in which a known secret may occur again: encoded, or line by line. Pure. */

/** Shorter ones, and single words, occur in texts that have nothing to do with the secret. */
const formUnitsMin = 8;

const word = /^(?:[A-Za-z_-]{1,19}|[\d.,:-]+)$/;

/** Finds known secrets in their forms. Linear, however many there are. */
export class KnownForms {
  /** By their first characters; the longest first, which may contain others. */
  readonly #byStart = new Map<string, (readonly [form: string, marker: string])[]>();
  /** Marks what those characters may be, so that almost no place of a text is looked up. */
  readonly #starts = new Uint8Array(1 << 16);

  constructor(markers: ReadonlyMap<string, string>) {
    const forms = new Map<string, string>();
    const allMarkers = [...markers.values()].join("");
    for (const [secret, marker] of markers) {
      for (const form of formsOf(secret)) {
        const isTelling = form.length >= formUnitsMin && !word.test(form);
        if (isTelling && !forms.has(form) && !allMarkers.includes(form)) forms.set(form, marker);
      }
    }
    for (const known of [...forms].toSorted(([one], [other]) => other.length - one.length)) {
      const start = known[0].slice(0, formUnitsMin);
      this.#byStart.set(start, [...(this.#byStart.get(start) ?? []), known]);
      this.#starts[startHash(start, 0)] = 1;
    }
  }

  /** The text with markers, each passed to `onMarker`. */
  replaced(text: string, onMarker: (marker: string) => void): string {
    const clean = this.#replacedWithin(text, onMarker);
    if (this.#byStart.size === 0 || !lineEnd.test(clean)) return clean;
    return clean.replaceAll(overLines, (lines) => {
      const joined = lines.replaceAll(lineEnds, "");
      const cleanLines = this.#replacedWithin(joined, onMarker);
      return cleanLines === joined ? lines : cleanLines;
    });
  }

  #replacedWithin(text: string, onMarker: (marker: string) => void): string {
    const parts: string[] = [];
    let from = 0;
    const last = this.#byStart.size === 0 ? -1 : text.length - formUnitsMin;
    for (let at = 0; at <= last; at += 1) {
      if (this.#starts[startHash(text, at)] === 0) continue;
      const known = this.#byStart.get(text.slice(at, at + formUnitsMin)) ?? [];
      const [form, marker] =
        known.find(([one]) => text.startsWith(one, at)) ?? cutForm(known, text, at) ?? [];
      if (form === undefined || marker === undefined) continue;
      parts.push(text.slice(from, at), marker);
      onMarker(marker);
      from = at + form.length;
      at = from - 1;
    }
    return from === 0 ? text : `${parts.join("")}${text.slice(from)}`;
  }
}

/** A form that the text has up to an ellipsis. Only the start of a kind of keys tells nothing. */
function cutForm(
  known: readonly (readonly [form: string, marker: string])[],
  text: string,
  at: number,
): readonly [form: string, marker: string] | undefined {
  ellipsis.lastIndex = at;
  const cut = ellipsis.exec(text)?.[1];
  if (cut === undefined || word.test(cut) || /[-_.]$/.test(cut)) return undefined;
  const [, marker] = known.find(([form]) => form.startsWith(cut)) ?? [];
  return marker === undefined ? undefined : [cut, marker];
}

const ellipsis = new RegExp(String.raw`([^\s…]{${formUnitsMin},256}?)(?:\.{2,3}|…)`, "y");

const lineEnd = /\n|\\n/;

/** With what is before the next line: spaces, a quote or comment mark. */
const breakPattern = String.raw`(?:\\{1,8}r)?(?:\r?\n|\\{1,8}n)[ \t>#|*]{0,16}`;

const lineEnds = new RegExp(breakPattern, "g");

const overLines = new RegExp(
  String.raw`(?<![\w+/=%-])[\w+/=%-]{2,}(?:${breakPattern}[\w+/=%-]{2,})+`,
  "g",
);

function startHash(text: string, at: number): number {
  const end = text.charCodeAt(at + 6) * 1_369;
  return (text.charCodeAt(at) + text.charCodeAt(at + 3) * 37 + end) & 0xff_ff;
}

/** Of a longer text, which is not a key, only the text itself. */
const encodedUnitsMax = 16_384;

function formsOf(secret: string): readonly string[] {
  if (secret.length > encodedUnitsMax || secret.length < formUnitsMin) return [secret];
  const bytes = Buffer.from(secret);
  const percentEncoded = encodeURIComponent(bytes.toString());
  const base64 = [0, 1, 2].map((lead) => base64Within(bytes, lead));
  const lines = secret.split(/(?:[^\w+/=\\]|\\+[nrt]?)+/).filter(({ length }) => length >= 24);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    percentEncoded,
    percentEncoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    ...base64,
    ...base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
    ...(lines.length > 1 ? lines : []),
  ];
}

/** The characters that are the same whatever is before and after the bytes. */
function base64Within(bytes: Buffer, lead: number): string {
  const text = Buffer.concat([Buffer.alloc(lead), bytes]).toString("base64");
  return text.slice(Math.ceil((lead * 8) / 6), Math.floor(((lead + bytes.length) * 8) / 6));
}
