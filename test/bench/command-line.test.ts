/** The arguments of `pnpm bench`, and the list of cases. */
import { existsSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cases } from "../../packages/bench/src/case-list.ts";
import { parseCommand, usage } from "../../packages/bench/src/command-line.ts";

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
    expect(parseCommand(["--growth", "--quick"], names)).toMatchObject({
      growth: true,
      huge: false,
    });
    const args = ["append", "--quick", "--runs", "9", "--json", "out.json", "--cache", "/c"];
    expect(parseCommand([...args, "--no-build"], names)).toEqual({
      names: ["append"],
      scale: "quick",
      runs: 9,
      jsonPath: "out.json",
      cacheFolder: "/c",
      build: false,
      huge: false,
      growth: false,
      peerSets: [],
    });
  });

  it.each([["opne"], ["--runs", "0"], ["--runs", "x"], ["--fast"]])(
    "are refused: %s %s",
    (...args) => {
      expect(() =>
        parseCommand(
          args.filter((arg) => arg !== undefined),
          names,
        ),
      ).toThrow();
    },
  );

  it("name what to compare with, the large one only with the others", () => {
    expect(parseCommand(["--peers"], names)).toMatchObject({ peerSets: ["peers"] });
    expect(parseCommand(["--peers-omp"], names)).toMatchObject({ peerSets: ["peers", "omp"] });
  });

  it("ask for help or the list", () => {
    expect(parseCommand(["--help", "nonsense"], names)).toBe("help");
    expect(parseCommand(["--list"], names)).toBe("list");
    expect(usage(names)).toContain("Cases: open, append");
  });
});

describe("every case", () => {
  const folder = new URL("../../packages/bench/src/cases/", import.meta.url);

  it("stands in the file of its name, and every file is in the list", () => {
    for (const { name } of cases) expect(existsSync(new URL(`${name}.ts`, folder))).toBe(true);
    const files = readdirSync(folder);
    expect(files.sort()).toEqual(cases.map(({ name }) => `${name}.ts`).sort());
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
