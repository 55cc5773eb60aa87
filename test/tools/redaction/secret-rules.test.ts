/** What counts as a secret, and what does not. */
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findSecrets } from "../../../packages/tools/src/redaction/secret-rules.ts";
import { plantedSecrets } from "../../support/planted-secrets.ts";
import { cpuMs } from "../../support/cpu-time.ts";

/** What is found, with its kind. */
function found(text: string): string[] {
  return findSecrets(text).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);
}

const key = (length: number): string => "aB3dE6gH9kLmNoPq".repeat(16).slice(0, length);

const hex = (length: number): string => "0a1b2c3d4e5f6789".repeat(8).slice(0, length);

interface Tables {
  readonly kinds: readonly [kind: string, secret: string][];
  readonly values: readonly [text: string, value: string][];
  readonly nothing: readonly string[];
  readonly hostile: readonly [before: string, part: string, times: number, after: string][];
}

/** Texts and what is in them. The long ones are made here: `{key 36}` is a key of 36 characters. */
const tables = JSON.parse(
  readFileSync(new URL("secret-rules.json", import.meta.url), "utf8").replaceAll(
    /\{(key|KEY|hex) (\d+)\}/gu,
    (_, kind: string, length: string) => {
      const text = (kind === "hex" ? hex : key)(Number(length));
      return kind === "KEY" ? text.toUpperCase() : text;
    },
  ),
) as Tables;

describe("findSecrets", () => {
  it.each(tables.kinds)("finds a %s in a text, in quotes and in JSON", (kind, secret) => {
    for (const text of [`say ${secret}, then`, `'${secret}'`, JSON.stringify([secret])]) {
      expect(found(text)[0]).toBe(`${kind} ${secret}`);
    }
  });

  it.each(tables.values)("finds the value in %s", (text, value) => {
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

  it("finds the private lines of a PuTTY key, and an OpenVPN key", () => {
    const lines = `${key(64)}\n${key(64)}\n${key(40)}`;
    const putty = `PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 3\n${lines}\nPrivate-MAC: 0a`;
    expect(found(putty)).toEqual([`private-key ${lines}`]);
    const name = "OpenVPN Static key V1-----";
    const vpn = `-----BEGIN ${name}\n${hex(32)}\n${hex(32)}\n-----END ${name}`;
    expect(found(`# 2048 bit\n${vpn}\n`)).toEqual([`private-key ${vpn}`]);
  });

  it("finds an image in base64, also in a URL", () => {
    const data = `iVBORw0KGgo${key(100)}`;
    expect(found(`x ${data} y`)).toEqual([`image ${data}`]);
    expect(found(`(data:image/gif;base64,${key(40)})`)[0]).toMatch(/^image data:/);
  });

  it.each(tables.nothing)("finds nothing in %s", (text) => {
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

  it.each(tables.hostile)(
    "takes no longer for a hostile text (case %#)",
    (before, part, times, after) => {
      const text = before + part.repeat(times) + after;
      const start = cpuMs();
      findSecrets(text);
      expect(cpuMs() - start).toBeLessThan(5_000);
    },
  );

  it("finds every secret that the other tests plant", () => {
    for (const { text, secrets } of plantedSecrets()) {
      const shown = found(text).join("\n");
      for (const secret of secrets) expect(shown).toContain(secret);
    }
  });
});
