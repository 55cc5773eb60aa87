/**
 * Finds secrets in a text: keys with a known form, and values that a name, a header or a URL calls
 * secret. Pure; every pattern is linear or bounded. What it does not find:
 * docs/decisions/0046-redaction.md.
 */
import { privateKeys } from "./private-keys.ts";

export interface FoundSecret {
  /** What readers see of it, such as `github-token`. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

interface SecretRule {
  readonly kind: string;
  /** The secret is the last group that matched, or the match. */
  readonly pattern: RegExp;
  readonly isSecret?: (value: string) => boolean;
}

export const imageKind = "image";

export const namedKind = "secret-value";

/** Forms that the issuers document; the first rule for the same characters names the kind. */
const keyForms: readonly (readonly [string, RegExp])[] = [
  [imageKind, /\bdata:[\w/+.-]{3,80};base64,[\w+/=-]+/g],
  [imageKind, /(?:iVBORw0KGgo|\/9j\/[24]|R0lGOD[dl]|UklGR)[A-Za-z0-9+/]{40,}={0,2}/g],
  ["jwt", /\beyJ[\w-]{8,2048}\.[\w-]{8,16384}(?:\.[\w-]*){1,3}/g],
  [
    "aws-access-key",
    /\b(?:A3T[A-Z0-9]|A(?:BIA|CCA|GPA|IDA|IPA|KIA|NPA|NVA|ROA|SIA))[A-Z0-9]{16}\b/g,
  ],
  ["github-token", /(?<![A-Za-z0-9])(?:gh[oprsu]_\w{36,}|github_pat_\w{22,})/g],
  ["gitlab-token", /\bgl(?:agent|cbt|dt|ft|imt|oas|pat|ptt|rt|soat)-[\w.-]{20,}/g],
  ["slack-token", /\b(?:xox[a-z]|xapp)-[\w-]{10,}/g],
  ["slack-webhook", /\bhooks\.slack\.com\/(?:services|workflows)\/([\w/-]{20,})/g],
  ["discord-webhook", /\bdiscord(?:app)?\.com\/api\/webhooks\/(\d{5,}\/[\w-]{30,})/g],
  ["npm-token", /\bnpm_\w{36,}/g],
  ["pypi-token", /\bpypi-[\w-]{50,}/g],
  ["anthropic-key", /\bsk-ant-[\w-]{20,}/g],
  ["openrouter-key", /\bsk-or-v\d-[0-9a-f]{32,}/g],
  ["openai-key", /\bsk-(?:(?=[\w-]{0,200}\d)(?=[\w-]{0,200}[A-Z])[\w-]{20,}|[0-9a-f]{32,})/g],
  ["google-key", /\b(?:AIza[\w-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,})/g],
  ["stripe-key", /\b(?:[prs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[\w+/=]{24,})/g],
  ["sendgrid-key", /\bSG\.[\w-]{16,64}\.[\w-]{16,64}/g],
  ["twilio-key", /\bSK[0-9a-f]{32}\b/g],
  ["huggingface-token", /\bhf_[A-Za-z0-9]{30,}/g],
  ["shopify-token", /\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/g],
  ["linear-key", /\blin_(?:api|oauth)_\w{32,}/g],
  ["digitalocean-token", /\bdo[opr]_v1_[0-9a-f]{64}/g],
  ["docker-token", /\bdckr_(?:pat|oat)_[\w-]{20,}/g],
  ["vault-token", /\bhv[bs]\.[\w-]{20,}/g],
  ["databricks-token", /\bdapi[0-9a-f]{32}/g],
  ["age-key", /\bAGE-SECRET-KEY-1[0-9A-Z]{50,}/g],
  ["1password-token", /\bops_eyJ[\w+/=-]{50,}/g],
  ["telegram-token", /\b\d{8,10}:AA[\w-]{33}/g],
  ["service-key", /\b(?:xai-|gsk_|r8_|pplx-|tvly-|figd_|ntn_|fw_|csk-)(?=[\w-]*\d)[\w-]{24,}/g],
  ["url-password", /:\/\/[^\s/:@"'<>\\]{0,256}:([^\s/@"'<>\\]{1,256})@/g],
  ["url-password", /:\/\/([\w%.~-]{16,})@/g],
];

const bare = String.raw`([^\s"'\x60\\;&|<>(),]{4,})(?=[\s"'\x60\\;&|<>),]|$)`;

/** Up to where a shell ends a word, which escapes do not; without the mark behind a sentence. */
const shellWord = String.raw`((?:[^\s"'\x60\\;&|<>()]|\\(?![nrtu"'\\])[^\s]){4,}(?<![,.:]))`;

/** Quotes of JSON within a text are escaped, once or more. */
const quoted = String.raw`\\{0,8}"((?:[^"\\\n]+|\\(?!\\*")[^\n])+)|'([^'\n]+)'`;

const behindName = String.raw`\\{0,8}["']?\s{0,3}(?::=?|=>?)\s{0,3}`;

/** Ends of names: what is before them in a name does not matter. */
const capitalName =
  "(?:TOKEN|SECRET|KEY|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|_(?:PASS|PWD|PAT|AUTH))" +
  String.raw`(?:_ID|_B(?:ASE)?64|_?\d)?`;

const passwordName = "(?:password|passwd|passphrase|secret)";

const weakName =
  "(?:password|passwd|passphrase|secret|token|credentials?|_pass|_pwd|" +
  "(?:api|access|private|secret|auth|account)[_-]?key(?:[_-]?id)?)";

const headerName = "(?:(?:proxy-)?authorization|(?:x-)?(?:api-key|auth-token)|private-token)";

const scheme = String.raw`(?:(?:basic|bearer|digest|negotiate|token|apikey)\s+)?`;

const flag = String.raw`--(?:[\w-]{0,40}-)?`;

/** In a list of words, the value is a string of its own. */
const behindFlag = String.raw`(?:[= ]|",\s{0,20}(?="))`;

const pair = String.raw`"(?:name|key)"\s{0,3}:\s{0,3}"[\w-]*(?:${capitalName}|${weakName})"`;

const namedValues: readonly SecretRule[] = [
  rule("authorization", `\\b${headerName}${behindName}["']?${scheme}${bare}`, "gi", isMixed),
  rule("authorization", String.raw`\b(?:basic|bearer)\s+([\w.~+/=-]{8,})`, "gi", isMixed),
  rule(
    "cookie",
    String.raw`\b(?:set-)?cookie:[ \t]*((?=[^\r\n"'\\]{0,200}=)[^\r\n"'\\]{8,})`,
    "gi",
  ),
  rule(namedKind, `${capitalName}=(?:${quoted}|${shellWord})`, "g"),
  rule(namedKind, `(?:password|passwd|pwd)=${bare}`, "gi", isLiteral),
  rule(namedKind, String.raw`^[ \t-]*[\w-]{0,60}password: ([^\s"',;{}()[\]]{4,})$`, "gim"),
  rule(namedKind, `${capitalName}${behindName}(?:${quoted}|${bare})`, "g", isMixed),
  rule(namedKind, String.raw`${passwordName}${behindName}\\{0,8}["']([^\s"'\\]{4,})`, "gi"),
  rule(namedKind, `${weakName}${behindName}(?:${quoted}|${bare})`, "gi", isMixed),
  rule(namedKind, `${flag}(?:password|passwd)${behindFlag}(?:${quoted}|${bare})`, "g"),
  rule(
    namedKind,
    `${flag}(?:token|secret|key|passphrase)${behindFlag}(?:${quoted}|${bare})`,
    "g",
    isMixed,
  ),
  rule(namedKind, String.raw`\s(?:-u|--user)[= ]?["']?[^\s:"']{1,64}:([^\s"'\\]{3,})`, "g"),
  rule(namedKind, String.raw`${pair}\s{0,20},\s{0,20}"value"\s{0,3}:\s{0,3}(?:${quoted})`, "g"),
  rule(namedKind, String.raw`\bsshpass\s+-p\s*(?:${quoted}|${bare})`, "g"),
];

function rule(
  kind: string,
  pattern: string,
  flags: string,
  isSecret?: (value: string) => boolean,
): SecretRule {
  const named = { kind, pattern: new RegExp(pattern, flags) };
  return isSecret === undefined ? named : { ...named, isSecret };
}

const rules: readonly SecretRule[] = [
  ...keyForms.map(([kind, pattern]) => ({ kind, pattern })),
  ...namedValues,
];

/** By their start. They may overlap. */
export function findSecrets(text: string): FoundSecret[] {
  if (text.length < textUnitsMin) return [];
  const found = privateKeys(text);
  for (const { kind, pattern, isSecret } of rules) {
    // `matchAll` compiles a copy of the pattern for each text.
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const [whole] = match;
      const groups: readonly (string | undefined)[] = match;
      const secret = groups.findLast((group) => group !== undefined) ?? whole;
      if (isPlaceholder(secret) || isSecret?.(secret) === false) continue;
      const start = match.index + whole.lastIndexOf(secret);
      found.push({ kind, start, end: start + secret.length });
    }
  }
  return found.toSorted((one, other) => one.start - other.start);
}

/** The shortest text with a secret: `KEY=` and four characters. */
const textUnitsMin = 8;

/** Whether a member, header or variable of that name holds a secret. */
export function isSecretName(name: string): boolean {
  if (/^[A-Z0-9_]+$/.test(name) && capitals.test(name)) return true;
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  return secretNames.test(words.replaceAll(/[-. ]/g, "_"));
}

const capitals = new RegExp(`${capitalName}$`);

const secretNames = new RegExp(
  "(?:^|_)(?:tokens?|secrets?|passwords?|passwd|passphrase|credentials?|authorization|" +
    "(?:set_)?cookie|" +
    "(?:api|access|private|secret|auth|encryption|signing|account)_?keys?(?:_id)?)$",
);

/** References to a secret, and texts in its place. */
export function isPlaceholder(value: string): boolean {
  return placeholders.test(value) || systemPath.test(value);
}

const placeholders = new RegExp(
  String.raw`^(?:\[redacted(?::(?: [^\]\n]*\]?)?)?|` +
    String.raw`\$[A-Z_][A-Z0-9_]*|\$\{[^}]*\}?|\$\(.*|<[^>]*>?|\{\{.*|%\w+%|[*.xX•…-]+|` +
    String.raw`(?:process|import\.meta|os)\.env.*|null|undefined|true|false|none|string|)$`,
  "s",
);

const systemPath = /^(?:(?:~|\.\.?)\/|[A-Z]:\\|\/(?:etc|home|opt|root|run|tmp|Users|usr|var)\/)/;

/** No expression of a program. */
function isLiteral(value: string): boolean {
  return !/^[a-z_]\w*[.[]|^pass(?:word|wd)?$|^user_|_pass/i.test(value);
}

/** Of letters and digits, as words of a language are not. */
function isMixed(value: string): boolean {
  return value.length >= 6 && /[A-Za-z]/.test(value) && /[\d=]|[a-z][A-Z]{2}/.test(value);
}
