/**
 * Finds secrets in a text: keys with a known form, and values that a name, a header, a command or a
 * URL calls secret. Pure; every pattern is linear or bounded. What it does not find:
 * docs/decisions/0046-redaction.md.
 */
import { keyRules, publicKeys } from "./key-forms.ts";
import type { SecretRule } from "./key-forms.ts";
import { namedRules } from "./named-values.ts";
import { NeedleIndex } from "./needle-index.ts";
import { privateKeys } from "./private-keys.ts";
import { isPlaceholder } from "./secret-values.ts";

export interface FoundSecret {
  /** What readers see of it, such as `github-token`. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

const rules: readonly SecretRule[] = [...keyRules, ...namedRules];

const needleIndex = new NeedleIndex(
  rules.map(({ needles, pattern }) => ({ needles, ignoresCase: pattern.ignoreCase })),
);

/** The shortest text with a secret: `KEY=` and four characters. */
const textUnitsMin = 8;

/** By their start. They may overlap. */
export function findSecrets(text: string): FoundSecret[] {
  if (text.length < textUnitsMin) return [];
  const found = findsIn(text);
  if (!colours.test(text)) return found;
  return [...found, ...uncoloured(text)].toSorted((one, other) => one.start - other.start);
}

function findsIn(text: string): FoundSecret[] {
  const found = privateKeys(text);
  const due = needleIndex.in(text);
  for (const [place, { kind, pattern, isSecret }] of rules.entries()) {
    if (due[place] === 0) continue;
    // `matchAll` compiles a copy of the pattern for each text.
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const [whole] = match;
      const groups: readonly (string | undefined)[] = match;
      const secret = groups.findLast((group) => group !== undefined) ?? whole;
      if (isPlaceholder(secret)) continue;
      const start = match.index + whole.lastIndexOf(secret);
      if (isSecret?.(secret, text[start - 1] ?? "") === false) continue;
      found.push({ kind, start, end: start + secret.length });
    }
  }
  found.sort((one, other) => one.start - other.start);
  return withoutPublic(found, publicKeys(text));
}

/** Not those that start in a public key: the value of a variable has its comment, too. */
function withoutPublic(
  finds: FoundSecret[],
  keys: readonly (readonly [start: number, end: number])[],
): FoundSecret[] {
  if (keys.length === 0) return finds;
  let place = 0;
  return finds.filter(({ start }) => {
    while ((keys[place]?.[1] ?? Infinity) <= start) place += 1;
    return start < (keys[place]?.[0] ?? Infinity);
  });
}

const escapeCharacter = String.raw`(?:\x1b|\\u001[bB]|\\x1b|\\033|\\e)`;

const colour = String.raw`${escapeCharacter}\[[\d;]{0,20}m`;

const colours = new RegExp(colour);

/** What is found without sequences for colours, at its place with them. */
function uncoloured(text: string): FoundSecret[] {
  const parts: string[] = [];
  /** Where parts begin, without and with sequences. */
  const starts: (readonly [plain: number, start: number])[] = [];
  let [plain, at] = [0, 0];
  for (const { index, 0: sequence } of text.matchAll(new RegExp(colour, "g"))) {
    starts.push([plain, at]);
    parts.push(text.slice(at, index));
    plain += index - at;
    at = index + sequence.length;
  }
  starts.push([plain, at]);
  parts.push(text.slice(at));
  return findsIn(parts.join("")).map(({ kind, start, end }) => {
    return { kind, start: placeIn(starts, start), end: placeIn(starts, end - 1) + 1 };
  });
}

function placeIn(starts: readonly (readonly [plain: number, start: number])[], at: number): number {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle]?.[0] ?? 0) <= at) low = middle;
    else high = middle;
  }
  const [plain, start] = starts[low] ?? [0, 0];
  return start + at - plain;
}
