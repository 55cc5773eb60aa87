/**
 * The forms of keys that their issuers document, and of public keys. Data; every pattern is linear
 * or bounded.
 */

export interface FoundSecret {
  /** Its name in the marker, such as `github-token`. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  /** Decoded, if the text has it in an encoding. */
  readonly secret?: string;
}

export interface SecretRule {
  readonly kind: string;
  /** Texts without any of them are not searched. Lower case if the pattern ignores case. */
  readonly needles: readonly string[];
  /** The secret is the last group that matched, or the match. */
  readonly pattern: RegExp;
  readonly isSecret?: ValueTest;
}

/** @param before The character before the value. */
export type ValueTest = (value: string, before: string) => boolean;

export const imageKind = "image";

type KeyForm = readonly [kind: string, needles: readonly string[], pattern: RegExp];

/** The first one for the same characters names the kind. */
const keyForms: readonly KeyForm[] = [
  [
    imageKind,
    [";base64,"],
    /\bdata:(?!text\/|application\/(?:json|xml|javascript))[\w/+.-]{3,80};base64,[\w+/=-]+/g,
  ],
  [
    imageKind,
    ["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"],
    /(?:iVBORw0KGgo|\/9j\/[24]|R0lGOD[dl]|UklGR)[A-Za-z0-9+/]{40,}={0,2}/g,
  ],
  ["jwt", ["eyJ"], /\beyJ[\w-]{8,2048}\.[\w-]{8,16384}(?:\.[\w-]*){1,3}/g],
  ["mapbox-token", ["sk.eyJ"], /\bsk\.eyJ[\w-]{8,2048}\.[\w-]{8,256}/g],
  [
    "aws-access-key",
    ["A3T", "ABIA", "ACCA", "AGPA", "AIDA", "AIPA", "AKIA", "ANPA", "ANVA", "AROA", "ASIA"],
    /\b(?:A3T[A-Z0-9]|A(?:BIA|CCA|GPA|IDA|IPA|KIA|NPA|NVA|ROA|SIA))[A-Z0-9]{16}\b/g,
  ],
  [
    "github-token",
    ["gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_"],
    /(?<![A-Za-z0-9])(?:gh[oprsu]_\w{36,}|github_pat_\w{22,})/g,
  ],
  [
    "gitlab-token",
    [
      "glagent-",
      "glcbt-",
      "gldt-",
      "glft-",
      "glimt-",
      "gloas-",
      "glpat-",
      "glptt-",
      "glrt-",
      "glsoat-",
    ],
    /\bgl(?:agent|cbt|dt|ft|imt|oas|pat|ptt|rt|soat)-[\w.-]{20,}/g,
  ],
  ["slack-token", ["xox", "xapp-"], /\b(?:xox[a-z]|xapp)-[\w-]{10,}/g],
  ["slack-webhook", ["hooks.slack"], /\bhooks\.slack\.com\/(?:services|workflows)\/([\w/-]{20,})/g],
  [
    "discord-webhook",
    ["/api/webhooks/"],
    /\bdiscord(?:app)?\.com\/api\/webhooks\/(\d{5,}\/[\w-]{30,})/g,
  ],
  ["discord-token", ["."], /\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])/g],
  ["npm-token", ["npm_"], /\bnpm_\w{36,}/g],
  ["pypi-token", ["pypi-"], /\bpypi-[\w-]{50,}/g],
  ["anthropic-key", ["sk-ant-"], /\bsk-ant-[\w-]{20,}/g],
  ["openrouter-key", ["sk-or-"], /\bsk-or-v\d-[0-9a-f]{32,}/g],
  [
    "openai-key",
    ["sk-"],
    /\bsk-(?:(?=[\w-]{0,200}\d)(?=[\w-]{0,200}[A-Z])[\w-]{20,}|[0-9a-f]{32,})/g,
  ],
  [
    "google-key",
    ["AIza", "GOCSPX-", "ya29."],
    /\b(?:AIza[\w-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,})/g,
  ],
  ["google-key", ["1//0"], /(?<![\w/.])1\/\/0[\w-]{30,}/g],
  [
    "stripe-key",
    ["k_live_", "k_test_", "whsec_"],
    /\b(?:[prs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[\w+/=]{24,})/g,
  ],
  ["sendgrid-key", ["SG."], /\bSG\.[\w-]{16,64}\.[\w-]{16,64}/g],
  ["twilio-key", ["SK"], /\bSK[0-9a-f]{32}\b/g],
  ["huggingface-token", ["hf_"], /\bhf_[A-Za-z0-9]{30,}/g],
  ["shopify-token", ["shp"], /\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/g],
  ["linear-key", ["lin_"], /\blin_(?:api|oauth)_\w{32,}/g],
  ["digitalocean-token", ["_v1_"], /\bdo[opr]_v1_[0-9a-f]{64}/g],
  ["docker-token", ["dckr_"], /\bdckr_(?:pat|oat)_[\w-]{20,}/g],
  ["vault-token", ["hvs.", "hvb."], /\bhv[bs]\.[\w-]{20,}/g],
  ["databricks-token", ["dapi"], /\bdapi[0-9a-f]{32}/g],
  ["age-key", ["AGE-SECRET-KEY"], /\bAGE-SECRET-KEY-1[0-9A-Z]{50,}/g],
  ["1password-token", ["ops_eyJ"], /\bops_eyJ[\w+/=-]{50,}/g],
  // In addresses of its API, `bot` is before it.
  ["telegram-token", [":AA"], /(?<!\d)\d{8,10}:AA[\w-]{33}/g],
  ["atlassian-token", ["ATATT", "ATCTT"], /\bAT[AC]TT[\w=-]{20,}/g],
  ["doppler-token", ["dp."], /\bdp\.(?:audit|ct|pt|sa|scim|st)\.[\w.-]{20,}/g],
  ["planetscale-token", ["pscale_"], /\bpscale_[a-z]{2,12}_[\w.=-]{20,}/g],
  ["supabase-token", ["sbp_", "sb_secret_"], /\bsb(?:p_\w{32,}|_secret_[\w-]{20,})/g],
  ["newrelic-key", ["NRAK-"], /\bNRAK-[A-Z0-9]{20,}/g],
  [
    "square-token",
    ["EAAA", "sq0"],
    /(?<![\w+/=-])(?:EAAA[\w-]{56,66}(?![\w+/=-])|sq0[a-z]{3}-[\w-]{20,})/g,
  ],
  ["notion-token", ["secret_"], /\bsecret_[A-Za-z0-9]{43}(?!\w)/g],
  ["postman-key", ["PMAK-"], /\bPMAK-[0-9a-fA-F]{24}-[0-9a-fA-F]{34}(?!\w)/g],
  ["airtable-token", ["pat"], /\bpat[A-Za-z0-9]{14}\.[0-9a-f]{40,}/g],
  ["grafana-token", ["glsa_", "glc_"], /\bgl(?:sa|c)_[\w+/=-]{20,}/g],
  ["pulumi-token", ["pul-"], /\bpul-[0-9a-f]{40}/g],
  ["mailgun-key", ["key-"], /\bkey-[0-9a-f]{32}(?!\w)/g],
  ["mailchimp-key", ["-us"], /\b[0-9a-f]{32}-us\d{1,2}(?!\w)/g],
  [
    "service-key",
    ["xai-", "gsk_", "r8_", "pplx-", "tvly-", "figd_", "ntn_", "fw_", "csk-"],
    /\b(?:xai-|gsk_|r8_|pplx-|tvly-|figd_|ntn_|fw_|csk-)(?=[\w-]*\d)[\w-]{24,}/g,
  ],
];

export const keyRules: readonly SecretRule[] = keyForms.map(([kind, needles, pattern]) => {
  return { kind, needles, pattern, isSecret: (value) => !isOfWords(value) };
});

const publicForms =
  /\b(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-[\w-]{1,20}|sk-[\w@.-]{1,60}) AAAA[\w+/]{20,}={0,3}/g;

/** Where public keys are: matches in their digits are coincidences. */
export function publicKeys(text: string): readonly (readonly [start: number, end: number])[] {
  if (!text.includes(" AAAA")) return [];
  return [...text.matchAll(publicForms)].map(({ index, 0: whole }) => {
    return [index, index + whole.length];
  });
}

/** Words with hyphens, as names have; not of a part that looks random. */
export function isOfWords(value: string): boolean {
  const parts = value.split(/[-_.]/);
  return parts.length > 2 && parts.every((part) => wordPart.test(part));
}

const wordPart = /^(?:[A-Z]?[a-z]{0,13}\d{0,2}|\d{1,4})$/;
