/** Checks of the outer form of source files: sizes, names, the comment at the top, banned words. */
import ts from "typescript";
import { problemAt, visitNodes } from "./source-file.ts";
import type { Problem, SourceFile } from "./source-file.ts";

const fileLinesMax = 300;
const lineColumnsMax = 100;
const functionLinesMax = 70;

/** Files with more than 300 lines. */
export function longFiles(file: SourceFile): Problem[] {
  const lines = file.text.replace(/\n$/, "").split("\n").length;
  return lines > fileLinesMax ? [`${file.path}:1: ${lines} lines, at most ${fileLinesMax}`] : [];
}

/** Lines with more than 100 columns. */
export function wideLines(file: SourceFile): Problem[] {
  return file.text.split("\n").flatMap((line, index) => {
    const columns = Array.from(line).length;
    const what = `${columns} columns, at most ${lineColumnsMax}`;
    return columns > lineColumnsMax ? [`${file.path}:${index + 1}: ${what}`] : [];
  });
}

/** Functions and methods with more than 70 lines. */
export function longFunctions(file: SourceFile): Problem[] {
  const problems: Problem[] = [];
  visitNodes(file, (node) => {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return;
    const first = file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree)).line;
    const last = file.tree.getLineAndCharacterOfPosition(node.getEnd()).line;
    const lines = last - first + 1;
    if (lines <= functionLinesMax) return;
    problems.push(
      problemAt(file, node, `a function of ${lines} lines, at most ${functionLinesMax}`),
    );
  });
  return problems;
}

/** Files that do not open with a comment on what they are. */
export function missingHeaders(file: SourceFile): Problem[] {
  const text = file.text.replace(/^#!.*\n/, "");
  const isHeaded = /^\/\*\*[\s*]+[^\s*/]/.test(text);
  return isHeaded ? [] : [`${file.path}:1: opens without a comment on what it is`];
}

/** Names that say nothing, or are not in kebab case. Folders and the end `.test` are names too. */
export function badNames(path: string): Problem[] {
  const names = path.split("/").flatMap((part) => part.replace(/\.[a-z]+$/, "").split("."));
  const empty = names.flatMap((name) => name.split("-")).filter((word) => emptyNames.test(word));
  const cased = names.filter((name) => name !== "" && !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name));
  return [
    ...empty.map((word) => `${path}:1: the name "${word}" does not say what is in it`),
    ...cased.map((name) => `${path}:1: "${name}" is not in kebab case`),
  ];
}

const emptyNames = /^(utils?|common|helpers?|misc)$/;

/** Words that announce unfinished work. */
export function bannedWords(file: SourceFile): Problem[] {
  return file.text.split("\n").flatMap((line, index) => {
    const word = /\b(TODO|FIXME|XXX)\b/.exec(line)?.[0];
    return word === undefined ? [] : [`${file.path}:${index + 1}: "${word}"`];
  });
}
