/** Sessions that another file holds, too: each is listed once, and hides no other one. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findSessions } from "@branchlog/library";
import { editorId, editorIn } from "../../agents/cursor/cursor-fixtures.ts";
import { header, jsonl, user } from "../catalog/session-lines.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

it("a session with the id `undefined` in a database hides no session of any agent", async () => {
  const root = temporaryDirectory();
  const renamed =
    "UPDATE cursorDiskKV SET key = replace(key, " +
    `'${editorId}', 'undefined'), ` +
    `value = replace(value, '${editorId}', 'undefined');`;
  const database = await editorIn(root, renamed);
  const directory = join(root, "sessions");
  mkdirSync(directory);
  writeFileSync(join(directory, "s.jsonl"), jsonl([header({ id: "of-pi" }), user("one")]));
  const { sessions } = await findSessions([database, directory], { catalog: "off" });
  const ids = sessions.map(({ header: { id } }) => id);
  expect(ids).toContain("undefined");
  expect(ids).toContain("of-pi");
});
