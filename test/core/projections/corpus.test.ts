/** A large real session, where one is present: BRANCHLOG_CORPUS names the directory of it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { buildContext } from "../../../packages/core/src/projections/context.ts";
import { summary } from "../../../packages/core/src/projections/summary.ts";
import { usage } from "../../../packages/core/src/projections/usage.ts";
import { foldAll } from "./fold.ts";
import { readEntries } from "./fixture-session.ts";
import { pathToLast } from "./naive-tree.ts";

const file = join(process.env["BRANCHLOG_CORPUS"] ?? "", "large-session.jsonl");

it.runIf(existsSync(file))("a large session of version 1 has a context of its whole length", () => {
  const entries = readEntries(file);
  const { messages, model, truncatedAt } = buildContext(pathToLast(entries));
  expect(messages.length).toBeGreaterThan(100);
  expect(messages).toHaveLength(entries.filter((entry) => entry.type === "message").length);
  expect(model).not.toBeNull();
  expect(truncatedAt).toBeUndefined();
  const facts = foldAll(summary, entries);
  expect(facts.messageCount).toBe(messages.length);
  expect(facts.lastActivityMs).toBeGreaterThan(Date.parse("2025-11-20"));
  expect(foldAll(usage, entries).total.cost).toBeGreaterThan(0);
});
