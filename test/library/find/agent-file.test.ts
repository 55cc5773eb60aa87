/** What a list shows of a ConnectOnion file. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ListedDocument } from "@branchlog/library";
import { readAgent } from "../../../packages/library/src/find/agent-file.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

async function agentOf(...lines: readonly string[]): Promise<ListedDocument | undefined> {
  const path = join(temporaryDirectory(), "project", ".co", "sessions", "a.yaml");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return readAgent(path, undefined);
}

const dumped = [
  "name: oo",
  "created: '2025-12-03 10:12:44'",
  "updated: '2025-12-04 11:00:00'",
  "total_cost: 0.0523",
  "turns:",
  "- input: 'do - this",
  "",
  "    - and that'",
  "  result: |-",
  "    - one",
  "    - two",
  "  turn: 1",
  "- input: again",
  "  tools_called:",
  "  - run(command='ls')",
  "  turn: 2",
  "system_prompt: You are an agent.",
  "messages:",
  "  1:",
  "  - role: user",
];

describe("the file of an agent", () => {
  it("is listed with name, turns and time, as PyYAML writes it", async () => {
    const agent = await agentOf(...dumped);
    expect(agent).toMatchObject({ name: "oo", turnCount: 2, updated: "2025-12-04 11:00:00" });
    expect(agent?.modifiedMs).toBe(new Date(2025, 11, 4, 11).getTime());
    expect(agent?.cwd.endsWith("/project")).toBe(true);
    expect(agent?.sizeBytes).toBe(dumped.join("\n").length + 1);
  });

  it("is listed in the form of the document, whatever the order of its keys", async () => {
    const lines = [
      "# ==== Session ====",
      "turns:",
      "  # the turns",
      "  - turn: 1",
      "    input: |",
      "      - a list",
      "      name: not this",
      "",
      "  - turn: 10",
      "    tools_called:",
      "      - x()",
      'updated: ""',
      'name: "the \\"agent\\"" # quoted',
    ];
    expect(await agentOf(...lines)).toMatchObject({
      name: 'the "agent"',
      turnCount: 2,
      updated: undefined,
    });
  });

  it.each([
    ["without turns", ["name: it''s", "turns: []"], "it''s"],
    ["with a quoted name", ["name: 'it''s'", "turns: []"], "it's"],
    ["with a comment behind its name", ["name: a#b # c", "turns: []"], "a#b"],
    ["with an escape of YAML", ['name: "\\x41"', "turns: []"], "\\x41"],
  ])("may be one %s", async (_, lines, name) => {
    expect(await agentOf(...lines)).toMatchObject({ name, turnCount: 0 });
  });

  it.each([
    ["other YAML", ["version: 3", "services: {}"]],
    ["nothing", []],
    ["a name alone", ["name: x"]],
    ["text", ["turns are not here", "  name: x"]],
  ])("is none if it holds %s", async (_, lines) => {
    expect(await agentOf(...lines)).toBeUndefined();
  });

  it("is not read behind its turns", async () => {
    const agent = await agentOf(...dumped, "turns:", "- input: late");
    expect(agent?.turnCount).toBe(2);
  });
});
