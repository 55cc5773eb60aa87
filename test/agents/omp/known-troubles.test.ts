/**
 * What users of omp lost to its session layer, and do not lose here: each a case that was observed
 * with a published version of it.
 */
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { live } from "@branchlog/core/live";
import { SessionManager } from "@branchlog/agents/omp";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { answer, say } from "./managers.ts";

/** A session on disk with four messages. */
function conversation(): { readonly manager: SessionManager; readonly path: string } {
  const manager = SessionManager.create("/work", temporaryDirectory());
  for (const [at, text] of ["one", "two", "three", "four"].entries()) {
    if (at % 2 === 0) say(manager, text);
    else answer(manager, text);
  }
  return { manager, path: manager.getSessionFile() ?? "" };
}

const texts = (manager: SessionManager): number => manager.buildSessionContext().messages.length;

describe("a session of omp", () => {
  it("keeps its order and its branch when it is renamed in the middle of a turn", async () => {
    const { manager, path } = conversation();
    const naming = manager.setSessionName("named", "user");
    say(manager, "five");
    const last = answer(manager, "six");
    await naming;
    const again = await SessionManager.open(path);
    expect(again.getLeafId()).toBe(last);
    expect(texts(again)).toBe(6);
    const ids = again.getEntries().map(({ id }) => id);
    const seen = new Set<string | null>([null]);
    for (const { id, parentId } of again.getEntries()) {
      expect(seen.has(parentId)).toBe(true);
      seen.add(id);
    }
    expect(ids).toHaveLength(7);
  });

  it("is where an empty summary was left, also when it is opened again", async () => {
    const { manager, path } = conversation();
    const [first] = manager.getEntries();
    const mark = manager.branchWithSummary(first?.id ?? null, "");
    const again = await SessionManager.open(path);
    expect([again.getLeafId(), texts(again)]).toEqual([mark, 1]);
  });

  it("says where its history breaks off when a record is lost, and keeps the bytes", async () => {
    const { path } = conversation();
    const lines = readFileSync(path, "utf8").split("\n");
    const damaged = lines[2]?.slice(0, 40) ?? "";
    writeFileSync(path, lines.with(2, damaged).join("\n"));
    const manager = await SessionManager.open(path);
    const kinds = manager.getDiagnostics().map(({ kind }) => kind);
    expect(kinds).toContain("bad-line");
    expect(kinds).toContain("missing-parent");
    say(manager, "five");
    expect(readFileSync(path, "utf8").split("\n")[2]).toBe(damaged);
  });

  it("loses no entry where the last line has no newline", async () => {
    const { path } = conversation();
    writeFileSync(path, readFileSync(path, "utf8").trimEnd());
    const manager = await SessionManager.open(path);
    say(manager, "five");
    expect(texts(await SessionManager.open(path))).toBe(5);
  });

  it.each(["null", "5", '"text"', "[]", "{}"])("opens where a line is %s", async (line) => {
    const { path } = conversation();
    appendFileSync(path, `${line}\n`);
    const manager = await SessionManager.open(path);
    expect(texts(manager)).toBe(4);
    say(manager, "five");
    expect(texts(await SessionManager.open(path))).toBe(5);
  });

  it("opens with a byte-order mark, however long it is", async () => {
    const { path } = conversation();
    writeFileSync(path, `\uFEFF${readFileSync(path, "utf8")}`);
    expect(texts(await SessionManager.open(path))).toBe(4);
  });

  it("keeps its header when it is renamed without a title slot", async () => {
    const { manager, path } = conversation();
    const [header] = readFileSync(path, "utf8").split("\n");
    await manager.setSessionName("named", "user");
    expect(readFileSync(path, "utf8").split("\n")[0]).toBe(header);
    expect((await SessionManager.open(path)).getSessionName()).toBe("named");
  });

  it("of version 1 has the same ids each time it is opened", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "old.jsonl");
    copyFileSync(fileURLToPath(new URL("../../../fixtures/pi-v1.jsonl", import.meta.url)), path);
    const idsOf = async (): Promise<string[]> =>
      (await SessionManager.open(path)).getEntries().map(({ id }) => id);
    const ids = await idsOf();
    expect(ids.length).toBeGreaterThan(0);
    expect(await idsOf()).toEqual(ids);
    say(await SessionManager.open(path), "migrates it");
    expect((await idsOf()).slice(0, ids.length)).toEqual(ids);
  });

  it("gives the model after it was opened again what it gave it before", async () => {
    const { manager, path } = conversation();
    const long = "x".repeat(600_000);
    manager.appendMessage({ role: "user", content: long, timestamp: 1 });
    const signed = { type: "thinking" as const, thinking: "t", thinkingSignature: "s" };
    manager.appendCustomMessageEntry("ext", long, false, { signed });
    const again = await SessionManager.open(path);
    expect(again.buildSessionContext()).toEqual(manager.buildSessionContext());
  });

  it("is saved whole by two managers that append to it by turns", async () => {
    const { manager, path } = conversation();
    const other = await SessionManager.open(path);
    for (let at = 0; at < 5; at += 1) {
      say(manager, `mine ${at}`);
      say(other, `theirs ${at}`);
    }
    const again = await SessionManager.open(path);
    expect(again.getEntries()).toHaveLength(14);
    expect(again.getTree()).toHaveLength(1);
    expect([texts(manager), texts(other)]).toEqual([9, 9]);
  });

  it("shows appends of other processes to subscribers", async () => {
    const { manager, path } = conversation();
    const counts: number[] = [];
    let stop = (): void => undefined;
    const seen = new Promise<void>((resolve) => {
      const watching = live(manager).tips$.subscribe(({ revision }) => {
        counts.push(revision);
        if (revision === 5) resolve();
      });
      stop = () => watching.unsubscribe();
    });
    say(await SessionManager.open(path), "elsewhere");
    await seen;
    stop();
    expect(counts.at(0)).toBe(4);
    expect(counts.at(-1)).toBe(5);
  });

  it("ends every walk where entries are their own ancestors", async () => {
    const path = join(temporaryDirectory(), "cycle.jsonl");
    copyFileSync(
      fileURLToPath(new URL("../../../fixtures/pi-cycles.jsonl", import.meta.url)),
      path,
    );
    const manager = await SessionManager.open(path);
    expect(manager.getBranch().length).toBeGreaterThan(0);
    expect(manager.getTree().length).toBeGreaterThan(0);
    expect(manager.buildSessionContext().mode).toBe("none");
  });
});
