/**
 * Regular expressions whose time is linear in each text, in the syntax of RE2, without lookaround.
 * Pure.
 */
import { RE2JS } from "re2js";
import { invalidArgument } from "@branchlog/core/files";

export interface SearchExpression {
  /** The first match that is not empty. */
  readonly find: (text: string) => { readonly start: number; readonly end: number } | undefined;
  /** Lower-case text that every match has; undefined if unknown. */
  readonly wanted: readonly string[] | undefined;
}

/** @throws BranchlogError `ERR_INVALID_ARGUMENT` for an invalid expression. */
export function searchExpression(query: string): SearchExpression {
  const expression = compiled(query);
  const literals = literalsOf(query);
  return {
    find: nativeFind(query) ?? linearFind(expression),
    wanted: literals.length === 0 ? undefined : literals,
  };
}

function compiled(query: string): RE2JS {
  try {
    return RE2JS.compile(query, RE2JS.CASE_INSENSITIVE | RE2JS.MULTILINE);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalidArgument(
      `The query is not an RE2 regular expression; RE2 has no backreferences and no ` +
        `lookaround: ${reason}`,
    );
  }
}

function linearFind(expression: RE2JS): SearchExpression["find"] {
  return (text) => {
    const matcher = expression.matcher(text);
    while (matcher.find()) {
      if (matcher.end() > matcher.start()) return { start: matcher.start(), end: matcher.end() };
    }
    return undefined;
  };
}

/** Without repetitions and groups: alternatives, classes, a few escapes that mean the same. */
const simple = /^(?:[^*+?{}()[\]\\]|\[\^?[^[\]\\^]+\]|\\[dD.+*?()[\]{}|/\\])*$/u;

/** Expressions that V8 matches in linear time, too, fifty times as fast; undefined for others. */
function nativeFind(query: string): SearchExpression["find"] | undefined {
  if (!simple.test(query)) return undefined;
  try {
    const expression = new RegExp(inNativeSyntax(query), "giu");
    return (text) => {
      expression.lastIndex = 0;
      for (let found = expression.exec(text); found !== null; found = expression.exec(text)) {
        const start = found.index;
        if (found[0] !== "") return { start, end: start + found[0].length };
        // Inside of a pair of surrogates, V8 would begin at its start again.
        expression.lastIndex = start + ((text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
      }
      return undefined;
    };
  } catch {
    // In the syntax of RE2 alone.
    return undefined;
  }
}

/** Lines end with a newline alone, as in RE2; for V8 also with other characters. */
const lineParts: Readonly<Record<string, string>> = {
  ".": "[^\\n]",
  "^": "(?<![^\\n])",
  $: "(?![^\\n])",
};

function inNativeSyntax(query: string): string {
  return query.replaceAll(/\\.|\[[^\]]*\]|[.^$]/gsu, (part) => lineParts[part] ?? part);
}

/** A part of an expression that says one character, or something else. */
const parts = /\\(.)|\[(?:\\.|[^\]\\])*\]|[*+?]\??|\{[^}]*\}\??|([^\\[\]()|.^$*+?{}])|./gsu;

/**
 * What has no literals recognisable from its parts: alternatives, groups and flags; escapes of
 * several characters; classes that begin with their end, or have others in them.
 */
const untold = /[|()]|\\(?![dDwWsSbBAzntrfv])[\p{L}\p{N}]|\[\^?\]|\[[^\]]*\[/u;

/** ASCII but for `k` and `s`, which the sign of Kelvin and the long s match, too. */
const literalCharacter = /^(?![ks])\p{ASCII}$/iu;

/** Runs of characters that every match has. */
function literalsOf(query: string): readonly string[] {
  if (untold.test(query)) return [];
  const runs = [""];
  for (const [part, escaped, plain] of query.matchAll(parts)) {
    const literal =
      plain ?? (escaped !== undefined && /[^\p{L}\p{N}]/u.test(escaped) ? escaped : "");
    const last = runs.at(-1) ?? "";
    if (literalCharacter.test(literal)) {
      runs[runs.length - 1] = last + literal.toLowerCase();
      continue;
    }
    // It may be repeated no time.
    const isOptional = /^(?:[*?]|\{)/u.test(part);
    if (isOptional) runs[runs.length - 1] = last.slice(0, -1);
    runs.push("");
  }
  return [...new Set(runs.filter((run) => run.trim().length > 1))];
}
