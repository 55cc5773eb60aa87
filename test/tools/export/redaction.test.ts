/** Exports without secrets: planted in every field of every agent's sessions, none comes out. */
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openSession } from "@branchlog/core";
import type { RedactionReport } from "@branchlog/tools";
import { exportConnectonion } from "@branchlog/agents/connectonion";
import { exportLinear, exportMarkdown, linearPieces, markdownPieces } from "@branchlog/tools";
import { collected } from "../../support/collected.ts";
import { Planter, secretsIn } from "../../support/planted-secrets.ts";
import { sampleOf } from "../../support/sampled.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const fixtures = fileURLToPath(new URL("../../../fixtures/", import.meta.url));

/** Of each agent a sample; files whose lines are damaged cannot be planted in. */
const names = ["", "claude/", "codex/"].flatMap((folder) => {
  const all = readdirSync(join(fixtures, folder))
    .filter((name) => name.endsWith(".jsonl") && !/damaged|malformed|bom|\.log\./.test(name))
    .map((name) => `${folder}${name}`);
  return sampleOf(all, 6);
});

interface PlantedFile {
  readonly path: string;
  readonly secrets: readonly string[];
}

function planted(name: string): PlantedFile {
  const planter = new Planter();
  const path = join(temporaryDirectory(), "planted.jsonl");
  const lines = readFileSync(join(fixtures, name), "utf8").split("\n");
  const isTitleSlot = (line: string): boolean => line.startsWith('{"type":"title"');
  const made = lines.map((line) =>
    line.trim() === "" || isTitleSlot(line) ? line : planter.line(line),
  );
  writeFileSync(path, made.join("\n"));
  return { path, secrets: planter.secrets };
}

const joined = async (pieces: AsyncIterable<string | Buffer>): Promise<string> =>
  (await collected(pieces)).map(String).join("");

function markersIn(text: string): Set<string> {
  return new Set(text.match(/\[redacted: [\w-]+ \d+\]/g));
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(names)("a redacted export of %s", (name) => {
  it("has no secret of any field, and a marker for each", async () => {
    const { path, secrets } = planted(name);
    const plain = await joined(linearPieces(path));
    const shown = secretsIn(plain, secrets);
    expect(shown.length).toBeGreaterThan(0);
    const redacted = await joined(linearPieces(path, { redact: true }));
    expect(secretsIn(redacted, secrets)).toEqual([]);
    // A private key has three lines, and one marker.
    const keys = plain.match(/BEGIN RSA/g)?.length ?? 0;
    expect(markersIn(redacted).size).toBeGreaterThanOrEqual(shown.length - 2 * keys);
    expect(redacted.split("\n")).toHaveLength(plain.split("\n").length);
  });

  it("has no secrets as Markdown or as a document", async () => {
    const { path, secrets } = planted(name);
    const plain = await joined(markdownPieces(path));
    const redacted = await joined(markdownPieces(path, { redact: true }));
    expect(secretsIn(plain, secrets).length).toBeGreaterThan(0);
    expect(secretsIn(redacted, secrets)).toEqual([]);
    expect(markersIn(redacted).size).toBeGreaterThan(0);
    const document = join(temporaryDirectory(), "agent.yaml");
    await exportConnectonion(path, document, { redact: true });
    expect(secretsIn(readFileSync(document, "utf8"), secrets)).toEqual([]);
  });

  it("equals the plain export when the session has no secrets, except for images", async () => {
    const path = join(fixtures, name);
    const withoutMedia = (text: string): string =>
      text
        .replaceAll(/\{"type":"(?:image|input_image|document)"[^{}]*(?:\{[^{}]*\})?[^{}]*\}/g, "")
        .replaceAll('{"type":"text","text":"[redacted: image]"}', "")
        .replaceAll(
          /```\n\[redacted: image\]\n```\n|(?:> )?\[redacted: image\]\n?|\*Image: .*\*\n/g,
          "",
        )
        .replaceAll(/\n+/g, "\n");
    for (const pieces of [linearPieces, markdownPieces]) {
      const plain = await joined(pieces(path));
      const redacted = await joined(pieces(path, { redact: true }));
      // An entry that is added has a new id each time.
      const added = /(?<="session_info","id":")[^"]*/g;
      expect(markersIn(redacted)).toEqual(new Set());
      expect(withoutMedia(redacted).replaceAll(added, "")).toBe(
        withoutMedia(plain).replaceAll(added, ""),
      );
    }
  });

  it("can be opened, with the same entries", async () => {
    const { path } = planted(name);
    const [plain, redacted] = ["plain", "redacted"].map((one) =>
      join(temporaryDirectory(), `${one}.jsonl`),
    );
    if (plain === undefined || redacted === undefined) throw new Error("no paths");
    await exportLinear(path, plain);
    await exportLinear(path, redacted, { redact: true });
    const [one, other] = await Promise.all(
      [plain, redacted].map((file) => openSession(file, { access: "read" })),
    );
    expect(other?.revision).toBe(one?.revision);
    const kindsOf = (session = one): readonly string[] =>
      session?.diagnostics.map(({ kind }) => kind) ?? [];
    expect(kindsOf(other)).toEqual(kindsOf(one));
  });
});

const header =
  '{"type":"session","version":3,"id":"01973400-0000-7000-8000-000000000099",' +
  '"timestamp":"2025-06-04T09:00:00.000Z","cwd":"/work"}\n';

function sessionOf(...messages: readonly object[]): string {
  const path = join(temporaryDirectory(), "session.jsonl");
  const lines = messages.map((message, place) => {
    const id = `5b2e9d0${place + 1}`;
    const parentId = place === 0 ? null : `5b2e9d0${place}`;
    const timestamp = "2025-06-04T09:00:01.000Z";
    return `${JSON.stringify({ type: "message", id, parentId, timestamp, message })}\n`;
  });
  writeFileSync(path, `${header}${lines.join("")}`);
  return path;
}

function user(text: string): object {
  return { role: "user", content: [{ type: "text", text }] };
}

const github = `ghp_${"aB3dE6gH9".repeat(4)}`;

describe("a redacted export", () => {
  it("gives the same secret the same marker, even without its name", async () => {
    const path = sessionOf(
      user("it was swordf1sh-and-more"),
      user(`export DB_PASSWORD=swordf1sh-and-more GH=${github}`),
      user(`${Buffer.from("x:swordf1sh-and-more").toString("base64")} ${github}`),
    );
    const text = await joined(linearPieces(path, { redact: true }));
    expect(text).toContain('"it was [redacted: secret-value 1]"');
    expect(text).toContain("export DB_PASSWORD=[redacted: secret-value 1] GH=[redacted: github");
    expect(text.match(/\[redacted: github-token 1\]/g)).toHaveLength(2);
    expect(secretsIn(text, ["swordf1sh-and-more", github])).toEqual([]);
  });

  it("finds a private key whose lines are separate strings", async () => {
    const lines = ["-----BEGIN PRIVATE KEY-----", "Ab3".repeat(21), "-----END PRIVATE KEY-----"];
    const path = sessionOf({ role: "custom", customType: "x", content: "", details: { lines } });
    const text = await joined(linearPieces(path, { redact: true }));
    expect(text).not.toContain("Ab3Ab3");
    expect(text).toContain('"role":"custom"');
  });

  it("has no secrets in the arguments of a call as a document, or in its shortened text", async () => {
    const key = `ghp_${"06A7b9Xq".repeat(5)}`;
    const calls = [
      { env: { A_TOKEN: "plainwords" }, b: "" },
      `{"env":{"A_TOKEN":"otherwords"}}`,
      { command: `${"x".repeat(37)} ${key}` },
    ].map((given, place) => ({ type: "toolCall", id: `c${place}`, name: "t", arguments: given }));
    const path = sessionOf(user("run it"), {
      role: "assistant",
      content: calls,
      api: "x",
      provider: "x",
      model: "x",
      usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 },
      stopReason: "toolUse",
      timestamp: 1,
    });
    const texts: string[] = [];
    for (const redact of [false, true]) {
      const document = join(temporaryDirectory(), "agent.yaml");
      await exportConnectonion(path, document, { redact });
      texts.push(readFileSync(document, "utf8"));
    }
    const secrets = ["plainwords", "otherwords", "ghp_06A7b9Xq"];
    expect(texts.map((text) => secretsIn(text, secrets))).toEqual([secrets, []]);
    expect(texts[1]).toMatch(/x \[redacted: github-token 1\]\.\.\./);
  });

  it("keeps numbers that exceed a double", async () => {
    const call = '{"type":"toolCall","id":"c","name":"t","arguments":{"n":12345678901234567890}}';
    const path = sessionOf(user("x"));
    const line = readFileSync(path, "utf8").replace('{"type":"text","text":"x"}', call);
    writeFileSync(path, line);
    for (const pieces of [linearPieces, markdownPieces]) {
      expect(await joined(pieces(path, { redact: true }))).toContain("12345678901234567890");
    }
  });

  it("reports replacements, and omits images", async () => {
    const data = Buffer.from("an image").toString("base64");
    const image = { type: "image", data, mimeType: "image/png" };
    const path = sessionOf(user(`${github} ${github}`), { role: "user", content: [image, image] });
    const redaction: RedactionReport = {
      secrets: 1,
      replaced: { "github-token": 2 },
      entries: 2,
      images: 2,
    };
    for (const write of [exportLinear, exportMarkdown]) {
      const target = join(temporaryDirectory(), "out");
      expect(await write(path, target, { redact: true })).toMatchObject({
        path: target,
        redaction,
      });
      const text = readFileSync(target, "utf8");
      expect(text).not.toContain(data);
      expect(text.match(/\[redacted: image\]/g)).toHaveLength(2);
    }
    const document = join(temporaryDirectory(), "a.yaml");
    const made = await exportConnectonion(path, document, { redact: true });
    expect(made.redaction).toMatchObject({ secrets: 1 });
    const target = join(temporaryDirectory(), "out");
    expect(await exportLinear(path, target)).not.toHaveProperty("redaction");
  });

  it("has a boolean option", async () => {
    // @ts-expect-error: not a boolean
    const pieces = linearPieces(sessionOf(user("x")), { redact: "no" });
    await expect(joined(pieces)).rejects.toMatchObject({ code: "ERR_INVALID_ARGUMENT" });
  });
});

describe("a redaction that fails", () => {
  const failure = { code: "ERR_REDACTION_FAILED" };

  /** Every way out, and that no byte leaves. */
  async function expectNothing(path: string, id?: string): Promise<void> {
    const facts = { ...failure, ...(id === undefined ? {} : { id }) };
    for (const pieces of [linearPieces, markdownPieces]) {
      const first = pieces(path, { redact: true }).next();
      await expect(first).rejects.toMatchObject({ ...facts, path });
    }
    for (const write of [exportLinear, exportMarkdown, exportConnectonion]) {
      const target = join(temporaryDirectory(), "target");
      await expect(write(path, target, { redact: true })).rejects.toMatchObject(failure);
      expect(existsSync(target)).toBe(false);
    }
  }

  it("writes nothing when the search fails", async () => {
    const path = sessionOf(user("one"), user(`two ${github}`));
    // Called for what a pattern matched.
    vi.spyOn(String.prototype, "lastIndexOf").mockImplementation(() => {
      throw new RangeError(`cannot search ${github}`);
    });
    await expectNothing(path, "5b2e9d02");
    const error: unknown = await joined(linearPieces(path, { redact: true })).catch(
      (reason: unknown) => reason,
    );
    expect(String(error)).not.toContain(github);
    expect(error).not.toHaveProperty("cause");
  });

  it("writes nothing when a text is over the limit", async () => {
    await expectNothing(sessionOf(user("x".repeat(33 * 1024 * 1024))));
  });

  it("writes nothing when a line is not UTF-8", async () => {
    const path = sessionOf(user("mark"));
    const bytes = readFileSync(path);
    bytes[bytes.indexOf("mark")] = 0xff;
    writeFileSync(path, bytes);
    const pieces = linearPieces(path, { redact: true });
    await expect(pieces.next()).rejects.toMatchObject(failure);
  });

  it("does not change an existing file", async () => {
    const target = join(temporaryDirectory(), "target");
    writeFileSync(target, "before");
    const path = sessionOf(user("x".repeat(33 * 1024 * 1024)));
    await expect(exportLinear(path, target, { redact: true })).rejects.toMatchObject({
      code: "ERR_LOG_EXISTS",
    });
    expect(readFileSync(target, "utf8")).toBe("before");
  });
});
