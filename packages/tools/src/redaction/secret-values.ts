/** The criteria for the value after a name to be a secret. Pure. */
import { isOfWords } from "./key-forms.ts";

/** References to a secret, and texts in its place. */
export function isPlaceholder(value: string): boolean {
  return placeholders.test(value) || systemPath.test(value);
}

const placeholders = new RegExp(
  String.raw`^(?:\[redacted(?::(?: [^\]\n]*\]?)?)?|` +
    String.raw`\$[A-Z_][A-Z0-9_]*|\$\{[^}]*\}?|\$\(.*|<[^>]*>?|\{\{.*|%\w+%|[*.xX•…-]+|` +
    // Placeholders for a key in documents: `sk-ant-...`.
    String.raw`[A-Za-z]{2,8}[-_](?:[A-Za-z]{1,8}\d{0,2}[-_]){0,2}(?:\.{2,}|…|[xX*]{3,})|` +
    String.raw`(?:your|YOUR)[-_][A-Za-z_-]{0,40}` +
    String.raw`(?:key|token|secret|password|here|KEY|TOKEN|SECRET|PASSWORD|HERE)(?:\.{2,}|…)?|` +
    String.raw`(?:process|import\.meta|os)\.env.*|null|undefined|true|false|none|string|)$`,
  "s",
);

const systemPath = /^(?:(?:~|\.\.?)\/|[A-Z]:\\|\/(?:etc|home|opt|root|run|tmp|Users|usr|var)\/)/;

/** Of a secret's name, such as `S3_KEY`: anything but the path of a file. */
export function isNoFile(value: string): boolean {
  return !filePath.test(value);
}

const filePath = new RegExp(
  String.raw`^[\w.-]+(?:\/[\w.-]+)+` +
    String.raw`\.(?:csv|gif|gz|html?|jpe?g|json|log|md|mp4|parquet|pdf|png|svg|txt|webp|zip)$`,
);

/** Not an expression of a program. */
export function isLiteral(value: string): boolean {
  return !/^[a-z_]\w*[.[]|^pass(?:word|wd)?$|^user_|_pass/i.test(value);
}

/** Of letters and digits, as words of a language are not. */
export function isMixed(value: string): boolean {
  return value.length >= 6 && /[A-Za-z]/.test(value) && /[\d=]|[a-z][A-Z]{2}/.test(value);
}

/** Letters only are a secret in quotes; without, those of programs and prose are shorter. */
export function isMixedOrQuoted(value: string, before: string): boolean {
  if (isMixed(value)) return isNoFile(value);
  const isQuoted = /["'`]/.test(before);
  return isQuoted ? isEightLetters(value) && !ownName.test(value) : isLong(value);
}

/** Of a name that a program's other values have, too. */
export function isMixedOrLong(value: string, before: string): boolean {
  if (isMixed(value)) return isNoFile(value);
  return /["'`]/.test(before) ? /^[A-Za-z]{16,}$/.test(value) : isLong(value);
}

/** After a flag; a word after a blank may be of a sentence. */
export function isMixedArgument(value: string, before: string): boolean {
  return (
    isMixed(value) || /^[A-Za-z]{12,}$/.test(value) || (before === "=" && isEightLetters(value))
  );
}

function isEightLetters(value: string): boolean {
  return /^[A-Za-z]{8,}$/.test(value);
}

/** After the name of a header's scheme. */
export function isMixedHeader(value: string): boolean {
  return isMixed(value) || /^[A-Za-z]{20,}$/.test(value);
}

/** In one case, as the names of a program's variables are not. */
function isLong(value: string): boolean {
  return /^(?:[a-z]{20,}|[A-Z]{20,})$/.test(value);
}

/** `{ API_TOKEN: "apiToken" }` */
const ownName = /(?:token|secret|key|password|passwd|passphrase|credentials?)s?$/i;

/** In an address, before the host: names of users are there, too. */
export function isMixedUser(value: string): boolean {
  return isMixed(value) && !isOfWords(value);
}

/** Of all three kinds, as the digits of a hash are not. */
export function isAwsSecret(value: string): boolean {
  return isAwsWord(value) && /\d/.test(value);
}

/** Where words say what it is. */
export function isAwsWord(value: string): boolean {
  return /[a-z]/.test(value) && /[A-Z]/.test(value);
}
