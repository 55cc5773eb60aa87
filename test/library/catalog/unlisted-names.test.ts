/** Files and directories whose names are not UTF-8: they cannot be opened, and are not kept silent. */
import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { findSessions, searchSessions } from "@branchlog/library";
import { sessions$ } from "@branchlog/library/live";
import type { LiveSessions } from "@branchlog/library/live";
import { SessionManager } from "@branchlog/agents/pi";
import { branchlog, jsonLines, MemoryOutput } from "../../cli/command-run.ts";
import { header, jsonl, user, writeLines } from "./session-lines.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const session = jsonl([header({ id: "odd" }), user("a needle")]);
/** What Node makes of the byte 0xFF. */
const odd = "\u{fffd}";

let directory = "";
let unlisted: readonly string[] = [];

/** A path in the directory that ends in a byte that is not UTF-8, and what follows. */
function oddPath(beginning: string, end: string): Buffer {
  const bytes = Buffer.from([0xff]);
  return Buffer.concat([Buffer.from(join(directory, beginning)), bytes, Buffer.from(end)]);
}

beforeEach(() => {
  directory = temporaryDirectory();
  writeLines(directory, "plain.jsonl", [header({ id: "plain" }), user("a needle")]);
  // A name that holds the very character.
  writeLines(directory, `real-${odd}.jsonl`, [header({ id: "real" }), user("a needle")]);
  writeFileSync(oddPath("file-", ".jsonl"), session);
  mkdirSync(oddPath("directory-", ""));
  writeFileSync(oddPath("directory-", "/s.jsonl"), session);
  unlisted = [`directory-${odd}`, `file-${odd}.jsonl`].map((name) => join(directory, name));
});

async function currentOf(): Promise<LiveSessions> {
  let end = (): void => {};
  const current = await new Promise<LiveSessions>((resolve) => {
    const subscription = sessions$(directory, { subdirectories: true }).subscribe((list) => {
      if (list.status.kind === "live") resolve(list);
    });
    end = () => subscription.unsubscribe();
  });
  end();
  return current;
}

describe("a name that is not UTF-8", () => {
  it("is reported by every list, with all other files", async () => {
    const found = await findSessions([directory]);
    expect(found.sessions.map(({ header: { id } }) => id).toSorted()).toEqual(["plain", "real"]);
    expect(found.unlisted).toEqual(unlisted);
    const live = await currentOf();
    expect(live.sessions).toHaveLength(2);
    expect(live.unlisted.toSorted()).toEqual(unlisted);
    const told: string[] = [];
    const options = { onUnlisted: (path: string) => told.push(path) };
    const hits: string[] = [];
    for await (const hit of searchSessions(directory, "needle", options)) hits.push(hit.header.id);
    expect(hits.toSorted()).toEqual(["plain", "real"]);
    expect(told.toSorted()).toEqual(unlisted);
    // The type of pi's list has no place for it.
    expect(await SessionManager.list("/work", directory)).toHaveLength(2);
  });

  it("is no longer reported after the file was renamed", async () => {
    const [file, below] = [oddPath("file-", ".jsonl"), oddPath("directory-", "")];
    renameSync(file, join(directory, "renamed.jsonl"));
    renameSync(below, join(directory, "other"));
    const { sessions, unlisted: left } = await findSessions([directory]);
    expect([sessions.length, left]).toEqual([4, []]);
    expect(readdirSync(directory)).not.toContain(`file-${odd}.jsonl`);
  });

  it("is reported by the commands that list and search, on separate lines", async () => {
    for (const words of [
      ["list", directory],
      ["search", "needle", directory],
    ]) {
      const { code, out, err } = await branchlog(words);
      expect([code, out.includes("needle")]).toEqual([0, true]);
      const lines = err.trimEnd().split("\n");
      expect(lines.toSorted()).toEqual(
        unlisted.map((path) => `skipped: ${path} (its name is not UTF-8: rename it)`),
      );
      const json = jsonLines((await branchlog([...words, "--json"])).out);
      const said = json.filter((line) => (line as { kind: string }).kind === "unlisted");
      expect(said).toHaveLength(2);
      expect(said).toEqual(
        expect.arrayContaining(unlisted.map((path) => ({ kind: "unlisted", path }))),
      );
    }
  });

  it("is reported once by the command that watches", async () => {
    const ending = new AbortController();
    const err = new MemoryOutput({
      onWrite: (text) => {
        if (text.includes("watching")) ending.abort();
      },
    });
    const words = ["watch", directory, "--recursive"];
    expect((await branchlog(words, { signal: ending.signal, err })).code).toBe(130);
    const lines = err.text.split("\n").filter((line) => line.startsWith("skipped"));
    expect(lines).toHaveLength(2);
  });
});
