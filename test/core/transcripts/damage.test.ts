/** Damage that transcripts have in the field: it hides no good record, and `verify` lists it. */
import { appendFileSync, copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findSessions, searchSessions } from "@branchlog/library";
import { openSession } from "@branchlog/core";
import { verifySession } from "@branchlog/tools";
import { fixturePath, importedFile, spoken } from "../../tools/import/imported.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** The texts of each fixture. */
const said = [
  "Where is the price rounded?",
  "In cart.ts.",
  "Round it once.",
  "Done: it is rounded in total().",
];

const damage: readonly (readonly [name: string, findings: readonly string[]])[] = [
  ["claude-byte-order-mark", ["byte-order-mark"]],
  ["claude-missing-newline", ["not-json"]],
  ["claude-nul-end", ["nul-bytes"]],
  ["claude-nul-run", ["nul-bytes"]],
  ["claude-partial-then-whole", ["torn"]],
  ["claude-repeated", ["duplicate-id"]],
  ["claude-separators", []],
  ["claude-spliced", ["not-json"]],
  ["codex-byte-order-mark", ["byte-order-mark"]],
  ["codex-nul-end", ["nul-bytes"]],
  ["codex-nul-run", ["nul-bytes"]],
  ["codex-partial-then-whole", ["torn"]],
  ["codex-repeated-ordinals", ["duplicate-id"]],
  ["codex-spliced", ["not-json"]],
];

function pathOf(name: string): string {
  return fixturePath(`transcripts/${name}.jsonl`);
}

async function textsOf(path: string): Promise<string[]> {
  const session = await openSession(path, { access: "read" });
  const texts = spoken((await session.context()).messages);
  return texts.map((text) => text.replaceAll("\u2028", " "));
}

it("has a test for each fixture", () => {
  const files = readdirSync(fixturePath("transcripts"), { withFileTypes: true });
  const names = files.filter((file) => file.isFile()).map(({ name }) => name.replace(".jsonl", ""));
  expect(names.toSorted()).toEqual(damage.map(([name]) => name).toSorted());
});

describe.each(damage)("the transcript %s", (name, findings) => {
  it("has every complete record, in place, in lists and in searches", async () => {
    const texts = await textsOf(pathOf(name));
    for (const text of said) expect(texts.join("\n")).toContain(text);
    const directory = temporaryDirectory();
    const path = join(directory, "s.jsonl");
    copyFileSync(pathOf(name), path);
    const { sessions } = await findSessions([directory]);
    expect(sessions[0]?.summary.messageCount).toBe(said.length);
    for (const query of ["rounded?", "cart.ts", "once", "Done"]) {
      const hits = [];
      for await (const hit of searchSessions(path, query)) hits.push(hit);
      expect(hits, query).toHaveLength(1);
      const session = await openSession(path, { access: "read" });
      expect(await session.entry(hits[0]?.entryId ?? "")).toBeDefined();
    }
  });

  it("is listed by verify", async () => {
    const session = await openSession(pathOf(name), { access: "read" });
    const report = await verifySession(session);
    expect(report.findings.map(({ kind }) => kind)).toEqual(findings);
  });
});

it("a damaged session is not a transcript because of its damaged lines", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  const [head = "", ...entries] = readFileSync(fixturePath("pi-linear.jsonl"), "utf8").split("\n");
  const quoted = JSON.stringify({ type: "user", sessionId: "c1", uuid: "u1", message: {} });
  writeFileSync(path, [`{"type":"sess ${quoted}`, head, ...entries].join("\n"));
  const session = await openSession(path);
  expect(session.transcriptOf).toBeUndefined();
  expect(session.revision).toBe((await openSession(fixturePath("pi-linear.jsonl"))).revision);
  const [listed] = (await findSessions([join(path, "..")])).sessions;
  expect(listed?.transcript).toBeUndefined();
});

describe.each(["claude-repeated", "codex-repeated-ordinals"])("at the head of %s", (name) => {
  const [first = "", second = "", ...rest] = readFileSync(pathOf(name), "utf8").split("\n");
  /** What a search finds, what can be opened of that, and what a list counts. */
  const seenIn = async (lines: readonly string[]): Promise<readonly (number | undefined)[]> => {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, lines.join("\n"));
    const [listed] = (await findSessions([join(path, "..")])).sessions;
    const session = await openSession(path, { access: "read" }).catch(() => undefined);
    const found: string[] = [];
    for await (const { entryId } of searchSessions(path, "round")) found.push(entryId);
    const opened = await Promise.all(
      found.map(async (id) => session?.entry(id).catch(() => undefined)),
    );
    const messages = session && (await session.context()).messages.length;
    const there = opened.filter((entry) => entry !== undefined);
    return [listed?.summary.messageCount, messages, found.length, there.length];
  };

  it.each<readonly [name: string, damaged: readonly string[]]>([
    ["two records on a line", [`${first}${second}`]],
    ["a part of one before another", [`${first.slice(0, 50)}${first}`, second]],
    ["NUL bytes before a record", [`${"\0".repeat(512)}${first}`, second]],
    ["damaged lines of another kind, and both", ["{]", `${first}${second.slice(0, 60)}`, second]],
  ])(
    "complete records in damaged lines are read in place as in lists: %s",
    async (_what, damaged) => {
      const seen = await seenIn([...damaged, ...rest]);
      expect(seen).toEqual(await seenIn([first, second, ...rest]));
      expect(seen.every((count) => count !== undefined && count > 0)).toBe(true);
      expect(seen[3]).toBe(seen[2]);
    },
  );

  it("damaged lines alone are not a transcript, for opening, lists and searches", async () => {
    const damaged = [first, second, ...rest].filter(Boolean).map((line) => `{]${line}`);
    expect(await seenIn(damaged)).toEqual([undefined, undefined, 0, 0]);
  });

  it("the start of a record of the other agent does not identify it", async () => {
    const other = name.startsWith("claude") ? "codex-spliced" : "claude-repeated";
    const torn = readFileSync(pathOf(other), "utf8").slice(0, 120);
    expect(await seenIn([torn, first, second, ...rest])).toEqual(
      await seenIn([first, second, ...rest]),
    );
  });
});

it.each(["versions/codex-0.65", "versions/codex-0.23"])(
  "the rollout %s is read without its first record, as it is imported",
  async (name) => {
    const id = "019aed65-0000-7000-8000-00000000000f";
    const path = join(temporaryDirectory(), `rollout-2025-12-05T09-00-00-${id}.jsonl`);
    const text = readFileSync(pathOf(name), "utf8");
    writeFileSync(path, text.slice(40));
    const session = await openSession(path, { access: "read" });
    expect(session.header).toMatchObject({ id, cwd: "/home/dev/site" });
    const { session: imported } = await importedFile(path);
    expect(imported.header).toMatchObject(session.header);
    const { messages } = await session.context();
    expect(spoken(messages)).toEqual(spoken((await imported.context()).messages));
    const [listed] = (await findSessions([join(path, "..")])).sessions;
    expect(listed?.header).toEqual(session.header);
  },
);

describe("a transcript", () => {
  it("has all records around a line of 12 MB, and that line", async () => {
    const lines = readFileSync(pathOf("claude-repeated"), "utf8").trimEnd().split("\n");
    const long = "x".repeat(12 * 1024 * 1024);
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, `${lines.join("\n").replace("Round it once.", long)}\n`);
    const texts = (await textsOf(path)).join("\n");
    for (const text of [said[0], said[1], said[3], long])
      expect(texts.includes(text ?? "")).toBe(true);
  });

  it("that is rewritten while it is open is read again", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const lines = readFileSync(pathOf("codex-repeated-ordinals"), "utf8").trimEnd().split("\n");
    writeFileSync(path, `${lines.join("\n")}\n`);
    const session = await openSession(path, { access: "read" });
    writeFileSync(path, `${lines.slice(0, 2).join("\n").replace("Where", "Here")}\n`);
    await session.refresh();
    expect(spoken((await session.context()).messages).join()).toContain(
      "Here is the price rounded?",
    );
    appendFileSync(path, `${lines[2] ?? ""}\n`);
    await session.refresh();
    expect(spoken((await session.context()).messages).join()).toContain("In cart.ts.");
  });
});
