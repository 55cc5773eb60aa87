/** `branchlog import` and `branchlog export`: what they say, what they write, how they end. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines } from "./command-run.ts";

const conversation = fixture("claude/conversation.jsonl");

describe("branchlog import", () => {
  it("import writes a session and reports the counts of lines", async () => {
    const output = join(temporaryDirectory(), "new.jsonl");
    const { code, out, err } = await branchlog(["import", conversation, "-o", output]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^\/.*new\.jsonl\nsession {4}\S+, from claude\nentries {4}\d+\n/);
    expect(out).toContain("imported   14 of 23 lines\n");
    expect((await branchlog(["verify", output])).code).toBe(0);
  });

  it("import lists its findings, cleaned", async () => {
    const output = join(temporaryDirectory(), "new.jsonl");
    const source = fixture("claude/damaged.jsonl");
    const { out } = await branchlog(["import", source, "-o", output, "--from", "claude"]);
    expect(out).toContain("skipped    ");
    expect(out).toMatch(/^line 5: bad-line, not-json$/m);
    expect(out).not.toContain("\u0000");
  });

  it("import --json reports the same", async () => {
    const output = join(temporaryDirectory(), "new.jsonl");
    const { out } = await branchlog(["import", conversation, "-o", output, "--json"]);
    expect(jsonLines(out)).toMatchObject([
      { kind: "claude", path: output, lines: 23, imported: 14, skipped: { progress: 1 } },
    ]);
  });

  it.each([
    ["no -o", ["import", conversation], "Specify the output: -o FILE"],
    ["standard output", ["import", conversation, "-o", "-"], "Specify the output"],
    ["an agent that is not known", ["import", conversation, "-o", "x", "--from", "y"], "y"],
    ["one word too many", ["import", conversation, "more", "-o", "x"], "more"],
  ])("rejects %s", async (_what, words, message) => {
    const { code, err, out } = await branchlog(words);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
  });

  it("import fails when the target exists, or the source is another agent's session", async () => {
    const output = join(temporaryDirectory(), "new.jsonl");
    await branchlog(["import", conversation, "-o", output]);
    const before = readFileSync(output);
    const again = await branchlog(["import", conversation, "-o", output]);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining("ERR_LOG_EXISTS")]);
    expect(readFileSync(output)).toEqual(before);
    const other = await branchlog(["import", conversation, "-o", `${output}2`, "--from", "codex"]);
    expect([other.code, other.err]).toEqual([1, expect.stringContaining("ERR_NOT_A_SESSION")]);
    expect(existsSync(`${output}2`)).toBe(false);
  });
});

describe("branchlog export", () => {
  const source = fixture("pi-branches.jsonl");

  it.each([[[]], [["-o", "-"]]])("prints Markdown with %j", async (more) => {
    const words = ["export", source, "--to", "markdown", "--at", "5b2e9d06", ...more];
    const { code, out, err } = await branchlog(words);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^# Session \S+\n/);
    expect(out).toMatch(/\n## \d · Measure it\.\n\n\*2025-06-04 09:00:09Z\*\n/);
  });

  it("writes a linear session", async () => {
    const output = join(temporaryDirectory(), "linear.jsonl");
    const words = ["export", source, "--to", "pi", "--at", "5b2e9d06", "-o", output];
    const { code, out } = await branchlog(words);
    const { length } = readFileSync(output);
    expect([code, out]).toEqual([0, `wrote ${output}, ${length.toLocaleString("en-US")} bytes\n`]);
    const shown = await branchlog(["context", output]);
    expect(shown.out).toBe((await branchlog(["context", source, "--at", "5b2e9d06"])).out);
    const printed = await branchlog(["export", source, "--to", "pi", "--at", "5b2e9d06"]);
    expect(printed.out).toBe(readFileSync(output, "utf8"));
  });

  it.each([
    ["a form that is not known", ["export", source, "--to", "word"], "word"],
    ["--json on standard output", ["export", source, "--to", "pi", "--json"], "--json needs -o"],
  ])("rejects %s", async (_what, words, message) => {
    const { code, err } = await branchlog(words);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  describe("with --redact", () => {
    const secret = "q7w8e9r0tyui";

    async function withSecret(): Promise<string> {
      const path = join(temporaryDirectory(), "secret.jsonl");
      writeFileSync(path, readFileSync(fixture("pi-linear.jsonl")));
      await branchlog(["append", path, "--user", `API_TOKEN=${secret} and ${secret}`]);
      return path;
    }

    const said = "redacted   1 secret in 1 entry, secret-value 2\n";

    it.each(["markdown", "pi"])(
      "prints %s without the secret, and reports replacements",
      async (to) => {
        const path = await withSecret();
        const { code, out, err } = await branchlog(["export", path, "--to", to, "--redact"]);
        expect([code, err]).toEqual([0, said]);
        expect(out).toContain(
          "API_TOKEN=[redacted: secret-value 1] and [redacted: secret-value 1]",
        );
        expect(out).not.toContain(secret);
      },
    );

    it.each(["a.md", "a.jsonl", "a.yaml"])("writes %s, and reports the same", async (name) => {
      const path = await withSecret();
      const output = join(temporaryDirectory(), name);
      const { out } = await branchlog(["export", path, "--redact", "-o", output]);
      expect(out).toMatch(/^redacted {3}1 secret in 1 entry, secret-value \d\n/m);
      expect(readFileSync(output, "utf8")).not.toContain(secret);
      const other = join(temporaryDirectory(), name);
      const json = await branchlog(["export", path, "--redact", "-o", other, "--json"]);
      expect(jsonLines(json.out)).toMatchObject([
        { redaction: { secrets: 1, entries: 1, images: 0 } },
      ]);
      expect(json.out).not.toContain(secret);
    });

    it("prints and writes nothing when a part cannot be searched", async () => {
      const path = await withSecret();
      const bytes = readFileSync(path);
      bytes[bytes.indexOf("Fix the login test")] = 0xff;
      writeFileSync(path, bytes);
      const output = join(temporaryDirectory(), "a.jsonl");
      for (const words of [
        ["--to", "pi"],
        ["-o", output],
      ]) {
        const { code, out, err } = await branchlog(["export", path, "--redact", ...words]);
        expect([code, out]).toEqual([1, ""]);
        expect(err).toContain("ERR_REDACTION_FAILED");
      }
      expect(existsSync(output)).toBe(false);
    });
  });
});
