/** Files of agents that were copied into a directory of the user. */
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { archiveSessions } from "@branchlog/library";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { chatId, chatIn, chatMessages, chatOf } from "./cursor/cursor-fixtures.ts";
import { fixturePath, listedIn } from "./read-session.ts";

/** Each in the layout of its agent, but for the name of the session's directory. */
const copies = [
  ["a transcript of Cursor", "shop/shop.jsonl", "cursor/transcript-2026-07.jsonl"],
  ["events of Copilot CLI", "shop/events.jsonl", "copilot/copilot-1.0.102.jsonl"],
  ["a wire file of Kimi Code", "shop/agents/main/wire.jsonl", "kimi/kimi-2.1.0.jsonl"],
] as const;

/** Archives a session, and returns which files of the user are left next to it. */
async function leftAfterArchive(path: string, directory: string): Promise<readonly boolean[]> {
  const others = [join(directory, "thesis.txt"), join(directory, "code", "main.c")];
  for (const other of others) {
    mkdirSync(dirname(other), { recursive: true });
    writeFileSync(other, "of the user");
  }
  const options = { dataDir: temporaryDirectory(), force: true };
  expect((await archiveSessions([path], options)).failures).toEqual([]);
  expect(existsSync(path)).toBe(false);
  return others.map((other) => existsSync(other));
}

describe("the archive of a copied file takes no other file of its directory", () => {
  it.each(copies)("of %s", async (_, place, fixture) => {
    const root = temporaryDirectory();
    const path = join(root, place);
    mkdirSync(dirname(path), { recursive: true });
    cpSync(fixturePath(fixture), path);
    expect(await leftAfterArchive(path, join(root, "shop"))).toEqual([true, true]);
  });

  it("of a chat of Cursor, which keeps its id", async () => {
    const home = temporaryDirectory();
    const path = join(home, "backup", "store.db");
    mkdirSync(dirname(path));
    cpSync(await chatIn(home, ...chatOf(chatMessages)), path);
    expect((await listedIn(path)).map(({ header }) => header.id)).toEqual([chatId]);
    expect(await leftAfterArchive(path, dirname(path))).toEqual([true, true]);
  });
});
