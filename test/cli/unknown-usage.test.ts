/** What lists say where an agent records no tokens, or a session was not read. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { listedJson } from "../../packages/cli/src/listed-json.ts";
import { header, user, writeLines } from "../library/catalog/session-lines.ts";
import { fixturePath } from "../tools/import/imported.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, jsonLines } from "./command-run.ts";

it("a list has null for tokens of Droid, which records no requests", async () => {
  const directory = temporaryDirectory();
  copyFileSync(fixturePath("droid/droid-0.215.0.jsonl"), join(directory, "droid.jsonl"));
  writeLines(directory, "asked.jsonl", [header({ id: "asked" }), user("one")]);
  const { out } = await branchlog(["list", directory, "--json"]);
  const none = { requests: null, tokens: null, input: null };
  const droid = { agent: "droid", ...none, models: ["custom:Fake-0"] };
  expect(jsonLines(out)).toContainEqual(expect.objectContaining(droid));
  // A session without answers took none.
  const asked = { agent: "pi", requests: 0, tokens: 0, input: 0, models: [] };
  expect(jsonLines(out)).toContainEqual(expect.objectContaining(asked));
});

it("a list has null for facts of an unread session that its row does not have", () => {
  const session = {
    path: "/home/dev/opencode.db#ses_1",
    header: {
      type: "session",
      version: 3,
      id: "ses_1",
      timestamp: "2026-01-05T09:00:00.000Z",
      cwd: "/w",
    },
    name: "Named",
    summary: { messageCount: undefined, firstMessage: undefined, lastActivityMs: undefined },
    dialect: "pi",
    modifiedMs: 0,
    sizeBytes: undefined,
  } as const;
  const none = { messageCount: null, sizeBytes: null, tokens: null, cost: null };
  const listed = { session, depth: 0, parent: undefined };
  expect(listedJson(listed)).toMatchObject({ name: "Named", ...none });
});
