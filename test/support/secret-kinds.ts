/**
 * Secrets of each kind that people share by mistake, made when the tests run, the forms in which
 * they occur, and what readers of a text may decode it to.
 */
import { createHash } from "node:crypto";

export interface SecretSample {
  /** The least that shows what it is. */
  readonly text: string;
  readonly secrets: readonly string[];
}

export interface SecretKind {
  readonly name: string;
  readonly sample: (number: number) => SecretSample;
}

/** Letters and digits that look random, always the same for a number. */
function characters(number: number, length: number): string {
  let text = "";
  for (let part = 0; text.length < length; part += 1) {
    const digest = createHash("sha256").update(`${number}.${part}`).digest("base64");
    text += digest.replaceAll(/[^A-Za-z0-9]/g, "");
  }
  // What tells a key from a word is never missing.
  return `${text.slice(0, length - 2)}Z7`;
}

function hex(number: number, length: number): string {
  return Buffer.from(characters(number, length)).toString("hex").slice(0, length);
}

function kind(
  name: string,
  secretOf: (number: number) => string,
  textOf: (secret: string) => string = (secret) => secret,
): SecretKind {
  return {
    name,
    sample: (number) => {
      const secret = secretOf(number);
      return { text: textOf(secret), secrets: [secret] };
    },
  };
}

function password(number: number): string {
  return characters(number, 20);
}

const databases = ["mysql", "mongodb+srv", "redis", "amqps"];

/** In the order of the table in `docs/redaction.md`. */
export const secretKinds: readonly SecretKind[] = [
  {
    name: "AWS key id and secret key",
    sample: (n) => {
      const [id, secret] = [`AKIA${characters(n, 16).toUpperCase()}`, characters(n, 40)];
      return { text: `${id}, ${secret}`, secrets: [id, secret] };
    },
  },
  kind("GitHub token, classic", (n) => `ghp_${characters(n, 36)}`),
  kind("GitHub token, fine-grained", (n) => {
    return `github_pat_${characters(n, 22)}_${characters(n + 1, 59)}`;
  }),
  kind("GitLab token", (n) => `glpat-${characters(n, 20)}`),
  kind("Slack token", (n) => `xoxb-123456789012-${characters(n, 24)}`),
  kind(
    "Slack webhook",
    (n) => `T0${hex(n, 9)}/B0${hex(n, 9)}/${characters(n, 24)}`,
    (secret) => `https://hooks.slack.com/services/${secret}`,
  ),
  kind("Stripe key", (n) => `sk_live_${characters(n, 24)}`),
  kind("OpenAI key", (n) => `sk-proj-${characters(n, 48)}`),
  kind("Anthropic key", (n) => `sk-ant-api03-${characters(n, 93)}AA`),
  kind("OpenRouter key", (n) => `sk-or-v1-${hex(n, 64)}`),
  kind("Google API key", (n) => `AIza${characters(n, 35)}`),
  kind("Google OAuth secret", (n) => `GOCSPX-${characters(n, 28)}`),
  kind("Google OAuth token", (n) => `ya29.${characters(n, 60)}`),
  kind("Telegram bot token", (n) => `${1_234_567_890 + n}:AA${characters(n, 33)}`),
  kind("Discord token", (n) => `MTA1${characters(n, 20)}.GaB3dE.${characters(n, 38)}`),
  kind(
    "Discord webhook",
    (n) => `10000000000000${1_000 + n}/${characters(n, 68)}`,
    (secret) => `https://discord.com/api/webhooks/${secret}`,
  ),
  kind("npm token", (n) => `npm_${characters(n, 36)}`),
  kind("PyPI token", (n) => `pypi-AgEIcHlwaS5vcmc${characters(n, 60)}`),
  kind("SendGrid key", (n) => `SG.${characters(n, 22)}.${characters(n, 43)}`),
  kind("Twilio key", (n) => `SK${hex(n, 32)}`),
  kind("Mailgun key", (n) => `key-${hex(n, 32)}`),
  kind("Postman key", (n) => `PMAK-${hex(n, 24)}-${hex(n + 1, 34)}`),
  kind("Hugging Face token", (n) => `hf_${characters(n, 34)}`),
  kind("DigitalOcean token", (n) => `dop_v1_${hex(n, 64)}`),
  kind("Shopify token", (n) => `shpat_${hex(n, 32)}`),
  kind("Docker Hub token", (n) => `dckr_pat_${characters(n, 27)}`),
  kind("Vault token", (n) => `hvs.${characters(n, 24)}`),
  kind("age key", (n) => `AGE-SECRET-KEY-1${characters(n, 58).toUpperCase()}`),
  kind(
    "Azure connection string",
    (n) => `${characters(n, 86)}==`,
    (secret) => `DefaultEndpointsProtocol=https;AccountName=me;AccountKey=${secret};`,
  ),
  kind("JSON Web Token", (n) => {
    return `eyJhbGciOiJIUzI1NiJ9.eyJ${characters(n, 40)}.${characters(n + 1, 43)}`;
  }),
  {
    name: "private key (PEM)",
    sample: (n) => {
      const secrets = [1, 2, 3].map((line) => characters(n * 10 + line, 64));
      const name = "RSA PRIVATE KEY-----";
      return { text: `-----BEGIN ${name}\n${secrets.join("\n")}\n-----END ${name}`, secrets };
    },
  },
  kind("postgres URL", password, (secret) => `postgres://app:${secret}@db.example/shop`),
  {
    name: "MySQL, MongoDB, Redis or AMQP URL",
    sample: (n) => {
      const text = `${databases[n % databases.length]}://app:${password(n)}@db.example/0`;
      return { text, secrets: [password(n)] };
    },
  },
  kind("URL with a user's password", password, (secret) => `https://me:${secret}@x.example/a`),
  kind("`Authorization: Bearer`", password, (secret) => `Authorization: Bearer ${secret}`),
  kind(
    "`Authorization: Basic`",
    (n) => Buffer.from(`me:${password(n)}`).toString("base64"),
    (secret) => `Authorization: Basic ${secret}`,
  ),
  kind("cookie", password, (secret) => `Cookie: theme=dark; session=${secret}`),
  kind("assigned password", password, (secret) => `DB_PASSWORD=${secret}`),
  kind("password in JSON", password, (secret) => `{"user": "me", "password": "${secret}"}`),
  kind("password in YAML", password, (secret) => `- name: DB_PASSWORD\n  value: ${secret}`),
  kind("`.netrc`", password, (secret) => `machine x.example\n  login me\n  password ${secret}`),
  kind("`.npmrc`", password, (secret) => `//registry.example/:_authToken=${secret}`),
];

export interface SecretForm {
  readonly name: string;
  /** The same text in the variants of the form; each must be found. */
  readonly textsOf: (sample: SecretSample) => readonly string[];
}

export function percentEncoded(text: string): string {
  return encodeURIComponent(text);
}

export function jsonEscaped(text: string): string {
  return JSON.stringify(text);
}

export function shellEscaped(text: string): string {
  return text.replaceAll(/[^\w@%+=:,./\n-]/gu, String.raw`\$&`);
}

export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

export function base64Url(text: string): string {
  return Buffer.from(text).toString("base64url");
}

export function wrapped(text: string, width: number): string {
  return text.replaceAll(new RegExp(`.{${width}}`, "g"), "$&\n");
}

function withLineEnds({ text, secrets }: SecretSample, lineEnd: string): string {
  return secrets.reduce((broken, secret) => {
    const half = secret.length >> 1;
    return broken.replace(secret, () => secret.slice(0, half) + lineEnd + secret.slice(half));
  }, text);
}

/** In columns, so that a line ends within the secret. */
function inColumns({ text, secrets: [secret = ""] }: SecretSample, width: number): string {
  const middle = text.indexOf(secret) + (secret.length >> 1);
  const before = `${"x".repeat(width - 1 - (middle % width))} `;
  return wrapped(`${before}${text}`, width);
}

function inDiff(text: string, mark: "+" | "-"): string {
  const lines = text.split("\n").map((line) => `${mark}${line}`);
  return `@@ -1,3 +1,3 @@\n context\n${lines.join("\n")}\n context\n`;
}

/** Also as values of arguments in quotes. */
export const secretForms: readonly SecretForm[] = [
  { name: "plain", textsOf: ({ text }) => [text] },
  {
    name: "JSON",
    textsOf: ({ text }) => [jsonEscaped(text), jsonEscaped(JSON.stringify({ value: text }))],
  },
  {
    name: "shell",
    textsOf: ({ text }) => [
      `export VALUE=${shellEscaped(text)}`,
      `export VALUE=${shellQuoted(text)}`,
      `run --value="${text.replaceAll(/["\\$`]/g, String.raw`\$&`)}"`,
    ],
  },
  {
    name: "URL",
    textsOf: ({ text }) => [
      `https://x.example/?value=${percentEncoded(text)}&next=1`,
      percentEncoded(percentEncoded(text)),
    ],
  },
  {
    name: "base64",
    textsOf: ({ text }) => [
      base64(text),
      base64Url(`x ${text} y`),
      `data/${base64(`{"a":1}\n${text}\n`)}`,
      wrapped(base64(`${"line\n".repeat(20)}${text}\n`), 76),
    ],
  },
  {
    name: "lines",
    textsOf: (sample) => [
      withLineEnds(sample, "\\\n"),
      ...(sample.text.includes("\n")
        ? []
        : [inColumns(sample, 64), inColumns(sample, 76), withLineEnds(sample, `" +\n    "`)]),
    ],
  },
  {
    name: "header",
    textsOf: ({ text }) => [
      `GET / HTTP/1.1\r\nHost: x.example\r\nX-Value: ${text.replaceAll("\n", " ")}\r\n\r\n`,
      `curl -H 'X-Value: ${text.replaceAll("\n", " ")}' https://x.example`,
    ],
  },
  { name: "diff", textsOf: ({ text }) => [inDiff(text, "+"), inDiff(text, "-")] },
];

const readings: readonly ((text: string) => readonly string[])[] = [
  (text) => [text.replaceAll(/%([\dA-Fa-f]{2})/g, (_, code: string) => characterOf(code))],
  (text) => [
    text
      .replaceAll(/\\\r?\n/g, "")
      .replaceAll(/\\n/g, "\n")
      .replaceAll(/\\u00([\da-f]{2})/g, (_, code: string) => characterOf(code))
      .replaceAll(/\\(.)/g, "$1"),
  ],
  (text) => [text.replaceAll(/\r?\n[+ -]?\s*/g, ""), text.replaceAll(/["'+\s]/g, "")],
  (text) => [text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&")],
  (text) => {
    const tokens = text.match(/[\w+/-]{16,}/g) ?? [];
    return tokens.flatMap((token) =>
      [0, 1, 2, 3].map((lead) => Buffer.from(token.slice(lead), "base64").toString()),
    );
  },
];

function characterOf(code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16));
}

/** The secrets, or halves of them, in what a reader who decodes it so often reads in a text. */
export function secretsRead(text: string, secrets: readonly string[], decodings = 2): string[] {
  const parts = secrets.flatMap((secret) => {
    const half = secret.length >> 1;
    return half < 10 ? [secret] : [secret.slice(0, half), secret.slice(half)];
  });
  const read = parts.filter((part) => text.includes(part));
  if (read.length > 0 || decodings === 0) return read;
  return readings
    .flatMap((reading) => reading(text))
    .filter((decoded) => decoded !== text)
    .flatMap((decoded) => secretsRead(decoded, secrets, decodings - 1));
}
