/** Texts with a secret in them, each another one, and sessions with one in every field. */
import { createHash } from "node:crypto";

export interface PlantedSecret {
  /** What a session holds. */
  readonly text: string;
  /** What no export may hold: of a private key, its lines. */
  readonly secrets: readonly string[];
}

/** Letters and digits that look random, always the same for a number. */
export function characters(number: number, length: number): string {
  let text = "";
  for (let part = 0; text.length < length; part += 1) {
    const digest = createHash("sha256").update(`${number}.${part}`).digest("base64");
    text += digest.replaceAll(/[^A-Za-z0-9]/g, "");
  }
  // What tells a key from a word is never missing.
  return `${text.slice(0, length - 2)}Z7`;
}

const forms: readonly ((number: number) => PlantedSecret)[] = [
  whole((n) => `ghp_${characters(n, 36)}`),
  whole((n) => `AKIA${characters(n, 16).toUpperCase()}`),
  whole((n) => `sk-ant-api03-${characters(n, 93)}AA`),
  whole((n) => `sk-proj-${characters(n, 48)}`),
  whole((n) => `glpat-${characters(n, 20)}`),
  whole((n) => `xoxb-1234567890-${characters(n, 24)}`),
  whole((n) => `npm_${characters(n, 36)}`),
  whole((n) => `AIza${characters(n, 35)}`),
  whole((n) => `sk_live_${characters(n, 24)}`),
  whole((n) => `hf_${characters(n, 34)}`),
  whole((n) => `eyJhbGciOiJIUzI1NiJ9.eyJ${characters(n, 40)}.${characters(n + 1, 43)}`),
  within((secret) => `curl -H 'Authorization: Bearer ${secret}'`),
  within((secret) => `export DEPLOY_TOKEN=${secret}`),
  within((secret) => `export DB_PASSWORD="${secret}" other`),
  within((secret) => `psql postgres://me:${secret}@db.example/shop`),
  within((secret) => `{"api_key": "${secret}"}`),
  privateKey,
];

function whole(secretOf: (number: number) => string): (number: number) => PlantedSecret {
  return (number) => ({ text: `see ${secretOf(number)} there`, secrets: [secretOf(number)] });
}

function within(textOf: (secret: string) => string): (number: number) => PlantedSecret {
  return (number) => {
    const secret = characters(number, 24);
    return { text: textOf(secret), secrets: [secret] };
  };
}

function privateKey(number: number): PlantedSecret {
  const lines = [1, 2, 3].map((line) => characters(number * 10 + line, 64));
  const body = lines.join("\n");
  const text = `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----\n`;
  return { text, secrets: lines };
}

/** The forms of all kinds, each once, starting at a number. */
export function plantedSecrets(from = 0): readonly PlantedSecret[] {
  return forms.map((form, place) => form(from + place));
}

/** Without these as they are, a log is no log, or an entry another one. */
const structural =
  /^(?:type|subtype|role|version|operation|status|.*[uU]uid|.*_?[iI]ds?|.*[tT]imestamp|dialect)$/;

/** Plants secrets, and remembers them. */
export class Planter {
  readonly secrets: string[] = [];
  #count = 0;

  text(): string {
    const form = forms[this.#count % forms.length];
    if (form === undefined) throw new Error("no form");
    const { text, secrets } = form((this.#count += 1));
    this.secrets.push(...secrets);
    return text;
  }

  /** A line with a secret in every string, and an additional key in every inner object. */
  line(line: string): string {
    return JSON.stringify(this.#planted(JSON.parse(line), "", 0));
  }

  #planted(value: unknown, key: string, depth: number): unknown {
    if (typeof value === "string") return this.#inText(value, key);
    if (Array.isArray(value)) return value.map((item: unknown) => this.#planted(item, key, depth));
    if (typeof value !== "object" || value === null) return value;
    const members = Object.entries(value).map(([name, item]) => {
      return [name, this.#planted(item, name, depth + 1)] as const;
    });
    const keyed = /^(?:arguments|input|data|details)$/.test(key);
    return Object.fromEntries(keyed ? [...members, [this.text(), this.text()]] : members);
  }

  #inText(value: string, key: string): string {
    // The text of an image is not one, and an empty text may be a sign.
    if (structural.test(key) || key === "mimeType" || key === "media_type") return value;
    if (value === "" || /^(?:iVBORw0|JVBER|data:|https?:|\S{200})/.test(value)) return value;
    if (/^\{.*\}$/s.test(value)) return JSON.stringify(this.#planted(JSON.parse(value), key, 1));
    return `${value} ${this.text()}`;
  }
}

/** Forms in which a text could hold a secret all the same. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    bytes.toString("base64").slice(0, -4),
    bytes.toString("hex"),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ];
}

/** Those of the secrets that a text holds, also wrapped over lines. */
export function secretsIn(text: string, secrets: readonly string[]): string[] {
  const joined = text.replaceAll(/\\n|\s/g, "");
  return secrets.filter((secret) =>
    formsOf(secret).some((form) => text.includes(form) || joined.includes(form)),
  );
}
