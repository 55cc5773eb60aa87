/** Every fixture that lists its expected projections, against the projections. */
import { describe, expect, it } from "vitest";
import { convertToLlm } from "@branchlog/core/entries";
import type { ContextProblem } from "@branchlog/agents/pi";
import { buildContext, selectContext } from "../../../packages/core/src/projections/context.ts";
import { fixtureNames, readFixture } from "./fixture-session.ts";

/** As JSON text, so that the order of keys counts too. */
const json = (value: unknown): string => JSON.stringify(value, null, 1);

describe.each(fixtureNames())("the fixture %s", (name) => {
  const { expected, lineOf, path } = readFixture(name);
  const contexts = expected.contexts.map(
    (context) => [context.leaf ?? context.leafLine ?? "its last entry", context] as const,
  );

  it.each(contexts)("has the expected context at %s", (_leaf, context) => {
    const view = path(context);
    const selected = Array.from(selectContext(view), (i) => lineOf(view.id(i)));
    expect(selected).toEqual(context.selectedLines);
    const problems: ContextProblem[] = [];
    const built = buildContext(view, (problem) => problems.push(problem));
    const { messages, thinkingLevel, model, truncatedAt } = context;
    expect(json(built)).toBe(json({ messages, thinkingLevel, model, truncatedAt }));
    const reported = problems.map(({ entryId, reason }) => ({ line: lineOf(entryId), reason }));
    expect(reported.toSorted((a, b) => a.line - b.line)).toEqual(context.problems ?? []);
  });

  it.each(contexts.filter(([, context]) => context.llmMessages !== undefined))(
    "sends the expected messages to a model at %s",
    (_leaf, context) => {
      const sent = convertToLlm(buildContext(path(context)).messages);
      expect(json(sent)).toBe(json(context.llmMessages));
    },
  );
});
