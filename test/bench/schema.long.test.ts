/** The report of a real run is what docs/benchmarks/schema.json says, field by field. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { cases as allCases, modulePathOf } from "../../packages/bench/src/case-list.ts";
import { defineCase, type Sample } from "../../packages/bench/src/bench-case.ts";
import { ensureInput } from "../../packages/bench/src/inputs.ts";
import { createReport, readMachine, reportCase } from "../../packages/bench/src/report.ts";
import { runSuite } from "../../packages/bench/src/run-cases.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const source = new URL("../../packages/bench/src/", import.meta.url);
const schema = JSON.parse(
  readFileSync(new URL("../../docs/benchmarks/schema.json", import.meta.url), "utf8"),
) as object;
const ajv = new Ajv2020({ allErrors: true });
const isValid = ajv.compile(schema);

/** What is wrong with a report; nothing if it is valid. */
function problems(report: unknown): readonly string[] {
  isValid(report);
  return (isValid.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

const facts = { name: "a", question: "What?", goal: "b.", nodeFlags: ["-c"], comparedBy: "MB/s" };

/** What a reader of the file gets. */
function written(report: unknown): unknown {
  return JSON.parse(JSON.stringify(report));
}

describe("the schema of reports", () => {
  it("matches a real run", async () => {
    const folder = temporaryDirectory();
    const chosen = allCases.filter(({ name }) => name === "next-context-20k");
    const missing = defineCase({
      ...facts,
      name: "missing",
      subjects: [{ name: "one", role: "ours", prepare: () => () => 1 }],
      check: () => {},
      figures: () => ({}),
      input: () => ({ bytes: 1, entries: 1, seed: 1 }),
    });
    const cases = await runSuite([...chosen, missing], {
      scale: "quick",
      runs: 1,
      childUrl: new URL("case-child.ts", source).href,
      caseUrlOf: (name) => new URL(`${modulePathOf(name)}.ts`, source).href,
      launchFlags: ["--import", "tsx", "--conditions=@branchlog/source"],
      ensureInput: (spec) => ensureInput(spec, folder),
    });
    expect(cases.map(({ failure }) => failure === undefined)).toEqual([true, false]);
    const report = written(createReport(readMachine(root), "quick", cases));
    expect(problems(report)).toEqual([]);
  });

  it("matches the results in the documents", () => {
    const url = new URL("../../docs/benchmarks/results.json", import.meta.url);
    expect(problems(JSON.parse(readFileSync(url, "utf8")))).toEqual([]);
  });

  it("matches peers with and without answers", () => {
    const sample: Sample = {
      wallMs: 2,
      cpuMs: 1,
      processMs: 3,
      peakRssBytes: 4,
      figures: { "MB/s": 5 },
    };
    const report = createReport(readMachine(root), "full", [
      reportCase(facts, [
        { name: "ours", role: "ours", samples: [sample] },
        { name: "theirs", role: "peer", runtime: "bun", needs: "omp", samples: [sample] },
        { name: "broken", role: "peer", samples: [], failure: "crashes" },
      ]),
    ]);
    expect(report.cases[0]?.subjects[1]?.ratio).toBe(1);
    expect(problems(written(report))).toEqual([]);
  });

  it("finds missing, mistyped and undescribed fields", () => {
    const report = { schemaVersion: 2, machine: { cores: 0 }, scale: "full", cases: [1], more: 1 };
    expect(problems(report)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^\/schemaVersion must be equal to one of/),
        expect.stringMatching(/^\/machine must have required property 'node'/),
        expect.stringMatching(/^\/machine\/cores must be >= 1/),
        expect.stringMatching(/^\/cases\/0 must be object/),
        expect.stringMatching(/^ must NOT have additional properties .*"more"/),
      ]),
    );
  });

  it("describes each field", () => {
    const undescribed: string[] = [];
    const visit = (name: string, value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      const { properties, ...rest } = value as { properties?: Record<string, object> };
      for (const [field, of] of Object.entries(properties ?? {})) {
        if (!("description" in of)) undescribed.push(`${name}.${field}`);
        visit(`${name}.${field}`, of);
      }
      for (const [key, of] of Object.entries(rest)) visit(`${name}.${key}`, of);
    };
    visit("report", schema);
    expect(undescribed).toEqual([]);
  });
});
