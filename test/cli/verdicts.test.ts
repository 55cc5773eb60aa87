/**
 * `verify`, `repair` and `info` on the same file: the same findings in the same words, the same
 * verdict, the same exit code.
 */
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import {
  jsonLines as linesOf,
  sampleHeader,
  sampleTime,
  sampleTimeMs,
  userEntry,
} from "@branchlog/core/testing";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, jsonLines, onTerminal } from "./command-run.ts";
import type { RunResult } from "./command-run.ts";

const header = linesOf(sampleHeader());
const user = (id: string, parentId: string | null, content = "hi"): string =>
  linesOf(userEntry(id, parentId, content));
const [a, b, c, d] = [user("a", null), user("b", "a"), user("c", "b"), user("d", "c")];
const sound = `${header}${a}${b}${c}`;

/** The text, with one byte of its only € replaced by one that is not UTF-8. */
function withInvalidUtf8(text: string): Buffer {
  const bytes = Buffer.from(text);
  bytes[bytes.indexOf("€") + 1] = 0xff;
  return bytes;
}

/** A file that no process has written to for long, or that changes just now, however long it takes. */
function fileOf(bytes: string | Buffer, isFresh = false): string {
  const path = join(temporaryDirectory(), "session.jsonl");
  writeFileSync(path, bytes);
  const changed = isFresh ? Date.now() + 3_600_000 : sampleTimeMs;
  utimesSync(path, new Date(changed), new Date(changed));
  return path;
}

/** The lines of an output about findings, as `info` prints them. */
function wordsOf({ out }: RunResult): string[] {
  const words = out.matchAll(/^(damaged|pending|noted): (.+)$/gm);
  return Array.from(
    words,
    ([, weight, kinds]) => `${weight === "damaged" ? "damage" : weight} ${kinds}`,
  );
}

function infoWordsOf({ out }: RunResult): string[] {
  const words = out.matchAll(/^(damage|pending|noted) +([a-z-\d, ]+\d)(?:;.*)?$/gm);
  return Array.from(words, ([, weight, kinds]) => `${weight} ${kinds}`);
}

const inOrder = (words: readonly string[]): string[] =>
  words.toSorted((one, other) => one.localeCompare(other));

interface Case {
  readonly what: string;
  readonly bytes: string | Buffer;
  /** Whether the file changed just now. */
  readonly isFresh: boolean;
  readonly found: readonly string[];
}

/** A file, and what is found in it. */
type Row = readonly [what: string, bytes: string | Buffer, ...found: readonly string[]];

const codeOf = (found: readonly string[]): number =>
  found.some((words) => words.startsWith("damage")) ? 1 : 0;
/** Whether all is in the bodies of entries, which opening does not read. */
const isUnread = (found: readonly string[]): boolean => found.includes("damage invalid-utf8 1");

const nuls = Buffer.alloc(143 * 1024);
const torn = d.slice(0, 90);
const label = JSON.stringify({
  type: "label",
  id: "l",
  parentId: "c",
  timestamp: sampleTime,
  targetId: "x",
});
const bytesOf = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part)));
const unlike = d.replace("message", "lable").replace('"c"', '"a"');

/** Ends of which it is the same whether the file changed just now. */
const ends: readonly Row[] = [
  ["NUL bytes at the end", bytesOf(sound, nuls), "damage nul-bytes 1"],
  ["a torn record and NUL bytes at the end", bytesOf(sound, torn, nuls), "damage nul-bytes 1"],
  ["text at the end", `${sound}Killed`, "damage not-json 1"],
  ["a record without its newline", `${sound}${d.trimEnd()}`, "pending unfinished-record 1"],
  [
    "a label of a missing entry without its newline",
    `${sound}${label}`,
    "pending unfinished-record 1",
  ],
  [
    "a repeated record without its newline",
    `${sound}${c.trimEnd()}`,
    "pending unfinished-record 1",
  ],
];
const rows: readonly Row[] = [
  ["a sound session", sound],
  ["CRLF line ends", sound.replaceAll("\n", "\r\n")],
  ["spaces at the end", `${sound}  `],
  ...ends,
  ["a torn end", sound + torn, "damage torn 1"],
  ["a line of NUL bytes", bytesOf(sound, nuls, `\n${d}`), "damage nul-bytes 1"],
  [
    "a torn line in the middle",
    `${header}${a}${b.slice(0, 80)}\n${c}`,
    "damage torn 1, missing-parent 1",
  ],
  ["a list", `${sound}[1]\n`, "damage not-object 1"],
  ["bytes behind a record", `${header}${a}${b.trimEnd()}}\n${c}`, "damage not-json 1"],
  ["a byte-order mark", `\uFEFF${sound}`, "noted byte-order-mark 1"],
  [
    "a byte-order mark and damage",
    `\uFEFF${sound}junk\n`,
    "damage not-json 1",
    "noted byte-order-mark 1",
  ],
  [
    "invalid UTF-8 in an entry",
    withInvalidUtf8(`${header}${a}${user("b", "a", "5 €")}${c}`),
    "damage invalid-utf8 1",
  ],
  ["text that holds U+FFFD", `${header}${user("a", null, "\uFFFD")}`],
  ["the same line twice", `${header}${a}${b}${b}${c}`, "noted repeated-line 1"],
  ["the same line twice at the end", `${sound}${c}`, "noted repeated-line 1"],
  ["an id twice", `${header}${a}${b}${user("b", "a", "other")}${c}`, "damage duplicate-id 1"],
  ["a missing parent", `${header}${a}${c}`, "damage missing-parent 1"],
  ["a cycle", `${header}${user("a", "b")}${b}`, "damage cycle 1"],
  ["an entry that is its own parent", `${header}${user("a", "a")}${b}`, "damage cycle 1"],
  ["an entry before the header", `${user("x", null)}${sound}`, "damage before-header 1"],
  ["a second header", `${sound}${header}`, "noted second-header 1"],
  [
    "records that are no entries",
    `${header}{"x":1}\n${a}${unlike}`,
    "noted not-an-entry 1, unknown-type 1",
  ],
];
const freshRows: readonly Row[] = [
  ...ends,
  ["an end that may still be being written", sound + torn, "pending unfinished-line 1"],
];
const cases: readonly Case[] = [false, true].flatMap((isFresh) =>
  (isFresh ? freshRows : rows).map(([what, bytes, ...found]) => ({ what, bytes, isFresh, found })),
);

describe("verify, repair and info", () => {
  it.each(cases)(
    "agree on $what (changed just now: $isFresh)",
    async ({ bytes, isFresh, found }) => {
      const code = codeOf(found);
      const path = fileOf(bytes, isFresh);
      const verified = await branchlog(["verify", path]);
      expect([inOrder(wordsOf(verified)), verified.code]).toEqual([found, code]);
      expect(verified.out.includes("\nno damage\n")).toBe(code === 0);

      const planned = await branchlog(["repair", path]);
      expect([inOrder(wordsOf(planned)), planned.code]).toEqual([found, code]);
      expect(planned.out.includes("\nnothing to repair\n")).toBe(code === 0);

      const info = await onTerminal(["info", path]);
      const known = isUnread(found) ? [] : found;
      expect([inOrder(infoWordsOf(info)), info.code]).toEqual([known, isUnread(found) ? 0 : code]);
      expect(/^damage +none found while opening; branchlog verify reads the/m.test(info.out)).toBe(
        info.code === 0,
      );

      const [report, plan, facts] = await Promise.all(
        ["verify", "repair", "info"].map(
          async (command) => jsonLines((await branchlog([command, path, "--json"])).out)[0],
        ),
      );
      const findings: unknown = Reflect.get(Object(report), "findings");
      expect(report).toMatchObject({ ok: code === 0 });
      expect(plan).toMatchObject({ ok: code === 0, findings });
      expect(facts).toMatchObject({ findings: isUnread(found) ? [] : findings });
      expect(readFileSync(path).equals(Buffer.from(bytes))).toBe(true);
    },
  );

  it.each(cases)("agree on $what once it is repaired", async ({ bytes, isFresh, found }) => {
    const path = fileOf(bytes, isFresh);
    const { code } = await branchlog(["repair", path, "--bridge", "--apply"]);
    const verified = await branchlog(["verify", path]);
    expect(verified.code).toBe(code);
    expect((await branchlog(["repair", path])).code).toBe(code);
    if (!isUnread(found)) expect((await branchlog(["info", path])).code).toBe(code);
  });

  it("all fail on a damaged header, and repair names it", async () => {
    const path = fileOf(`${header.slice(0, 50)}\n${a}`);
    for (const command of ["verify", "info"]) {
      const { code, err } = await branchlog([command, path]);
      expect([code, err.includes("ERR_HEADER_DAMAGED")]).toEqual([1, true]);
    }
    const { code, out } = await branchlog(["repair", path]);
    expect([code, out.includes("damaged: damaged-header 1, torn 1\n")]).toEqual([1, true]);
  });

  it("agree on a line that differs from a checkpoint", async () => {
    const path = fileOf(sound);
    await (await openSession(path, { checkpointEveryBytes: 1 })).close();
    writeFileSync(path, sound.replace('"hi"', '"ho"'));
    for (const command of ["verify", "repair"]) {
      const result = await branchlog([command, path]);
      expect([wordsOf(result), result.code]).toEqual([["damage changed-line 1"], 1]);
    }
    // Opening takes the index from the checkpoint, and reads no body of this entry.
    expect((await onTerminal(["info", path])).out).toContain("none found while opening");
  });

  it("do not report an end that may still be being written", async () => {
    const path = fileOf(`${header}junk\n${a}${torn}`, true);
    const { code, out } = await branchlog(["repair", path, "--apply"]);
    expect([code, out.includes("pending: unfinished-line 1\n")]).toEqual([0, true]);
    expect(readFileSync(path, "utf8")).toBe(`${header}${a}${torn}`);
  });
});
