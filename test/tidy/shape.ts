/** Checks of the outer form of source files: columns, names, the comment at the top, banned words. */
import type { Problem, SourceFile } from "./source-file.ts";

const lineColumnsMax = 100;

/** Lines with more than 100 columns. */
export function wideLines(file: SourceFile): Problem[] {
  return file.text.split("\n").flatMap((line, index) => {
    const columns = Array.from(line).length;
    const what = `${columns} columns, at most ${lineColumnsMax}`;
    return columns > lineColumnsMax ? [`${file.path}:${index + 1}: ${what}`] : [];
  });
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

/** Phrases that standard terms replaced: `dangling`, `permanently`, `unchanged`, `subagent`. */
export function oddPhrases(file: { readonly path: string; readonly text: string }): Problem[] {
  return file.text.split("\n").flatMap((line, index) => {
    const phrase = odd.exec(line)?.[0];
    return phrase === undefined ? [] : [`${file.path}:${index + 1}: "${phrase}"`];
  });
}

const odd = new RegExp(
  `\\b(${[
    "all the same",
    "begins? so",
    "for good",
    "gives? back",
    "goes on\\b",
    "is none of",
    "is said",
    "leads? nowhere",
    "left as it (is|was)",
    "loss(es)? of power",
    "no UTF-8",
    "nobody chose",
    "passed over",
    "says so",
    "somebody",
    "sub-(agent|director)",
    "taken for",
    "told apart",
    "whoever",
  ].join("|")})`,
  "i",
);
