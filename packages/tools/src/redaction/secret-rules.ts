/**
 * Finds secrets in a text and in what it encodes: keys with a known form, and values that a name, a
 * header, a command or a URL calls secret. Pure; every pattern is linear or bounded. Its limits:
 * docs/redaction.md, docs/decisions/0046-redaction.md.
 */
import { base64Views, hasBase64 } from "./base64-views.ts";
import { decodedViews, hasEncoding, notWithin } from "./decoded-views.ts";
import type { DecodedView } from "./decoded-views.ts";
import { keyRules, publicKeys } from "./key-forms.ts";
import type { FoundSecret, SecretRule } from "./key-forms.ts";
import { namedKind, namedRules } from "./named-values.ts";
import { NeedleIndex } from "./needle-index.ts";
import { privateKeys } from "./private-keys.ts";
import { isPlaceholder } from "./secret-values.ts";

const rules: readonly SecretRule[] = [...keyRules, ...namedRules];

const needleIndex = new NeedleIndex(
  rules.map(({ needles, pattern }) => ({ needles, ignoresCase: pattern.ignoreCase })),
);

/** The shortest text with a secret: `KEY=` and four characters. */
const textUnitsMin = 8;

/** How many encodings deep texts are decoded. */
const decodingsMax = 2;

/** The size of a decoded part, and the overlap with the next: more than the largest keys. */
const windowUnits = 1024 * 1024;
const overlapUnits = 128 * 1024;

/** By their start. They may overlap. @param decodings 0 for a search of the text as it is. */
export function findSecrets(text: string, decodings: number = decodingsMax): FoundSecret[] {
  if (text.length < textUnitsMin) return [];
  const found = findsIn(text);
  if (decodings === 0) return found;
  if (!hasEncoding(text) && !hasBase64(text)) return found;
  // The value after a name may have a secret in it.
  const whole = found.filter(({ kind }) => kind !== namedKind);
  const encoded = [...findsInViews(text, whole, decodings)];
  if (encoded.length === 0) return found;
  encoded.sort((one, other) => one.start - other.start);
  const beyond = encoded.filter(notWithin(whole));
  return [...found, ...beyond].toSorted((one, other) => one.start - other.start);
}

function* findsInViews(
  text: string,
  found: readonly FoundSecret[],
  decodings: number,
): Generator<FoundSecret, void, undefined> {
  for (let from = 0; from === 0 || from + overlapUnits < text.length;) {
    const part = text.slice(from, from + windowUnits);
    for (const view of viewsIn(part, from === 0 ? found : [])) {
      for (const find of findSecrets(view.text, decodings - 1)) {
        if (find.kind === view.except && find.secret === undefined) continue;
        const [start, end] = view.rangeOf(find.start, find.end);
        const secret = find.secret ?? view.text.slice(find.start, find.end);
        yield { kind: find.kind, start: from + start, end: from + end, secret };
      }
    }
    from += windowUnits - overlapUnits;
  }
}

function* viewsIn(
  text: string,
  found: readonly FoundSecret[],
): Generator<DecodedView, void, undefined> {
  yield* decodedViews(text);
  yield* base64Views(text, notWithin(found));
}

function findsIn(text: string): FoundSecret[] {
  const found = privateKeys(text);
  for (const place of needleIndex.in(text)) {
    const rule = rules[place];
    if (rule === undefined) continue;
    const { kind, pattern, isSecret } = rule;
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
  if (found.length === 0) return found;
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
