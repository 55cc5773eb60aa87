/**
 * The commands that are compared, each run by a build on a copy of a file in a separate folder.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { builtProgram } from "./other-build.ts";

/** Command lines; `FILE` is the copy, `DIR` its folder, `NEW` a file that is not there yet. */
export const commandLines: readonly (readonly string[])[] = readFileSync(
  new URL("commands.txt", import.meta.url),
  "utf8",
)
  .trimEnd()
  .split("\n")
  .map((line) => line.split(" "));

/** What a command line left: its output, its exit code, and the files of its folder. */
export async function outcomesOf(
  checkout: string,
  words: readonly string[],
  { file, bytes }: { readonly file: string; readonly bytes: Buffer },
): Promise<object> {
  const root = mkdtempSync(join(tmpdir(), "branchlog-command-"));
  try {
    const folder = join(root, "sessions");
    mkdirSync(folder);
    const copy = join(folder, basename(file));
    writeFileSync(copy, bytes, { mode: 0o600 });
    const places: Readonly<Record<string, string>> = {
      FILE: copy,
      DIR: folder,
      NEW: join(folder, "new.jsonl"),
    };
    const given = words.map((word) => places[word] ?? word);
    const { code, out } = await ended(checkout, given, root);
    const source = bytes.toString("latin1");
    const compare = (text: string): string => comparable(text, root, source);
    return { code, out: compare(out), files: filesIn(root, compare) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function ended(
  checkout: string,
  words: readonly string[],
  root: string,
): Promise<{ readonly code: number | null; readonly out: string }> {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [builtProgram(checkout), ...words], {
    cwd: root,
    env: { PATH, HOME: root, TZ: "UTC" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const pieces: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
  child.stderr.on("data", (piece: Buffer) => pieces.push(piece));
  // Decoding boundary: Node's arguments of this event.
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out: Buffer.concat(pieces).toString("latin1") };
}

/** Texts of the output that were changed on purpose: the old, and the new. */
const reworded: readonly (readonly [before: string, now: string])[] = [
  ["not mended:", "not repaired:"],
];

/** Without what differs between any two runs: the folder, times of now, durations, new ids. */
function comparable(text: string, root: string, source: string): string {
  return reworded
    .reduce((worded, [before, now]) => worded.replaceAll(before, now), text)
    .replaceAll(root, "ROOT")
    .replaceAll(
      new RegExp(`${new Date().getFullYear()}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d[\\d:.]*Z?`, "gu"),
      "<now>",
    )
    .replaceAll(/\b[\d.]+ ?(?:ms|s)\b|"(?:\w*Ms|ms)":[\d.]+/gu, "<time>")
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/gu, "<session>")
    .replaceAll(/\b[\da-f]{8}\b/gu, "<entry>")
    .replaceAll(ompId, (id) => (source.includes(id) ? id : "<new>"));
}

/** Ids that omp makes, of 8 or 21 characters, where this text has ids. */
const ompId =
  /(?<="(?:id|parentId|targetId)":")(?:[\w-]{8}|[\w-]{21})(?=")|(?<=appended )[\w-]{8}\b/gu;

function filesIn(
  root: string,
  compare: (text: string) => string,
): Readonly<Record<string, string>> {
  const names = readdirSync(root, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.ckpt$|catalog/u.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    names.map((name) => [compare(name), compare(readFileSync(name, "latin1"))]),
  );
}
