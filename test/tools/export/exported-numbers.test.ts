/** Numbers that no double holds, in the arguments of calls that are exported. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exportConnectonion } from "@branchlog/agents/connectonion";
import { exportMarkdown } from "@branchlog/tools";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const given = '{"tweet_id":1852345678901234567,"e":[1e400,1.0],"s":"\\u0001\\"1e400"}';
const shown = '{"tweet_id":1852345678901234567,"e":[1e400,1],"s":"\\u0001\\"1e400"}';

/** A log in which one call is made, with these members after its name. */
function logWith(members: string): string {
  const entry = '"parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":';
  const path = join(temporaryDirectory(), "s.jsonl");
  const lines = [
    '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}',
    `{"type":"message","id":"a",${entry}{"role":"user","content":"hi","timestamp":1}}`,
    `{"type":"message","id":"b",${entry.replace("null", '"a"')}{"role":"assistant","content":[` +
      '{"type":"text","text":"I call."},' +
      `{"type":"toolCall","id":"c","name":"get",${members}},` +
      '{"type":"toolCall","id":"d","name":"got","arguments":{"n":2}}],' +
      '"provider":"p","model":"m","stopReason":"toolUse","timestamp":2}}',
  ];
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

const parsed = JSON.stringify(JSON.parse(given));
const stored = `"arguments":${given}`;
const kept = `"arguments":${parsed},"rawArguments":${JSON.stringify(given)}`;

describe("an argument that exceeds a double", () => {
  it.each([
    ["as it is stored", stored],
    ["as its text was kept", kept],
  ])("is in Markdown %s", async (_, members) => {
    const target = join(temporaryDirectory(), "s.md");
    await exportMarkdown(logWith(members), target);
    const text = readFileSync(target, "utf8");
    expect(text).toContain('"tweet_id": 1852345678901234567,');
    expect(text).toContain("1e400,");
    expect(text).toContain('"n": 2');
  });

  it.each([
    ["as it is stored", stored, shown],
    ["as its text was kept", kept, given],
  ])("is in a document of ConnectOnion %s", async (_, members, expected) => {
    const target = join(temporaryDirectory(), "s.yaml");
    await exportConnectonion(logWith(members), target);
    expect(readFileSync(target, "utf8")).toContain(`arguments: '${expected}'`);
    expect(readFileSync(target, "utf8")).toContain(`arguments: '{"n":2}'`);
  });

  it("is shown from the object when its text differs", async () => {
    const target = join(temporaryDirectory(), "s.md");
    await exportMarkdown(logWith('"arguments":{"a":5},"rawArguments":"{\\"a\\":1e400}"'), target);
    expect(readFileSync(target, "utf8")).toContain('"a": 5');
  });
});
