/** What the reading commands choose: entries, messages, branches; and what they cost. */
import { copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeSessionFile } from "@branchlog/bench/generator";
import { runs } from "../support/fault-seed.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines, MemoryOutput, onTerminal } from "./command-run.ts";

const realistic = fixture("realistic-session.jsonl");

async function json<T>(...words: string[]): Promise<T[]> {
  const { code, out } = await branchlog([...words, "--json"]);
  expect(code).toBe(0);
  // What the command printed as JSON.
  return jsonLines(out) as T[];
}

interface Entry {
  readonly id: string;
  readonly parentId: string | null;
  readonly type: string;
  readonly customType?: string;
}

describe("entries", () => {
  it("are chosen by type, extension, revision, branch, order and number", async () => {
    const all = await json<Entry>("entries", realistic);
    const ids = (entries: readonly Entry[]): string[] => entries.map(({ id }) => id);
    const chosen = async (...words: string[]): Promise<string[]> =>
      ids(await json<Entry>("entries", realistic, ...words));

    expect(all).toHaveLength(344);
    const labels = all.filter(({ type }) => type === "label");
    expect(await chosen("--type", "label")).toEqual(ids(labels));
    const boards = all.filter(({ customType }) => customType === "kanban.board");
    expect(await chosen("--custom-type", "kanban.board")).toEqual(ids(boards));
    expect(await chosen("--from", "340")).toEqual(ids(all.slice(339)));
    expect(await chosen("--reverse", "--limit", "3")).toEqual(ids(all.slice(-3).toReversed()));
    expect(await chosen("--limit", "0")).toEqual([]);
    expect(await chosen("--from", "999")).toEqual([]);

    const branch = await json<Entry>("entries", realistic, "--on", "branch");
    expect(branch.at(-1)?.id).toBe(all.at(-1)?.id);
    for (const [i, { parentId }] of branch.entries()) {
      expect(parentId).toBe(i === 0 ? null : branch[i - 1]?.id);
    }
  });

  it("report a type without entries, with the nearest existing one", async () => {
    const misspelt = await branchlog(["entries", realistic, "--type", "mesage"]);
    const err = "no entries have the type mesage. Did you mean message?\n";
    expect(misspelt).toEqual({ code: 0, out: "", err });
    const board = await branchlog(["entries", realistic, "--custom-type", "kanban.bord"]);
    expect(board.err).toMatch(
      /^no entries have the custom type kanban\.bord\. Did you mean kanban\.board\?\n$/,
    );
    const none = await branchlog(["entries", realistic, "--type", "label", "--from", "999"]);
    expect(none).toEqual({ code: 0, out: "", err: "" });
  });
});

describe("tree", () => {
  it("marks the leaf, fits the columns, and hides deep levels", async () => {
    const { out } = await onTerminal(["tree", realistic], { columns: 80 });
    expect(out.match(/← leaf/g)).toHaveLength(1);
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
    const shallow = await onTerminal(["tree", realistic, "--depth", "0"]);
    expect(shallow.out).not.toContain("├─●");
    expect(shallow.out).toMatch(/^├─⋯ 3 branches, \d+ entries$/m);
  });

  it("of a long chain is three lines, or all of them. Verifies: P18", async () => {
    const path = join(temporaryDirectory(), "deep.jsonl");
    const entries = runs(20_000, 100_000);
    writeSessionFile(path, { shape: "chain", entries });
    const short = await onTerminal(["tree", path]);
    expect(short.out).toContain(`⋮ ${(entries - 2).toLocaleString("en")} entries\n◉ `);
    const { out } = await branchlog(["tree", path, "--json"]);
    expect(out.split("\n")).toHaveLength(entries + 1);
  });

  it("tree has colours on a terminal that has them", async () => {
    const out = new MemoryOutput({ isTerminal: true, hasColours: true });
    await branchlog(["tree", fixture("pi-branches.jsonl")], { out });
    expect(out.text).toContain("\u001B[36muser\u001B[39m");
  });
});

describe("context", () => {
  interface Context {
    readonly messages: readonly { readonly role: string }[];
    readonly thinkingLevel: string;
    readonly model: unknown;
    readonly truncatedAt?: string;
  }

  it("is one object as JSON, under pi's names", async () => {
    const [context] = await json<Context>("context", realistic);
    expect(Object.keys(context ?? {})).toEqual(["messages", "thinkingLevel", "model"]);
    expect(context?.messages).toHaveLength(32);
    const [end] = await json<Context>("context", realistic, "--last", "2");
    expect(end?.messages).toEqual(context?.messages.slice(-2));
  });

  it("context reports where its path is incomplete", async () => {
    const file = fixture("pi-missing-parents.jsonl");
    const words = ["context", file, "--at", "c2d30006"];
    const [context] = await json<Context>(...words);
    expect(context?.truncatedAt).toBe("deadbeef");
    expect((await branchlog(words)).out).toContain("the log has no entry deadbeef");
  });
});

it("info reports the cost of opening: every byte read, few lines parsed", async () => {
  const copy = join(temporaryDirectory(), "session.jsonl");
  copyFileSync(realistic, copy);
  interface Info {
    readonly opening: { readonly bytesRead: number; readonly linesParsed: number };
  }
  const [info] = await json<Info>("info", copy);
  const { size } = statSync(copy);
  expect(info?.opening.bytesRead).toBeGreaterThanOrEqual(size);
  expect(info?.opening.bytesRead).toBeLessThan(size * 1.5);
  expect(info?.opening.linesParsed).toBeGreaterThan(0);
  expect(info?.opening.linesParsed).toBeLessThan(100);
});

it("info lists the last of many tips and labels", async () => {
  const { out } = await onTerminal(["info", realistic]);
  expect(out).toContain("branches   12, the last 8 of them:\n");
  expect(out).toMatch(/32d151a0 .* toolResult ← leaf\n/);
});
