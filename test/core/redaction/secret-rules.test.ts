/** What counts as a secret, and what does not. */
import { createHash, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  findSecrets,
  isPlaceholder,
  isSecretName,
} from "../../../packages/core/src/redaction/secret-rules.ts";
import { plantedSecrets } from "../../support/planted-secrets.ts";

/** What is found, with its kind. */
function found(text: string): string[] {
  return findSecrets(text).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);
}

const key = (length: number): string => "aB3dE6gH9kLmNoPq".repeat(16).slice(0, length);

const hex = (length: number): string => "0a1b2c3d4e5f6789".repeat(8).slice(0, length);

describe("findSecrets", () => {
  it.each([
    ["aws-access-key", "AKIAQ3EXAMPLEKEY1234"],
    ["aws-access-key", "ASIAQ3EXAMPLEKEY1234"],
    ["github-token", `ghp_${key(36)}`],
    ["github-token", `ghs_${key(36)}`],
    ["github-token", `github_pat_${key(82)}`],
    ["gitlab-token", `glpat-${key(20)}`],
    ["slack-token", `xoxb-123456789012-${key(24)}`],
    ["slack-token", `xapp-1-${key(24)}`],
    ["npm-token", `npm_${key(36)}`],
    ["pypi-token", `pypi-${key(60)}`],
    ["anthropic-key", `sk-ant-api03-${key(93)}AA`],
    ["openai-key", `sk-proj-${key(48)}`],
    ["openai-key", `sk-${hex(32)}`],
    ["openrouter-key", `sk-or-v1-${hex(64)}`],
    ["google-key", `AIza${key(35)}`],
    ["google-key", `ya29.${key(60)}`],
    ["stripe-key", `sk_live_${key(24)}`],
    ["stripe-key", `whsec_${key(32)}`],
    ["sendgrid-key", `SG.${key(22)}.${key(43)}`],
    ["twilio-key", `SK${hex(32)}`],
    ["huggingface-token", `hf_${key(34)}`],
    ["shopify-token", `shpat_${hex(32)}`],
    ["linear-key", `lin_api_${key(40)}`],
    ["digitalocean-token", `dop_v1_${hex(64)}`],
    ["docker-token", `dckr_pat_${key(27)}`],
    ["vault-token", `hvs.${key(24)}`],
    ["databricks-token", `dapi${hex(32)}`],
    ["age-key", `AGE-SECRET-KEY-1${key(58).toUpperCase()}`],
    ["1password-token", `ops_eyJ${key(60)}`],
    ["telegram-token", `1234567890:AA${key(33)}`],
    ["service-key", `gsk_${key(52)}`],
    ["jwt", `eyJ${key(20)}.eyJ${key(40)}.${key(43)}`],
  ])("finds a %s in a text, in quotes and in JSON", (kind, secret) => {
    for (const text of [`say ${secret}, then`, `'${secret}'`, JSON.stringify([secret])]) {
      expect(found(text)[0]).toBe(`${kind} ${secret}`);
    }
  });

  it.each([
    ["export API_TOKEN=abcdefgh && run", "secret-value abcdefgh"],
    ["DB_PASSWORD=p@ss,w0rd:1! run", "secret-value p@ss,w0rd:1!"],
    [String.raw`DB_PASSWORD=pa\$\$word run`, String.raw`secret-value pa\$\$word`],
    ["host=db password=letmein user=me", "secret-value letmein"],
    ["database:\n  password: letmein\n  port: 1", "secret-value letmein"],
    ["PGPASSWORD='two words' psql", "secret-value two words"],
    ['STRIPE_KEY="a b"', "secret-value a b"],
    ["AWS_SECRET_ACCESS_KEY=wJalrX/+x=", "secret-value wJalrX/+x="],
    [String.raw`{\"DB_PASS\":\"hunter2\"}`, "secret-value hunter2"],
    ["ENV SERVICE_SECRET: s3cretvalue", "secret-value s3cretvalue"],
    ['  password: "swordfish"', "secret-value swordfish"],
    ["password=hunter2x&next=1", "secret-value hunter2x"],
    ["apiKey: 'ab12cd34'", "secret-value ab12cd34"],
    ["mysql --password=letmein", "secret-value letmein"],
    ["gh auth login --with-token t0kenvalue", "secret-value t0kenvalue"],
    ["curl -u me:letmein https://x", "secret-value letmein"],
    ["sshpass -p letmein ssh x", "secret-value letmein"],
    ["Authorization: Bearer abc123def456", "authorization abc123def456"],
    ["authorization: Basic dXNlcjpwYXNz", "authorization dXNlcjpwYXNz"],
    ["X-Api-Key: 0123abcd", "authorization 0123abcd"],
    ["Cookie: session=abcdefgh; a=b", "cookie session=abcdefgh; a=b"],
    ["postgres://me:letmein@db/shop", "url-password letmein"],
    ["redis://:letmein@cache:6379", "url-password letmein"],
    ["https://abcdefgh12345678@host/x", "url-password abcdefgh12345678"],
    ["https://hooks.slack.com/services/T0000/B0000/abcdefgh", "slack-webhook T0000/B0000/abcdefgh"],
  ])("finds the value in %s", (text, value) => {
    expect(found(text)).toContain(value);
  });

  it.each(["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])(
    "finds a %s whole, cut at either end, and with numbered lines",
    (name) => {
      const lines = [key(64), key(64), key(64)];
      const [begin, end] = [`-----BEGIN ${name}-----`, `-----END ${name}-----`];
      const numbered = lines.map((line, place) => `${place + 1}\t${line}`);
      const texts = [
        [begin, ...lines, end].join("\n"),
        [begin, ...lines, end].join(String.raw`\n`),
        [begin, ...lines].join("\n"),
        [begin, "Proc-Type: 4,ENCRYPTED", "", ...lines].join("\n"),
        [...lines, end].join("\n"),
        [begin, ...numbered].join("\n"),
        [...numbered, end].join("\n"),
      ];
      for (const text of texts) {
        const [first, ...more] = findSecrets(`before\n${text}\nafter`);
        expect(more).toEqual([]);
        expect(`before\n${text}\nafter`.slice(first?.start, first?.end).trim()).toBe(text);
      }
    },
  );

  it("finds an image in base64, also in a URL", () => {
    const data = `iVBORw0KGgo${key(100)}`;
    expect(found(`x ${data} y`)).toEqual([`image ${data}`]);
    expect(found(`(data:image/gif;base64,${key(40)})`)[0]).toMatch(/^image data:/);
  });

  it.each([
    "token = parser.next(input2)",
    "login(name=name, password=password, secret=settings.secret)",
    "  password: string;",
    "const apiKey = process.env.API_KEY;",
    'API_KEY="$API_KEY" TOKEN=${TOKEN} SECRET=$(pass show x) npm test',
    "PASSWORD=<your password> KEY=*** API_KEY={{ secret }}",
    "SSH_KEY=~/.ssh/id_ed25519 KEY=./cert.pem TLS_KEY=/etc/ssl/key.pem",
    "interface Login { readonly password: string; token: string }",
    "totalTokens: 4096, max_tokens=8192, tokensBefore: 11153",
    "The password: it should be long. A token: one word.",
    "Basic information about bearer authentication",
    "https://example.org:8080/path@2x.png and git@github.com:a/b.git",
    "sk-container-estimator-labels-and-more-of-them",
    "-----BEGIN PUBLIC KEY-----",
    "created: '2025-06-03 09:00:00', \"name\": 'read1'",
    "[redacted: github-token 1] API_TOKEN=[redacted: secret-value 2]",
  ])("finds nothing in %s", (text) => {
    expect(found(text)).toEqual([]);
  });

  it("finds nothing in ids, hashes and base64", () => {
    for (let time = 0; time < 500; time += 1) {
      const digest = createHash("sha256").update(String(time)).digest();
      const texts = [
        randomUUID(),
        digest.toString("hex"),
        digest.toString("base64"),
        Buffer.concat([digest, digest.toReversed()]).toString("base64"),
      ];
      expect(found(texts.join(" "))).toEqual([]);
    }
  });

  it.each([
    "eyJ-".repeat(50_000),
    "A_".repeat(50_000),
    "cookie:".repeat(20_000),
    "-----BEGIN PRIVATE KEY-----\n".repeat(5_000),
    'KEY="'.repeat(20_000),
    `KEY=${"\\".repeat(100_000)}`,
    "sk-".repeat(40_000),
    "a://".repeat(30_000),
    "password-".repeat(20_000),
    "A".repeat(1_000_000),
  ])("takes no longer for a hostile text (case %#)", (text) => {
    const start = performance.now();
    findSecrets(text);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it("finds every secret that the other tests plant", () => {
    for (const { text, secrets } of plantedSecrets()) {
      const shown = found(text).join("\n");
      for (const secret of secrets) expect(shown).toContain(secret);
    }
  });
});

describe("isSecretName", () => {
  it.each([
    "password",
    "API_TOKEN",
    "apiKey",
    "client_secret",
    "x-api-key",
    "STRIPE_KEY",
    "Cookie",
  ])("knows %s", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each(["key", "cacheKey", "tokenCount", "monkey", "id", "passwordPolicy", ""])(
    "does not know %j",
    (name) => {
      expect(isSecretName(name)).toBe(false);
    },
  );
});

describe("isPlaceholder", () => {
  it.each(["", "$TOKEN", "${TOKEN:-x}", "<token>", "****", "null", "~/.netrc"])(
    "knows %j",
    (text) => {
      expect(isPlaceholder(text)).toBe(true);
    },
  );

  it.each(["$ecret1", "changeme", "/abc/def+12"])("does not know %j", (text) => {
    expect(isPlaceholder(text)).toBe(false);
  });
});
