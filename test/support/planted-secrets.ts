/** Texts with a secret in them, each another one, and sessions with one in every field. */
import { secretKinds } from "./secret-kinds.ts";

export interface PlantedSecret {
  /** What a session holds. */
  readonly text: string;
  /** What no export may hold: of a private key, its lines. */
  readonly secrets: readonly string[];
}

/** The kinds that stand by themselves are in a sentence. */
const forms = secretKinds.map(({ sample }) => (number: number): PlantedSecret => {
  const { text, secrets } = sample(number);
  return { text: text === secrets[0] ? `see ${text} there` : text, secrets };
});

/** The forms of all kinds, each once, starting at a number. */
export function plantedSecrets(from = 0): readonly PlantedSecret[] {
  return forms.map((form, place) => form(from + place));
}

/** Without these as they are, a log is not a log, or an entry is another one. */
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

/** Forms in which a text could hold a secret anyway. */
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
