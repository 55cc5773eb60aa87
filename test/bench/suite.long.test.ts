/** The harness checks itself: what is wrong, slow to death or broken never becomes a number. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { text as readText } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type BenchCase, type CaseInput, noFacts } from "../../packages/bench/src/bench-case.ts";
import { CaseFailure, runProcessCase, runSuite } from "../../packages/bench/src/run-cases.ts";
import { type CaseReport, createReport, toMarkdown } from "../../packages/bench/src/report.ts";
import { sampleMachine } from "./sample-report.ts";
import { folder, launch, moduleUrl, suiteOptions, writeCase } from "./written-cases.ts";

const input: Omit<CaseInput, "scratch"> = { scale: "quick", path: "", facts: noFacts };

describe("a suite", () => {
  it("fails a case whose check fails, reports no number for it, and continues", async () => {
    const wrong = await writeCase(
      "wrong",
      `check: (result) => { if (result !== 2) throw new Error("expected 2, got " + result); },`,
    );
    const sound = await writeCase("sound", "");
    const started: string[] = [];
    const reports = await runSuite([wrong, sound], {
      ...suiteOptions,
      onStart: ({ name }) => started.push(name),
    });
    expect(started).toEqual(["wrong", "sound"]);
    expect(reports[0]).toMatchObject({ name: "wrong", subjects: [] });
    expect(reports[0]?.failure).toContain("expected 2, got 1");
    expect(reports[1]?.failure).toBeUndefined();
    expect(reports[1]?.subjects[0]).toMatchObject({ name: "one", role: "ours", runs: 1 });
  });

  it("fails a case whose input cannot be made", async () => {
    const hungry = await writeCase("hungry", "input: () => ({ entries: 1, seed: 1 }),");
    const [report] = await runSuite([hungry], suiteOptions);
    expect(report?.failure).toContain("no case of this test needs an input");
  });
});

describe("a case in its own processes", () => {
  const run = (benchCase: BenchCase, more: { runs?: number; runMsMax?: number } = {}) =>
    runProcessCase(benchCase, { ...suiteOptions, warmups: 0, ...more });

  it("measures time, memory and the case's own figures of every subject", async () => {
    const benchCase = await writeCase(
      "measured",
      `figures: (result, wallMs) => ({ "MB held": result.length / 1e6, wallMs }),
       subjects: [
         { name: "busy", role: "ours", prepare: () => () => {
             const end = performance.now() + 40;
             while (performance.now() < end);
             return Buffer.alloc(1);
         } },
         { name: "large", role: "baseline", prepare: () => async () => Buffer.alloc(300e6, 1) },
       ],`,
    );
    const [busy, large] = await run(benchCase, { runs: 2 });
    expect(busy).toMatchObject({ name: "busy", role: "ours" });
    expect(busy?.samples).toHaveLength(2);
    const [first] = busy?.samples ?? [];
    expect(first?.wallMs).toBeGreaterThanOrEqual(40);
    expect(first?.processMs).toBeGreaterThan(first?.wallMs ?? 0);
    expect(first?.cpuMs).toBeGreaterThan(0);
    expect(first?.peakRssBytes).toBeLessThan(300e6);
    expect(first?.figures["wallMs"]).toBe(first?.wallMs);
    expect(large?.samples[0]?.peakRssBytes).toBeGreaterThan(300e6);
    expect(large?.samples[0]?.figures["MB held"]).toBe(300);
  });

  it("gives each process its node flags, a subject's before the case's", async () => {
    const limit = "() => () => getHeapStatistics().heap_size_limit / 2 ** 20";
    const benchCase = await writeCase(
      "limited",
      `nodeFlags: ["--max-old-space-size=100"],
       figures: (result) => ({ MiB: result }),
       subjects: [
         { name: "case", role: "ours", prepare: ${limit} },
         { name: "own", role: "ours", nodeFlags: ["--max-old-space-size=900"], prepare: ${limit} },
       ],`,
    );
    const [caseLimit, ownLimit] = await run(benchCase);
    expect(caseLimit?.samples[0]?.figures["MiB"]).toBeLessThan(400);
    expect(ownLimit?.samples[0]?.figures["MiB"]).toBeGreaterThan(800);
  });

  it("has an empty directory for each run, which is removed afterwards", async () => {
    const note = join(folder, "scratch-path");
    const benchCase = await writeCase(
      "scratching",
      `subjects: [{ name: "one", role: "ours", prepare: ({ scratch }) => () => {
         writeFileSync(scratch + "/file", "x", { flag: "wx" });
         writeFileSync(${JSON.stringify(note)}, scratch);
       } }],`,
    );
    await run(benchCase, { runs: 2 });
    const scratch = readFileSync(note, "utf8");
    expect(scratch).toContain("branchlog-bench-run-");
    expect(existsSync(scratch)).toBe(false);
  });

  it("fails when a subject throws, with its error", async () => {
    const benchCase = await writeCase(
      "throwing",
      `subjects: [{ name: "one", role: "ours", prepare: () => () => {
         throw new Error("boom");
       } }],`,
    );
    const failed = run(benchCase);
    await expect(failed).rejects.toThrow(CaseFailure);
    await expect(failed).rejects.toThrow(/throwing, one: .*boom/s);
  });

  it("finds the answer in the output of a subject", async () => {
    const benchCase = await writeCase(
      "noisy",
      `subjects: [{ name: "one", role: "ours", prepare: () => () => {
         process.stdout.write("without a newline");
         process.on("exit", () => process.stdout.write("nor here"));
       } }],`,
    );
    expect((await run(benchCase))[0]?.samples).toHaveLength(1);
  });

  it("fails when a process succeeds without an answer; for a peer that is the result", async () => {
    const exits = "prepare: () => () => process.exit(0)";
    const silent = await writeCase(
      "silent",
      `subjects: [{ name: "one", role: "ours", ${exits} }],`,
    );
    await expect(run(silent)).rejects.toThrow(/silent, one: ended without an answer/);
    const peer = await writeCase(
      "silent-peer",
      `subjects: [{ name: "one", role: "peer", ${exits} }],`,
    );
    expect(await run(peer)).toMatchObject([{ samples: [], failure: "ended without an answer" }]);
  });

  it("waits for a request that comes late", async () => {
    const benchCase = await writeCase("late", "");
    const child = spawn(execPath, [...launch.launchFlags, fileURLToPath(launch.childUrl)]);
    child.stderr.resume();
    const output = readText(child.stdout);
    const caseUrl = moduleUrl(benchCase.name);
    const request = JSON.stringify({
      caseUrl,
      caseName: benchCase.name,
      subject: "one",
      input: { ...input, scratch: "" },
    });
    child.stdin.write(request.slice(0, 9), () =>
      setImmediate(() => child.stdin.end(request.slice(9))),
    );
    expect(await output).toContain(`{"wallMs":`);
  });

  it("fails when a subject never ends", async () => {
    const benchCase = await writeCase(
      "endless",
      `subjects: [{ name: "one", role: "ours", prepare: () => () => { for (;;); } }],`,
    );
    await expect(run(benchCase, { runMsMax: 3_000 })).rejects.toThrow(/SIGTERM/);
  });
});

it("the example of the documents runs, and its answer is checked", () => {
  const root = new URL("../../", import.meta.url);
  const document = readFileSync(new URL("docs/benchmarks/README.md", root), "utf8");
  const [, code = ""] = /```js\n([^]*?)```/.exec(document) ?? [];
  const file = join(folder, "count-lines.mjs");
  writeFileSync(file, code.replace("./packages/", new URL("packages/", root).href));
  const { stdout, stderr } = spawnSync(execPath, [file], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/\*\*split\*\* \| .* lines\/ms \| .* \| 3 \|/);
});

it("the report shows figures of valid cases, and only the reason of failed ones", async () => {
  const sound = await writeCase("shown", `figures: () => ({ "MB/s": 1234.5 }),`);
  const wrong = await writeCase("broken", `check: () => { throw new Error("not equal"); },`);
  const cases: readonly CaseReport[] = await runSuite([sound, wrong], suiteOptions);
  const text = toMarkdown(createReport(sampleMachine, "full", cases));
  expect(text).toContain("CPU, 2 cores, 8 GiB, Linux 6, Node v20.19.0, commit abc1234, 2026-06-01");
  expect(text).toMatch(/## shown[^#]*\| \*\*one\*\* \| [^|]+ \| 0 % \| 1 \| 1,235 MB\/s \|/);
  expect(text).toMatch(/## broken[^#]*Failed: broken, one: /);
});
