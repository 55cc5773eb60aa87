/** From words to commands: every command, every misuse that must not pass for something else. */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { parseArguments } from "../../packages/cli/src/arguments.ts";
import { commandNames, commands } from "../../packages/cli/src/commands.ts";
import { UsageError } from "../../packages/cli/src/failure.ts";
import { quickText } from "../../packages/cli/src/quick-text.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines, MemoryOutput } from "./command-run.ts";

function optionsOf(...words: string[]): unknown {
  const parsed = parseArguments(words, "1.2.3");
  return parsed.kind === "command" ? parsed.command.options : parsed;
}

function textOf(...words: string[]): string {
  const parsed = parseArguments(words, "1.2.3");
  return parsed.kind === "text" ? parsed.text : `the command ${parsed.command.name}`;
}

/** Without what opening cost: the counters are those of the process, in which others read too. */
async function factsOf(words: readonly string[]): Promise<readonly object[]> {
  const { code, out, err } = await branchlog(words);
  expect([code, err]).toEqual([0, ""]);
  return jsonLines(out).map((facts) => Object.assign({}, facts, { opening: undefined }));
}

describe("a command line", () => {
  it.each([
    ["tree f --all --depth 2", { file: "f", json: false, all: true, depth: 2 }],
    ["turns f --turn 2", { file: "f", json: false, turn: 2, replay: undefined }],
    ["turns f --replay 1 --json", { json: true, turn: undefined, replay: 1 }],
    ["context f --at x --last 3 --full", { at: "x", last: 3, full: true }],
    [
      "entries f --custom-type a.b --from 2 --on branch",
      { customType: "a.b", from: 2, on: "branch" },
    ],
    [
      "entries f",
      { type: undefined, from: undefined, on: "log", reverse: false, limit: undefined },
    ],
    ["entries f --limit 1 --limit 2", { limit: 2 }],
    ["entries f -n 3", { limit: 3 }],
    ["tail f --last 3 -f", { last: 3, follow: true }],
    ["tail f -n 3", { last: 3 }],
    ["context f -n 3", { last: 3 }],
    [
      "append f -",
      {
        source: { kind: "input" },
        parent: "leaf",
        expectedTail: undefined,
        allowUnknownType: false,
      },
    ],
    ["append f - --allow-unknown-type", { allowUnknownType: true }],
    [
      "append f --user x --parent none",
      { source: { kind: "user", text: "x" }, parent: { id: null } },
    ],
    ["append f --user=--x --parent a1", { source: { text: "--x" }, parent: { id: "a1" } }],
    ["append f --user - --expected-tail none", { source: { text: "-" }, expectedTail: null }],
    [
      "append f --entry {} --parent tail",
      { source: { kind: "entry", json: "{}" }, parent: "tail" },
    ],
    ["name f", { text: undefined, clear: false }],
    ["name f 007", { text: "007" }],
    ["name f -- -5", { text: "-5" }],
    ["name f -", { text: "-" }],
    ["label f a1", { id: "a1", text: undefined }],
    ["label f a1 -- --b", { id: "a1", text: "--b" }],
    ["label f -- --a --b", { file: "f", id: "--a", text: "--b" }],
    ["verify a --json b -- -c", { files: ["a", "b", "-c"], json: true }],
    ["info -- -dash.jsonl", { file: "-dash.jsonl" }],
    ["info --json -- --json", { file: "--json", json: true }],
    ["-- info f", { file: "f" }],
    ["search -- --frozen-lockfile work", { query: "--frozen-lockfile", place: "work" }],
    ["search -E -- -x --", { query: "-x", place: "--", regex: true }],
    ["search -5 work", { query: "-5", place: "work" }],
    ["append -- -f -", { file: "-f", source: { kind: "input" } }],
    ["delete a -- -b", { sessions: ["a", "-b"] }],
    ["delete -- -a -b", { sessions: ["-a", "-b"] }],
    ["delete --yes - -5 a", { sessions: ["-", "-5", "a"] }],
    ["-- delete a", { sessions: ["a"] }],
    ["export f --to markdown -o -", { output: undefined }],
    ["label f a1 x.y=z", { id: "a1", text: "x.y=z" }],
    ["export f -o x.md", { to: "markdown", output: "x.md" }],
    ["export f -o x.jsonl", { to: "pi" }],
    ["export f -o x.YAML", { to: "connectonion" }],
    ["export f -o x.md --to pi", { to: "pi" }],
    ["export f -ox.md", { output: "x.md" }],
    ["export f -o=x.md", { output: "x.md" }],
    ["tail f -fn5", { follow: true, last: 5 }],
    ["tail f -fn 5", { follow: true, last: 5 }],
    ["tail f --follow=false", { follow: false }],
    ["tail f --follow=true", { follow: true }],
    ["context f --last=3 --limit 4", { last: 4 }],
    ["context f --limit 5 -n 1", { last: 1 }],
    ["append f --user -5", { source: { text: "-5" } }],
    ["append f --user -- -x", { source: { text: "-x" } }],
    ["append f --user= --expectedTail x", { source: { text: "" }, expectedTail: "x" }],
    ["search -E true", { query: "true", regex: true }],
    ["store push -o x a b --name=c d", { action: "push", places: ["a", "b", "d"], output: "x" }],
    ["serve --port 5 a --host h b", { places: ["a", "b"], port: 5, host: "h" }],
    ["serve", { places: [], port: undefined }],
  ])("a command line is parsed: %s", (line, options) => {
    expect(optionsOf(...line.split(" "))).toMatchObject(options);
  });

  it("a command line gives every text back as it was, as an argument and as a value", () => {
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

  it("a command line takes its options in any place", () => {
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
    expect(() => parseArguments(words, "1.2.3")).toThrow(/^Unknown option: -5 degrees\. .*--\.$/u);
    words.splice(1, 0, "--");
    expect(optionsOf(...words)).toMatchObject({ query: "-5 degrees", place: "." });
  });

  it("a wrong command line is one object with --json", async () => {
    const error = { code: "ERR_USAGE", message: expect.stringMatching(/--nope/u) as unknown };
    const { code, out, err } = await branchlog(["info", "--json", "--nope", "f"]);
    expect([code, out, jsonLines(err)]).toEqual([2, "", [{ error }]]);
    expect((await branchlog(["info", "a", "b", "--", "--json"])).err).toContain("See branchlog");
  });

  it("a command line distinguishes an empty text from none", () => {
    expect(optionsOf("label", "f", "a1", "")).toMatchObject({ text: "" });
    expect(optionsOf("name", "f", "")).toMatchObject({ text: "" });
  });

  it.each([
    ["", /Name a command/],
    ["nfo f", /Did you mean info/],
    ["info", /^info needs FILE \(The session file, .*\)\. Type: branchlog info FILE/],
    ["lits --json", /^Unknown command: lits\. Did you mean list\?$/],
    ["help lits", /^Unknown command: lits\. Did you mean list\?$/],
    ["-v", /^Unknown option: -v\. Did you mean -V\?$/],
    ["--hepl", /^Unknown option: --hepl\. Did you mean --help\?$/],
    ["info f --jsno", /^Unknown option: --jsno\. Did you mean --json\?/],
    ["tail f --limt=3", /^Unknown option: --limt=3\. Did you mean --limit\?/],
    ["info f g", /^Too many arguments: g$/],
    ["info f -- g", /^Too many arguments: g$/],
    ["search -- a b --c", /^Too many arguments: --c$/],
    ["tail f g -n 2", /^Too many arguments: g$/],
    ["completion foo", /^completion takes bash, zsh, fish, powershell, not foo\.$/],
    ["completion bash foo", /^Too many arguments: foo$/],
    ["entries f --customType x y", /^Too many arguments: y$/],
    ["info f --bad", /^Unknown option: --bad\. .* goes behind --\.$/],
    ["info --bad f", /^Unknown option: --bad\./],
    ["info --bad=1 f", /^Unknown option: --bad=1\./],
    ["search -x f", /^Unknown option: -x\./],
    ["label f --json --bad", /^Unknown option: --bad\./],
    ["tree f --depth -1", /--depth/],
    ["tree f --depth x", /--depth/],
    ["tree f --depth 1 --json", /--json/],
    ["entries f --from 0", /--from takes a whole number from 1/],
    ["entries f --limit 1.5", /--limit/],
    ["turns f --turn 0", /--turn takes a whole number from 1/],
    ["turns f --turn 1 --replay 1", /--turn or --replay/],
    ["entries f --on both", /Choices/],
    ["context f --at", /Not enough arguments following: at/],
    ["append f", /one of/],
    ["append f x", /no source/],
    ["append f - --user x", /one of/],
    ["append f --user x --entry {}", /one of/],
    ["append f --user --json", /Not enough arguments following: user/],
    ["export f", /^Say the form: --to/],
    ["export f -o x.txt", /^Say the form: --to/],
    ["name f a b", /^Too many arguments: b$/],
    ["name f a --clear", /--clear/],
    ["entries f --on", /^Not enough arguments following: on$/],
    ["entries f -n", /^Not enough arguments following: n$/],
    ["list --dir x", /^Unknown option: --dir\./],
    ["delete f -y--x", /^Unknown option: -y--x\./],
    ["tail f -f5", /^Unknown option: -f5\. Did you mean -f\?/],
    ["tail f -fx", /^Unknown option: -fx\./],
    ["info f --constructor=1", /^Unknown option: --constructor=1\./],
    ["info f --__proto__", /^Unknown option: --__proto__\./],
    ["convert f", /^Missing required arguments: to, output$/],
    ["convert f -o x", /^Missing required argument: to$/],
    ["convert f --to claude -o x", /Invalid values/],
    ["convert f g", /^Too many arguments: g$/],
    ["store foo a", /Argument: action, Given: "foo", Choices: "init", "ls"/],
    ["store push", /^store needs PLACES /],
    ["label f", /^label needs ID \(The entry\)\. Type: branchlog label FILE ID \[TEXT\]$/],
    ["mv a b --dry-run=1", '--dry-run takes true or false, not "1".'],
    ["export f --redact=yes", "--redact takes true or false"],
  ])("%s is refused", (line, message) => {
    const words = line.split(" ").filter((word) => word !== "");
    expect(() => parseArguments(words, "1.2.3")).toThrow(UsageError);
    expect(() => parseArguments(words, "1.2.3")).toThrow(message);
  });

  it("a refused command line exits with 2 and names the help on standard error", async () => {
    expect(await branchlog(["tree", "f", "--depth", "x"])).toEqual({
      code: 2,
      out: "",
      err: "--depth takes a whole number from 0.\nSee branchlog tree --help.\n",
    });
  });

  it("without any word prints the help on standard error in a pipe, and exits with 2", async () => {
    const { out } = await branchlog(["--help"]);
    expect(await branchlog([])).toEqual({ code: 2, out: "", err: out });
  });

  it("without any word lists the latest sessions on a terminal, and what to type next", async () => {
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

  it("with a path alone shows the facts of a session, or lists a directory", async () => {
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
      const parsed = parseArguments(words, "1.2.3");
      expect(parsed).toMatchObject({ kind: "command", command: { name: declared.name } });
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

  it("offer commands, options, and values that begin as the word does", () => {
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
