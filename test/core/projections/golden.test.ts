/** Every fixture that lists its expected projections, against the projections. */
import { describe, expect, it } from "vitest";
import { convertToLlm } from "@branchlog/core/entries";
import type { ContextProblem } from "@branchlog/agents/pi";
import {
  buildContext,
  projectContext,
  selectContext,
} from "../../../packages/core/src/projections/context.ts";
import { labels } from "../../../packages/core/src/projections/labels.ts";
import { nameInForce, sessionName } from "../../../packages/core/src/projections/name.ts";
import { summary } from "../../../packages/core/src/projections/summary.ts";
import { usage } from "../../../packages/core/src/projections/usage.ts";
import { foldAll } from "./fold.ts";
import { fixtureNames, readFixture } from "./fixture-session.ts";

/** As JSON text, so that the order of keys counts too. */
const json = (value: unknown): string => JSON.stringify(value, null, 1);

describe.each(fixtureNames())("the fixture %s", (name) => {
  const { entries, expected, header, lineOf, path, slot } = readFixture(name);
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

  it.each(contexts)("has an entry for each part of the context at %s", (_leaf, context) => {
    const projection = projectContext(path(context));
    const sources = projection.entries.map(({ sourceEntry }) => lineOf(sourceEntry.id));
    expect(sources).toEqual(context.selectedLines);
    const parts = projection.entries.flatMap((entry) => entry.messages);
    expect(json(parts)).toBe(json(context.messages));
    expect(json(projection.messages)).toBe(json(context.messages));
  });

  it.each(contexts.filter(([, context]) => context.llmMessages !== undefined))(
    "sends the expected messages to a model at %s",
    (_leaf, context) => {
      const sent = convertToLlm(buildContext(path(context)).messages);
      expect(json(sent)).toBe(json(context.llmMessages));
    },
  );

  it("has the expected labels, name, summary and usage", () => {
    const found = foldAll(labels, entries);
    expect([...found].map(([targetId, label]) => ({ targetId, ...label }))).toEqual(
      expected.labels,
    );
    const given = foldAll(sessionName, entries);
    expect(nameInForce({ slot, given, header }) ?? null).toBe(expected.name);
    const { messageCount, firstMessage = null, lastActivityMs = null } = foldAll(summary, entries);
    expect({ messageCount, firstMessage, lastActivityMs }).toEqual(expected.summary);
    expect(foldAll(usage, entries).total).toEqual(expected.usageTotal);
  });
});
