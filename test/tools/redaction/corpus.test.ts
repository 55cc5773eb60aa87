/** What is replaced in a real session without secrets: BRANCHLOG_CORPUS names its directory. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Redactor } from "../../../packages/tools/src/redaction/redactor.ts";

const file = join(process.env["BRANCHLOG_CORPUS"] ?? "", "large-session.jsonl");

it.runIf(existsSync(file))("redaction replaces nothing in a large real session", () => {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const redactor = new Redactor(file);
  for (const line of lines) redactor.json(line);
  redactor.endLearning();
  expect(lines.map((line) => redactor.json(line))).toEqual(lines);
  expect(redactor.report()).toEqual({ secrets: 0, replaced: {}, entries: 0, images: 0 });
});
