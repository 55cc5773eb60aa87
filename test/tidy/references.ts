/** Checks that what comments and documents name exists: files, and names in code. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { filesBelow, root } from "./source-file.ts";
import type { Problem } from "./source-file.ts";

/** A file whose prose is checked. */
export interface Prose {
  readonly path: string;
  readonly text: string;
}

/** What there is: the paths of files, and every word of code, comments omitted. */
export interface Known {
  readonly paths: readonly string[];
  readonly words: ReadonlySet<string>;
}

/** Files of the repository, and the words in its code. */
export function knownNames(): Known {
  const paths = filesBelow(".");
  const words = new Set<string>();
  // The samples of the check itself are names that do not exist.
  const isCode = (path: string): boolean => /\.(ts|mts|mjs|js|json|yaml)$/.test(path);
  for (const path of paths.filter((each) => isCode(each) && each !== "test/tidy.test.ts")) {
    const text = readFileSync(join(root, path), "utf8");
    const code = /\.(json|yaml)$/.test(path) ? text : withoutComments(text);
    for (const [word] of code.matchAll(/[A-Za-z_$][\w$]*/g)) words.add(word);
  }
  return { paths, words };
}

/** Files of other programs, and of users. */
const foreign: ReadonlySet<string> = new Set([
  "AGENTS.md",
  "count-lines.mjs",
  "index.d.ts",
  "session.md",
]);

/** Files in comments and documents that are absent, and names in backticks that no code has. */
export function absentNames({ path, text }: Prose, { paths, words }: Known): Problem[] {
  const prose = path.endsWith(".md") ? withoutCodeBlocks(text) : commentsIn(text);
  const files = Array.from(
    prose.matchAll(/(?<![\w./<{}*-])[\w./-]*\w\.(?:ts|mts|mjs|md)\b/g),
    String,
  );
  const names = Array.from(
    prose.matchAll(/`([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)(?:\(\))?`/g),
    ([, name = ""]) => name,
  );
  return [
    ...files.filter((file) => !foreign.has(file) && !isIn(paths, file)),
    ...names.filter((name) => !words.has(name)),
  ].map((name) => `${path}:1: names ${name}, which does not exist`);
}

/** `core/store/lock.ts` is short for `packages/core/src/store/lock.ts`. */
function isIn(paths: readonly string[], file: string): boolean {
  const name = file.replace(/^(\.\.?\/)+/, "");
  const long = `packages/${name.replace("/", "/src/")}`;
  return paths.some((path) => path === long || `/${path}`.endsWith(`/${name}`));
}

function withoutCodeBlocks(text: string): string {
  return text.replaceAll(/^(```+|~~~+).*\n[^]*?^\1 *$/gm, "");
}

function commentsIn(text: string): string {
  return rangesOf(text)
    .map(([from, to]) => text.slice(from, to))
    .join("\n");
}

function withoutComments(text: string): string {
  let code = "";
  let at = 0;
  for (const [from, to] of rangesOf(text)) {
    code += text.slice(at, from);
    at = to;
  }
  return code + text.slice(at);
}

/** Where comments begin and end. */
function rangesOf(text: string): [number, number][] {
  const ranges: [number, number][] = [];
  const scanner = ts.createScanner(
    ts.ScriptTarget.Latest,
    false,
    ts.LanguageVariant.Standard,
    text,
  );
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    const isComment =
      kind === ts.SyntaxKind.SingleLineCommentTrivia ||
      kind === ts.SyntaxKind.MultiLineCommentTrivia;
    if (isComment) ranges.push([scanner.getTokenStart(), scanner.getTokenEnd()]);
  }
  return ranges;
}
