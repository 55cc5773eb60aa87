/** From words to commands: every command, every misuse that must not pass for something else. */
import type { Command } from "../../packages/cli/src/declaration.ts";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { parseCommand } from "../../packages/cli/src/arguments.ts";
import { commandNames, commands } from "../../packages/cli/src/commands.ts";
import { UsageError } from "../../packages/cli/src/failure.ts";
import { quickText } from "../../packages/cli/src/quick-text.ts";
import { expectAnswers } from "../support/answers.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { thrownBy } from "../support/typed-errors.ts";
import { branchlog, fixture, jsonLines, MemoryOutput } from "./command-run.ts";

function parseArguments(words: readonly string[]): Command | string {
  return quickText(words, { version: () => "1.2.3" }) ?? parseCommand(words);
}

function optionsOf(...words: string[]): unknown {
  const parsed = parseArguments(words);
  return typeof parsed === "string" ? { kind: "text", text: parsed } : parsed.options;
}

function textOf(...words: string[]): string {
  const parsed = parseArguments(words);
  return typeof parsed === "string" ? parsed : `the command ${parsed.name}`;
}

/** The expected message for each command line, in a stored file. */
const golden = (name: string): URL => new URL(`golden/${name}.txt`, import.meta.url);
const wordsOf = (line: string): string[] => line.split(" ").slice(1);

/** Without what opening cost: the counters are those of the process, in which others read too. */
async function factsOf(words: readonly string[]): Promise<readonly object[]> {
  const { code, out, err } = await branchlog(words);
  expect([code, err]).toEqual([0, ""]);
  return jsonLines(out).map((facts) => Object.assign({}, facts, { opening: undefined }));
}

describe("a command line", () => {
  it("a command line is parsed to the expected options", async () => {
    await expectAnswers(golden("parsed"), (line) => JSON.stringify(optionsOf(...wordsOf(line))));
  });

  it("a command line preserves every text, as an argument and as a value", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("-", "--", "-5", "-y--", "--json", "true", "__proto__", "'a'", '"a"'),
    );
    const switches = fc.subarray(["--json"]);
    fc.assert(
      fc.property(texts, fc.array(texts), switches, (text, more, options) => {
        const behind = optionsOf("delete", ...options, "--", text, ...more);
        expect(behind).toMatchObject({ sessions: [text, ...more], json: options.length > 0 });
        const joined = optionsOf("append", ...options, `--user=${text}`, "f");
        expect(joined).toMatchObject({ file: "f", source: { text }, json: options.length > 0 });
      }),
    );
  });

  it("a command line accepts options in any position", () => {
    const groups = [["-n", "5"], ["--from=2"], ["--on", "branch"], ["--reverse"], ["-5"]];
    const places = fc.shuffledSubarray(groups, { minLength: groups.length });
    fc.assert(
      fc.property(places, (words) => {
        const options = { file: "-5", limit: 5, from: 2, on: "branch", reverse: true };
        expect(optionsOf("entries", ...words.flat())).toMatchObject(options);
      }),
    );
  });

  it("a command line with a text that starts with a dash gets a hint about --", () => {
    const words = ["search", "-5 degrees", "."];
    expect(() => parseArguments(words)).toThrow(/^Unknown option: -5 degrees\. Put -- before /u);
    words.splice(1, 0, "--");
    expect(optionsOf(...words)).toMatchObject({ query: "-5 degrees", place: "." });
  });

  it("a wrong command line is one object with --json", async () => {
    const error = { code: "ERR_USAGE", message: expect.stringMatching(/--nope/u) as unknown };
    const { code, out, err } = await branchlog(["info", "--json", "--nope", "f"]);
    expect([code, out, jsonLines(err)]).toEqual([2, "", [{ error }]]);
    expect((await branchlog(["info", "a", "b", "--", "--json"])).err).toContain("See branchlog");
  });

  it("a command line distinguishes an empty text from a missing one", () => {
    expect(optionsOf("label", "f", "a1", "")).toMatchObject({ text: "" });
    expect(optionsOf("name", "f", "")).toMatchObject({ text: "" });
  });

  it("a wrong command line is refused with the expected message", async () => {
    await expectAnswers(golden("refused"), (line) => {
      const error = thrownBy(() => parseArguments(wordsOf(line)));
      expect(error).toBeInstanceOf(UsageError);
      return error instanceof UsageError ? error.message : "";
    });
  });

  it("a refused command line exits with 2 and names the help on standard error", async () => {
    expect(await branchlog(["tree", "f", "--depth", "x"])).toEqual({
      code: 2,
      out: "",
      err: "--depth takes an integer of at least 0.\nSee branchlog tree --help.\n",
    });
  });

  it("without arguments prints the help on standard error in a pipe, and exits with 2", async () => {
    const { out } = await branchlog(["--help"]);
    expect(await branchlog([])).toEqual({ code: 2, out: "", err: out });
  });

  it("without arguments lists the latest sessions on a terminal, and suggests commands", async () => {
    const home = temporaryDirectory();
    mkdirSync(join(home, "sessions"));
    cpSync(fixture("pi-linear.jsonl"), join(home, "sessions", "one.jsonl"));
    vi.stubEnv("PI_CODING_AGENT_DIR", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const out = new MemoryOutput({ isTerminal: true });
    expect((await branchlog([], { out })).code).toBe(0);
    expect(out.text).toContain("Fix the login test");
    expect(out.text.match(/^branchlog .*/gm)).toEqual([
      expect.stringMatching(/^branchlog info /),
      expect.stringMatching(/^branchlog search /),
      expect.stringMatching(/^branchlog help /),
    ]);
  });

  it("with only a path shows a session, or lists a directory", async () => {
    const path = fixture("pi-linear.jsonl");
    expect(await factsOf([path, "--json"])).toEqual(await factsOf(["info", path, "--json"]));
    expect(await branchlog([fixture("")])).toEqual(await branchlog(["list", fixture("")]));
    for (const word of ["nothing.jsonl", "./nothing"]) {
      const missing = await branchlog([word]);
      expect(missing.code).toBe(2);
      expect(missing.err).toContain(`There is no file ${word}, and no command with this name.`);
    }
    expect((await branchlog(["nothing"])).err).toContain("Unknown command: nothing.");
  });
});

describe("help", () => {
  it("names every command, and ends with 0", async () => {
    const { code, out } = await branchlog(["--help"]);
    expect(code).toBe(0);
    for (const name of commandNames)
      expect(out).toMatch(
        new RegExp(
          `branchlog ${name} [<[](action|file|dir|places?|query|sessions?|source|files|operation)|branchlog ops`,
        ),
      );
    expect(textOf("-h")).toBe(out);
    expect(textOf("help")).toBe(out);
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  it.each(commands)("help of $name describes each option", ({ name, options }) => {
    const text = textOf(name, "--help");
    expect(textOf("help", name)).toBe(text);
    expect(textOf(name, "-h")).toBe(text);
    expect(text).toContain("--json");
    for (const option of Object.keys(options)) {
      expect(text).toMatch(
        new RegExp(`^ {2}(?: {4}|-[a-zA-Z], )--${option}(?: [A-Z]+)?\\s+\\S`, "m"),
      );
    }
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  it.each(commands)("help of $name has examples that are command lines of it", (declared) => {
    expect(declared.examples.length).toBeGreaterThan(0);
    for (const [line] of declared.examples) {
      const words = Array.from(
        line.matchAll(/'([^']*)'|(\S+)/g),
        ([, quoted, plain]) => quoted ?? plain ?? "",
      );
      const parsed = parseArguments(words);
      expect(parsed).toMatchObject({ name: declared.name });
    }
  });

  it("of the version is the version", () => {
    expect(textOf("--version")).toBe("1.2.3\n");
    expect(textOf("-V")).toBe("1.2.3\n");
  });
});

describe("completions", () => {
  const offered = (...words: string[]): string[] =>
    textOf("--complete", ...words)
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.replace(/\t.*$/u, ""));

  it.each(["bash", "zsh", "fish", "powershell"])("are set up by a script for %s", (shell) => {
    expect(textOf("completion", shell)).toContain("branchlog --complete");
  });

  it("are set up by a script for the user's shell, or else for bash", () => {
    const scriptFor = (shell?: string): string | undefined =>
      quickText(["completion"], { version: () => "1.2.3", shell });
    expect(scriptFor("/usr/bin/fish")).toBe(textOf("completion", "fish"));
    expect(scriptFor("/bin/tcsh")).toBe(textOf("completion", "bash"));
    expect(scriptFor()).toBe(textOf("completion", "bash"));
  });

  it("offer commands, options, and values that start with the typed word", () => {
    expect(offered("")).toEqual([...commandNames, "help", "completion"]);
    expect(offered("en")).toEqual(["entries"]);
    expect(offered("entries", "f", "--")).toContain("--custom-type");
    expect(offered("entries", "f", "--rev")).toEqual(["--reverse"]);
    expect(offered("entries", "f", "--on", "")).toEqual(["log", "branch"]);
    expect(offered("completion", "z")).toEqual(["zsh"]);
    expect(offered("help", "li")).toEqual(["list"]);
  });

  it("leave paths to the shell, and texts to the user", () => {
    expect(offered("watch", "")).toEqual([]);
    expect(offered("search", "--", "--")).toEqual([]);
    expect(offered("entries", "f", "--type", "")).toEqual([]);
    expect(offered("nothing", "")).toEqual([]);
  });
});
