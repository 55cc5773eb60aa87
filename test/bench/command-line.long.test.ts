/** The arguments of `pnpm bench`, and the list of cases. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { cases, modulePathOf } from "../../packages/bench/src/case-list.ts";
import { parseCommand, usage } from "../../packages/bench/src/command-line.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const names = ["open", "append"];

describe("the arguments", () => {
  it("by default run all cases in full", () => {
    expect(parseCommand([], names)).toMatchObject({
      names: [],
      scale: "full",
      runs: 5,
      jsonPath: undefined,
      build: true,
    });
  });

  it("choose cases, small inputs, runs and places", () => {
    expect(parseCommand(["--growth", "--quick"], names)).toMatchObject({ growth: true });
    const args = ["append", "--quick", "--runs", "9", "--json", "out.json"];
    expect(parseCommand([...args, "--no-build"], names)).toEqual({
      names: ["append"],
      scale: "quick",
      runs: 9,
      jsonPath: "out.json",
      build: false,
      growth: false,
      peerSets: [],
    });
  });

  it.each([
    ["opne"],
    ["--runs", "0"],
    ["--runs", "x"],
    ["--fast"],
    ["--growth", "open"],
    ["--growth", "--peers"],
    ["--compare", "a", "b"],
  ])("are refused: %s %s", (...args) => {
    expect(() =>
      parseCommand(
        args.filter((arg) => arg !== undefined),
        names,
      ),
    ).toThrow();
  });

  it("select peers, the large one only with the others", () => {
    expect(parseCommand(["--peers"], names)).toMatchObject({ peerSets: ["peers"] });
    expect(parseCommand(["--peers-omp"], names)).toMatchObject({ peerSets: ["peers", "omp"] });
  });

  it("show help, which lists the cases", () => {
    expect(parseCommand(["--help", "nonsense"], names)).toBe("help");
    expect(usage(names)).toContain("Cases: open, append");
  });
});

describe("pnpm bench", () => {
  const main = fileURLToPath(new URL("../../packages/bench/dist/main.js", import.meta.url));

  it("rejects an invalid output path before it runs anything", () => {
    const folder = temporaryDirectory();
    for (const path of [folder, join(folder, "missing", "a.json")]) {
      const run = spawnSync(execPath, [main, "append-sync", "--no-build", "--json", path], {
        encoding: "utf8",
      });
      expect([run.status, run.stderr]).toEqual([1, expect.stringMatching(/^bench: --json.*\n$/)]);
    }
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("stopped by %s leaves no files", async (signal, code) => {
    const child = spawn(execPath, [main, "append-sync", "--quick", "--no-build"]);
    child.stdout.resume();
    child.stderr.once("data", () => child.kill(signal));
    expect(await once(child, "close")).toEqual([code, null]);
    const left = readdirSync(tmpdir()).filter((name) => name.includes(`-run-${child.pid}-`));
    expect(left).toEqual([]);
  });
});

describe("every case", () => {
  it("is in the file from which the suite loads it", async () => {
    const source = new URL("../../packages/bench/src/", import.meta.url);
    for (const { name } of cases) {
      const url = new URL(`${modulePathOf(name)}.ts`, source).href;
      const module = (await import(/* @vite-ignore */ url)) as { cases: typeof cases };
      expect(module.cases.map((one) => one.name)).toContain(name);
    }
    const modules = cases.map(({ name }) => modulePathOf(name));
    const files = readdirSync(new URL("cases/", source));
    expect(new Set(files.map((file) => `cases/${file.replace(".ts", "")}`))).toEqual(
      new Set(modules),
    );
  });

  it("has a name of its own", () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  });

  it("asks a question, names a goal, and has subjects with names of their own", () => {
    for (const { question, goal, subjects } of cases) {
      expect(question).toMatch(/\?$/);
      expect(goal).toMatch(/\.$/);
      expect(subjects.length).toBeGreaterThan(0);
      expect(new Set(subjects.map(({ name }) => name)).size).toBe(subjects.length);
    }
  });
});
