/**
 * Regular expressions whose time is linear in each text, in the syntax of RE2: nothing looks ahead
 * or back. Pure.
 */
import { RE2JS } from "re2js";
import { invalidArgument } from "@branchlog/core/files";

export interface SearchExpression {
  /** The first match that is not empty. */
  readonly find: (text: string) => { readonly start: number; readonly end: number } | undefined;
  /** In lower case, what every match has; undefined if nothing is known. */
  readonly wanted: readonly string[] | undefined;
}

/** @throws BranchlogError `ERR_INVALID_ARGUMENT` for what is no expression. */
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
      `The query is not a regular expression of RE2, which has no references and looks neither ` +
        `ahead nor back: ${reason}`,
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

/** Without repetitions and groups: alternatives, classes, a few optional characters. */
const simple = /^(?:[^*+?{}()[\]\\]|\[\^?[^[\]\\^]+\]|\\[bBdDwWsS.+*?()[\]{}|/\\-])*$/u;

/** Expressions that V8 matches in linear time, too, fifty times as fast; undefined for others. */
function nativeFind(query: string): SearchExpression["find"] | undefined {
  if (!simple.test(query)) return undefined;
  try {
    const expression = new RegExp(query, "gimu");
    return (text) => {
      expression.lastIndex = 0;
      for (let found = expression.exec(text); found !== null; found = expression.exec(text)) {
        const start = found.index;
        if (found[0] !== "") return { start, end: start + found[0].length };
        expression.lastIndex = start + 1;
      }
      return undefined;
    };
  } catch {
    // In the syntax of RE2 alone.
    return undefined;
  }
}

/** A part of an expression that says one character, or something else. */
const parts = /\\(.)|\[(?:\\.|[^\]\\])*\]|[*+?]\??|\{[^}]*\}\??|([^\\[\]()|.^$*+?{}])|./gsu;

/**
 * Letters that match others by rules of Unicode, which lower case does not have: `k` the sign of
 * Kelvin, `s` the long one.
 */
const folding = /[ks]/u;

/** Runs of characters that every match has; none if there are alternatives or groups. */
function literalsOf(query: string): readonly string[] {
  if (/[|()]/u.test(query)) return [];
  const runs = [""];
  for (const [part, escaped, plain] of query.matchAll(parts)) {
    const literal =
      plain ?? (escaped !== undefined && /[^\p{L}\p{N}]/u.test(escaped) ? escaped : "");
    const lower = literal.toLowerCase();
    const last = runs.at(-1) ?? "";
    if (lower !== "" && lower.length === literal.length && !folding.test(lower)) {
      runs[runs.length - 1] = last + lower;
      continue;
    }
    // It may be repeated no time.
    const isOptional = /^(?:[*?]|\{)/u.test(part);
    if (isOptional) runs[runs.length - 1] = Array.from(last).slice(0, -1).join("");
    runs.push("");
  }
  return [...new Set(runs.filter((run) => run.trim().length > 1))];
}
