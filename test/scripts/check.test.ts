/** The runner of the checks: a check that fails must never look like one that passed. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}
interface Step {
  readonly name: string;
  readonly command: readonly string[];
  readonly after?: readonly string[];
  readonly needs?: readonly string[];
  readonly onDemand?: boolean;
  readonly isLong?: boolean;
  readonly cores?: number;
  readonly secondsMax?: number;
}
interface StepResult {
  readonly step: Step;
  readonly outcome: "ok" | "failed" | "skipped";
  readonly output: string;
  readonly seconds: number;
  readonly counts: Counts;
}
interface Scripts {
  readonly countTests: (path: string, ok: boolean) => Counts;
  readonly runSteps: (
    steps: readonly Step[],
    options: { cores?: number; onResult: (result: StepResult) => void },
  ) => Promise<StepResult[]>;
  readonly selectSteps: (steps: readonly Step[], names: readonly string[]) => Step[];
  readonly Report: new (
    stream: { isTTY?: boolean; write: (text: string) => void },
    environment: Record<string, string>,
  ) => {
    step: (result: StepResult) => void;
    summary: (results: readonly StepResult[]) => boolean;
  };
}

/** The scripts are plain JavaScript, so their types are said here. */
async function loadScripts(): Promise<Scripts> {
  const names = ["test-count", "run-steps", "steps", "report"];
  const urls = names.map((name) => new URL(`../../scripts/checks/${name}.mjs`, import.meta.url));
  const modules: unknown[] = await Promise.all(
    urls.map((url): Promise<unknown> => import(url.href)),
  );
  return Object.assign({}, ...modules) as Scripts;
}

const { countTests, runSteps, selectSteps, Report } = await loadScripts();
const folder = mkdtempSync(join(tmpdir(), "branchlog-check-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const node = (name: string, code: string, more: Partial<Step> = {}): Step => ({
  name,
  command: ["node", "-e", code],
  ...more,
});

async function run(steps: readonly Step[]): Promise<{ results: StepResult[]; order: string[] }> {
  const order: string[] = [];
  const results = await runSteps(steps, {
    cores: 2,
    onResult: ({ step }) => void order.push(step.name),
  });
  return { results, order };
}

/** What a report prints about results, and whether it calls them a success. */
function reportOf(
  results: readonly StepResult[],
  isTTY = false,
  environment: Record<string, string> = {},
): { text: string; ok: boolean } {
  let text = "";
  const report = new Report({ isTTY, write: (more) => void (text += more) }, environment);
  for (const result of results) report.step(result);
  return { ok: report.summary(results), text };
}

describe("steps", () => {
  it("are reported in the order of the list, whichever ends first", async () => {
    const slow = node("slow", "setTimeout(() => {}, 50)");
    const { order } = await run([slow, node("quick", ""), node("last", "", { cores: 2 })]);
    expect(order).toEqual(["slow", "quick", "last"]);
  });

  it("are skipped, with the reason, if a required one did not pass", async () => {
    const { results } = await run([
      node("a", "process.exit(3)"),
      node("b", "", { needs: ["a"] }),
      node("c", "", { needs: ["b"] }),
      node("d", "", { after: ["a"] }),
    ]);
    expect(results.map(({ outcome }) => outcome)).toEqual(["failed", "skipped", "skipped", "ok"]);
    expect(results[2]?.output).toContain('"b"');
  });

  it("keep their output of both streams", async () => {
    const { results } = await run([node("a", "console.log('out'); console.error('err')")]);
    expect(results[0]?.output.split("\n").toSorted()).toEqual(["err", "out"]);
  });

  it("fail when they end in a signal, do not exist, or never end", async () => {
    const { results } = await run([
      node("killed", "process.kill(process.pid, 'SIGKILL')"),
      { name: "absent", command: ["no-such-program"] },
      node("endless", "setInterval(() => {}, 1000)", { secondsMax: 0.2 }),
    ]);
    expect(results.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "failed"]);
    expect(results[2]?.output).toContain("Stopped after 0.2 s");
  });

  it("are selected with their requirements, or by the first word of their names", () => {
    const steps = [
      node("types", ""),
      node("pack", "", { needs: ["types"] }),
      node("publint core", "", { needs: ["pack"] }),
      node("lint", ""),
      node("e2e", "", { onDemand: true }),
      node("long tests", "", { isLong: true }),
    ];
    const names = (selected: readonly Step[]): string[] => selected.map(({ name }) => name);
    expect(names(selectSteps(steps, []))).toHaveLength(4);
    expect(names(selectSteps(steps, ["all"]))).toEqual([...names(steps.slice(0, 4)), "long tests"]);
    expect(names(selectSteps(steps, ["publint"]))).toEqual(["types", "pack", "publint core"]);
    expect(names(selectSteps(steps, ["e2e"]))).toEqual(["e2e"]);
    expect(() => selectSteps(steps, ["lnt"])).toThrow('No check is called "lnt"');
  });
});

describe("the report", () => {
  it("shows only the output of failed steps, and ends with the totals", async () => {
    const { results } = await run([
      node("good", "console.log('quiet')"),
      node("bad", "console.log('loud'); process.exit(1)"),
    ]);
    const { ok, text } = reportOf(results);
    expect(ok).toBe(false);
    expect(text).toContain("loud");
    expect(text).not.toContain("quiet");
    expect(text.trimEnd().split("\n").at(-1)).toBe("1 passed, 1 failed");
  });

  it("counts skipped steps", async () => {
    const { results } = await run([node("a", "x"), node("b", "", { needs: ["a"] })]);
    expect(reportOf(results).text).toMatch(/\n0 passed, 1 failed, 1 skipped\n$/);
  });

  it("is coloured only on a terminal, and not with NO_COLOR", async () => {
    const { results } = await run([node("a", "")]);
    expect(reportOf(results, true).text).toContain("\u001b[32m");
    expect(reportOf(results, true, { NO_COLOR: "1" }).text).not.toContain("\u001b");
    expect(reportOf(results, false).text).not.toContain("\u001b");
  });
});

describe("the count of tests", () => {
  const passed = { status: "passed", assertionResults: [{}] };
  const count = (testResults: object[], totals: object, ok: boolean): Counts => {
    const path = join(folder, "results.json");
    const none = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 };
    writeFileSync(path, JSON.stringify({ ...none, testResults, ...totals }));
    return countTests(path, ok);
  };

  it("adds up the counts of the reporter", () => {
    const totals = { numPassedTests: 3, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1 };
    expect(count([passed], totals, false)).toEqual({ passed: 3, failed: 1, skipped: 3 });
  });

  it("counts a file that could not be loaded as a failure", () => {
    const unloaded = { status: "failed", assertionResults: [] };
    expect(count([passed, unloaded], { numPassedTests: 1 }, false).failed).toBe(1);
  });

  it("counts a failed run without a failed test as one failure", () => {
    expect(count([passed], { numPassedTests: 1 }, false).failed).toBe(1);
    expect(countTests(join(folder, "absent.json"), false).failed).toBe(1);
    expect(countTests(join(folder, "absent.json"), true).failed).toBe(0);
  });
});
