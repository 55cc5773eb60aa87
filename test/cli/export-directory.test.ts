/** `branchlog export DIRECTORY`: each session once, whatever the others are. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog } from "./command-run.ts";

const end = Buffer.from(".jsonl");
const time = "2026-01-01T00:00:00.000Z";

function session(directory: string, name: string, id: string, text: string): void {
  const message = { role: "user", content: text, timestamp: 1 };
  const lines = [
    { type: "session", version: 3, id, timestamp: time, cwd: "/a" },
    { type: "message", id: "a", parentId: null, timestamp: time, message },
  ];
  const written = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(directory, name), written);
}

function texts(directory: string): readonly string[] {
  const names = readdirSync(directory);
  return names.map(
    (name) => /text \w+/.exec(readFileSync(join(directory, name), "utf8"))?.[0] ?? "",
  );
}

it("export of a directory exports copies and long ids, also those that are added later", async () => {
  const [directory, out] = [temporaryDirectory(), join(temporaryDirectory(), "out")];
  mkdirSync(directory, { recursive: true });
  session(directory, "b.jsonl", "same", "text one");
  session(directory, "c.jsonl", "Same", "text two");
  session(directory, "d.jsonl", "same-2", "text three");
  session(directory, "long.jsonl", "x".repeat(300), "text four");
  // Its name is not UTF-8, so that it cannot be requested.
  writeFileSync(Buffer.concat([Buffer.from(join(directory, "x")), Buffer.from([0xff]), end]), "");
  const words = ["export", directory, "--to", "hf", "-o", out];
  const first = await branchlog(words);
  expect([first.code, first.out]).toEqual([0, expect.stringContaining("4 sessions")]);
  expect(first.out).toContain("1 cannot be listed");
  expect(texts(out).toSorted()).toEqual(["text four", "text one", "text three", "text two"]);
  session(directory, "a.jsonl", "same", "text five");
  await branchlog(words);
  expect(texts(out)).toContain("text five");
});

it("export of a directory skips a session that is nested too deeply, and exports the others", async () => {
  const [directory, out] = [temporaryDirectory(), join(temporaryDirectory(), "out")];
  session(directory, "a.jsonl", "one", "text one");
  session(directory, "b.jsonl", "two", "DEEP");
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const path = join(directory, "b.jsonl");
  writeFileSync(path, readFileSync(path, "utf8").replace('"DEEP"', `"","more":${deep}`));
  for (const to of ["atif", "hf", "html", "markdown"]) {
    const { code, err } = await branchlog(["export", directory, "--to", to, "-o", join(out, to)]);
    if (code === 1) expect(err).toContain("skipped: ");
    expect(texts(join(out, to))).toContain("text one");
  }
});
