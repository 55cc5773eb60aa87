/** Checks of the documents against the code: error codes, links, and promises. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { root } from "./source-file.ts";
import type { Problem } from "./source-file.ts";

/** A Markdown file; `path` is relative to the root. */
export interface Document {
  readonly path: string;
  readonly text: string;
}

/** Reads a document. */
export function readDocument(path: string): Document {
  return { path, text: readFileSync(join(root, path), "utf8") };
}

/** The headings of a document, as written, without those in code. */
function headingsOf(text: string): string[] {
  const headings = withoutCode(text).matchAll(/^#{1,6} +(.+?) *$/gm);
  return Array.from(headings, ([, heading = ""]) => heading);
}

function withoutCode(text: string): string {
  return text.replaceAll(/^(```+|~~~+).*\n[^]*?^\1 *$/gm, "");
}

/** Codes without a heading, headings without a code, and headings out of order. */
export function errorHeadings(document: Document, codes: readonly string[]): Problem[] {
  const headings = headingsOf(document.text).filter((heading) => heading.startsWith("ERR_"));
  const missing = codes.filter((code) => !headings.includes(code));
  const unknown = headings.filter((heading) => !codes.includes(heading));
  const isSorted = headings.join() === headings.toSorted().join();
  return [
    ...missing.map((code) => `${document.path}:1: has no heading ${code}`),
    ...unknown.map((heading) => `${document.path}:1: ${heading} is not a code`),
    ...(isSorted ? [] : [`${document.path}:1: the codes are not in alphabetical order`]),
  ];
}

/** Links to files, or to headings in them, that are not there. Links to the web are not followed. */
export function brokenLinks(document: Document): Problem[] {
  const text = withoutCode(document.text).replaceAll(/`[^`\n]*`/g, "");
  const links = Array.from(text.matchAll(/\]\(<?([^)>\s]+)>?\)/g), ([, target = ""]) => target);
  return links
    .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(document, target))
    .map((target) => `${document.path}:1: the link to ${target} is broken`);
}

function leadsSomewhere(document: Document, target: string): boolean {
  const [file = "", anchor] = decodeURI(target).split("#");
  const path = file === "" ? document.path : join(dirname(document.path), file);
  if (!existsSync(join(root, path))) return file === "" && anchorIn(document.text, anchor);
  if (anchor === undefined) return true;
  return anchorIn(file === "" ? document.text : readDocument(path).text, anchor);
}

function anchorIn(text: string, anchor: string | undefined): boolean {
  return anchor !== undefined && headingsOf(text).map(slugOf).includes(anchor);
}

/** The anchor of a heading, by the rules of GitHub. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** The promises that tests claim to prove, from `Verifies: P1` or `Verifies: P1, P2`. */
export function verifiedPromises(texts: Iterable<string>): Set<string> {
  const verified = new Set<string>();
  for (const text of texts) {
    for (const [, list = ""] of text.matchAll(/\bVerifies: (P\d+(?:, ?P\d+)*)/g)) {
      for (const promise of list.split(/, ?/)) verified.add(promise);
    }
  }
  return verified;
}

/** Promises that are proven and listed as unproven, or neither; and proofs of unknown promises. */
export function promiseBalance(
  promises: readonly string[],
  unproven: readonly string[],
  verified: ReadonlySet<string>,
): Problem[] {
  const known = new Set(promises);
  const stray = [...verified, ...unproven].filter((promise) => !known.has(promise));
  const both = unproven.filter((promise) => verified.has(promise));
  const neither = promises.filter(
    (promise) => !verified.has(promise) && !unproven.includes(promise),
  );
  return [
    ...stray.map((promise) => `${promise} is not a promise`),
    ...both.map((promise) => `${promise} has tests, but is listed as not yet proven`),
    ...neither.map((promise) => `${promise} has no test that says "Verifies: ${promise}"`),
  ];
}

/** What the table of promises in a document says of each: the text of its last cell. */
export function promiseTable(document: Document): Map<string, string> {
  const rows = document.text.matchAll(/^\| (P\d+) \|.*\| ([^|]+) \|$/gm);
  return new Map(Array.from(rows, ([, promise = "", says = ""]) => [promise, says.trim()]));
}

/** Rows of the table of an append's files whose lines are others, and limits that they exceed. */
export function wrongLineCounts({ path, text }: Document, limits: ReadingLimits): Problem[] {
  const rows = Array.from(
    text.matchAll(/^\| `?([\w/.-]+\.ts|all)`? \| ([\d,]+) \|/gm),
    ([, file = "", lines = ""]) => ({ file, lines: Number(lines.replace(",", "")) }),
  );
  const files = rows.filter(({ file }) => file !== "all");
  const counted = files.map(({ file }) => ({ file, lines: linesOf(`packages/core/src/${file}`) }));
  const sum = counted.reduce((total, { lines }) => total + lines, 0);
  const right = [...counted, { file: "all", lines: sum }];
  const wrong = right.filter(({ lines }, at) => rows[at]?.lines !== lines);
  return [
    ...wrong.map(({ file, lines }) => `${path}:1: ${file} has ${lines} lines`),
    ...(files.length > limits.files ? [`${path}:1: ${files.length} files are too many`] : []),
    ...(sum > limits.lines ? [`${path}:1: ${sum} lines are too many`] : []),
  ];
}

interface ReadingLimits {
  readonly files: number;
  readonly lines: number;
}

function linesOf(path: string): number {
  return readFileSync(join(root, path), "utf8").split("\n").length - 1;
}
