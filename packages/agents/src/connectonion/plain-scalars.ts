/** How PyYAML reads a scalar without quotes, in YAML 1.1: `yes` is a boolean, `010` is 8. */

export type PlainReading =
  | { readonly kind: "text" }
  | { readonly kind: "value"; readonly value: null | boolean | number }
  /** No JSON form: a time, an infinity, a whole number that a double cannot hold. */
  | { readonly kind: "beyond-json" };

const text: PlainReading = { kind: "text" };
const beyondJson: PlainReading = { kind: "beyond-json" };

const nullForm = /^(?:~|null|Null|NULL|)$/;
const trueForm = /^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const falseForm = /^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/;
const binaryForm = /^[-+]?0b[01_]+$/;
const octalForm = /^[-+]?0[0-7_]+$/;
const decimalForm = /^[-+]?(?:0|[1-9][0-9_]*)$/;
const hexForm = /^[-+]?0x[0-9a-fA-F_]+$/;
const sexagesimalForm = /^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+$/;
const floatForm = /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?$/;
const sexagesimalFloatForm = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/;
const infiniteForm = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const dateForm = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const clock = "[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]*)?";
const zone = "(?:[ \\t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?";
const day = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}";
const timeForm = new RegExp(`^${day}(?:[Tt]|[ \\t]+)${clock}${zone}$`);

export function readPlain(source: string): PlainReading {
  if (nullForm.test(source)) return { kind: "value", value: null };
  if (trueForm.test(source)) return { kind: "value", value: true };
  if (falseForm.test(source)) return { kind: "value", value: false };
  // Other values begin with one of these characters.
  if (!/^[-+.0-9]/.test(source)) return text;
  if (infiniteForm.test(source) || dateForm.test(source) || timeForm.test(source)) {
    return beyondJson;
  }
  return readNumber(source);
}

function readNumber(source: string): PlainReading {
  const sign = source.startsWith("-") ? -1 : 1;
  const digits = source.replace(/^[-+]/, "").replaceAll("_", "");
  if (binaryForm.test(source) || hexForm.test(source)) return whole(digits, sign);
  if (decimalForm.test(source)) return whole(digits, sign);
  if (octalForm.test(source)) return whole(`0o${digits.slice(1)}`, sign);
  if (sexagesimalForm.test(source)) return finite(base60(digits) * sign, Number.isSafeInteger);
  if (sexagesimalFloatForm.test(source)) return finite(base60(digits) * sign, Number.isFinite);
  if (floatForm.test(source)) return finite(Number(digits) * sign, Number.isFinite);
  return text;
}

/** PyYAML treats `0b_` as a number and fails: here it is text. */
function whole(digits: string, sign: 1 | -1): PlainReading {
  if (/^0[box]$/.test(digits)) return text;
  return finite(Number(digits) * sign, Number.isSafeInteger);
}

function finite(value: number, isHeld: (value: number) => boolean): PlainReading {
  if (!isHeld(value)) return beyondJson;
  // JSON has no negative zero.
  return { kind: "value", value: value === 0 ? 0 : value };
}

function base60(digits: string): number {
  return digits.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
}

/** The line breaks that only YAML 1.1 has. */
export const oldBreak: RegExp = /[\u0085\u2028\u2029]/g;

const breaks = /\r\n|[\r\n\u0085\u2028\u2029]/g;
const folds = /[ \t]*(?:\r\n|[\r\n\u0085\u2028\u2029])(?:[ \t]|\r\n|[\r\n\u0085\u2028\u2029])*/g;

/** Text of several lines, folded; U+2028 and U+2029 are kept. */
export function foldedText(source: string): string {
  return source.replace(folds, (fold) => {
    const [first = "\n", ...more] = (fold.match(breaks) ?? []).map((found) =>
      found === "\u2028" || found === "\u2029" ? found : "\n",
    );
    const joint = first === "\n" ? (more.length === 0 ? " " : "") : first;
    return `${joint}${more.join("")}`;
  });
}
