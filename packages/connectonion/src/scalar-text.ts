/**
 * Text and numbers as YAML that every reader takes for the same: what YAML 1.1 or 1.2 would read as
 * something else is quoted, several lines become a block where that is exact. Pure.
 */

/** Characters that stand in YAML as they are: printable, and no line break to any version of it. */
const printable = /^[\x20-\x7E\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD]*$/;
const astral = /[\u{10000}-\u{10FFFF}]/gu;
/** What JSON leaves as it is, and YAML does not take so. */
const unescaped = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g;

/** Words that some version of YAML reads as null or a boolean. */
const words = /^(?:~|null|true|false|yes|no|on|off|y|n|=|<<)$/i;
/** The beginnings of everything that some version reads as a number or a time. */
const numberLike = /^[-+.]?[0-9][0-9a-fA-FoOxX_.:eE+-]*(?:[Tt ][0-9: .TtZz+-]*)?$/;
const specialNumber = /^[-+]?\.(?:inf|nan)$/i;
/** First characters that have a meaning, or might have one. */
const safeStart = /^[^\s\-?:,[\]{}#&*!|>'"%@`.=<]/;

/** A string on one line: plain where that is safe, else in quotes. */
export function lineText(text: string): string {
  if (isPlain(text)) return text;
  return isPrintable(text) ? `'${text.replaceAll("'", "''")}'` : doubleQuoted(text);
}

function isPlain(text: string): boolean {
  if (!safeStart.test(text) || !isPrintable(text) || /\s$/.test(text)) return false;
  if (text.includes(": ") || text.endsWith(":") || text.includes(" #")) return false;
  return !words.test(text) && !numberLike.test(text) && !specialNumber.test(text);
}

function isPrintable(text: string): boolean {
  return printable.test(text.replace(astral, ""));
}

/** The string with everything escaped that is not printable. */
export function doubleQuoted(text: string): string {
  const escape = (character: string): string => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  };
  return JSON.stringify(text).replace(unescaped, escape);
}

/**
 * The lines of a literal block, header first, for a string of several lines; undefined where a
 * block would not be exact, or not stay so when somebody edits around it.
 */
export function blockLines(text: string): readonly string[] | undefined {
  if (!text.includes("\n")) return undefined;
  const isTerminated = text.endsWith("\n");
  const lines = (isTerminated ? text.slice(0, -1) : text).split("\n");
  if (/^\s*$/.test(lines.at(-1) ?? "")) return undefined;
  if (!lines.every((line) => isPrintable(line.replaceAll("\t", "")))) return undefined;
  // Without it the first line's own spaces would be taken for the indentation of all.
  const indicator = /^[ \t\n]/.test(text) ? "2" : "";
  return [`|${indicator}${isTerminated ? "" : "-"}`, ...lines];
}

/** Keys whose numbers are floats, also whole ones. */
export const floatKeys: ReadonlySet<string> = new Set(["cost", "total_cost"]);

/** A finite number such that Python reads the same one: an integer as one, others with a dot. */
export function numberText(value: number): string {
  if (Number.isSafeInteger(value)) return String(value + 0);
  return floatText(value);
}

/** As {@link numberText}, always as a float. */
export function floatText(value: number): string {
  const isLong = Number.isInteger(value) && Math.abs(value) >= 1e16;
  const text = isLong ? value.toExponential() : String(value);
  if (!text.includes("e")) return text.includes(".") ? text : `${text}.0`;
  const [mantissa = "", exponent = ""] = text.split("e");
  return `${mantissa.includes(".") ? mantissa : `${mantissa}.0`}e${exponent}`;
}
