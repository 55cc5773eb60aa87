/** Evals, which ConnectOnion writes since 2026: their turns, and the messages of their runs. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { sessionTurns } from "@branchlog/agents/connectonion";
import { openSession } from "@branchlog/core";
import { findSessions, searchSessions } from "@branchlog/library";
import { collected } from "../../support/collected.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, spoken } from "../../tools/import/imported.ts";

interface Kept {
  readonly root: string;
  readonly path: string;
  readonly run: string;
}

function kept(): Kept {
  const root = temporaryDirectory();
  const names = ["count_the_carts.yaml", "count_the_carts/run_2.yaml"];
  const [path = "", run = ""] = names.map((name) => {
    const copy = join(root, ".co/evals", name);
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(fixturePath(`connectonion-eval/${name}`), copy);
    return copy;
  });
  return { root, path, run };
}

async function contextOf(path: string): Promise<readonly string[]> {
  const session = await openSession(path, { access: "read" });
  const { messages } = await session.context();
  await session.close();
  return spoken(messages);
}

const inputs = ["user: Count the carts", "user: And the orders?"];
const outputs = ["assistant: There are nine carts.", "assistant: Four orders."];

it("an eval is a session of its turns, with the messages of its last run", async () => {
  const { root, path } = kept();
  const said = await contextOf(path);
  expect(said).toHaveLength(6);
  expect(said.filter((line) => line.startsWith("user"))).toEqual(inputs);
  expect(said).toContain("toolResult: 9 of them, one abandoned");
  const { sessions } = await findSessions([root]);
  expect(sessions.map((one) => [one.header.cwd, one.usage?.total.totalTokens])).toEqual([
    [root, 852],
  ]);
  const hits = await collected(searchSessions([root], "abandoned"));
  expect(hits.map(({ entryId }) => entryId)).toEqual(["turn:1#2"]);
  const session = await openSession(path, { access: "read" });
  expect(await sessionTurns(session)).toMatchObject([
    { input: "Count the carts", result: "There are nine carts.", tokens: 812, cost: 0.0021 },
    { input: "And the orders?", result: "Four orders.", tokens: 40, duration_ms: 990 },
  ]);
});

it.each<readonly [string, (kept: Kept) => void]>([
  ["is gone", ({ run }) => rmSync(run)],
  ["is damaged", ({ run }) => writeFileSync(run, "messages: |\n  [{\n")],
  [
    "is of other turns",
    ({ run }) =>
      writeFileSync(run, readFileSync(run, "utf8").replace('"role": "user"', '"role": "system"')),
  ],
])("an eval whose run %s has the inputs and outputs of its turns", async (_what, change) => {
  const place = kept();
  change(place);
  expect(await contextOf(place.path)).toEqual([inputs[0], outputs[0], inputs[1], outputs[1]]);
});

it("a run is not a session by itself, also where its directory is named", async () => {
  const { run } = kept();
  expect((await findSessions([dirname(run)])).sessions).toEqual([]);
});
