/**
 * What the command prints cannot steer the terminal that shows it, whatever the names of files and
 * directories, the contents of sessions and the arguments are. Over all commands.
 */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commandNames } from "../../packages/cli/src/commands.ts";
import { quoted } from "../../packages/cli/src/failure.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { runProcess } from "./command-process.ts";
import { branchlog, fixture, jsonLines, MemoryOutput } from "./command-run.ts";
import { samples } from "./command-samples.ts";
import { hostile, hostileSession, placesFor, samplesOn, steers } from "./sample-places.ts";

const steering = /[^\P{Cc}\n\t]|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
/** The colours of our own. */
const colours = new RegExp(String.raw`\u001B\[(?:[12]|22|3[1-6]|39)m`, "g");

function requireHarmless(text: string, words: readonly string[]): void {
  const shown = JSON.stringify(words);
  // A colour of ours is opened around a text, never within the text of others.
  expect(text, shown).not.toContain("\u001B[31mRED");
  expect(steering.exec(text.replaceAll(colours, "")), `${shown}\n${JSON.stringify(text)}`).toBe(
    null,
  );
  // Exports are data, and data has lines of its own.
  const isData = words[0] === "export" || words.includes("--csv");
  if (!isData) expect(text, shown).not.toMatch(/^FORGED/m);
}

interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command on terminals; one that watches is interrupted as soon as it has shown all. */
async function onTerminal(
  words: readonly string[],
  { isTerminal = true, hasColours = false } = {},
): Promise<Printed> {
  const interrupt = new AbortController();
  const onWrite = (text: string): void => {
    if (words[0] === "watch" && /watching|"kind":"live"/.test(text)) interrupt.abort();
    if (words[0] === "serve" && text.includes("http://")) interrupt.abort();
  };
  const out = new MemoryOutput({ isTerminal, hasColours, onWrite });
  const err = new MemoryOutput({ isTerminal, hasColours, onWrite });
  const { code } = await branchlog(words, { out, err, signal: interrupt.signal });
  return { code, out: out.text, err: err.text };
}

/** Commands whose output is the same when they are run again. */
const readers: ReadonlySet<string> = new Set([
  "info",
  "tree",
  "context",
  "turns",
  "entries",
  "tail",
  "search",
  "verify",
  "diff",
  "stats",
  "list",
]);

describe.each(commandNames)("%s", (name) => {
  it.each(placesFor(name))("prints no control sequences when it is given %s", async (what, at) => {
    for (const words of samplesOn(name, what, at)) {
      const { out, err } = await onTerminal(words, { hasColours: true });
      requireHarmless(out, words);
      requireHarmless(err, words);
    }
  });

  it.each(placesFor(name))(
    "prints JSON of equal value on a terminal when it is given %s",
    async (what, at) => {
      for (const sample of samplesOn(name, what, at)) {
        const words = [...sample, "--json"];
        const shown = await onTerminal(words);
        requireHarmless(shown.out, words);
        requireHarmless(shown.err, words);
        const values = jsonLines(shown.out);
        if (shown.code !== 2) jsonLines(shown.err);
        if (!readers.has(name) || values.length === 0) continue;
        const piped = await onTerminal(words, { isTerminal: false });
        expect(values).toEqual(jsonLines(piped.out));
      }
    },
  );

  it("prints no control sequences when its arguments are wrong", async () => {
    const options = ["--last", "--to", "--turn", "--from", "--limit", "--depth", "--entry"];
    const wrong = [
      [name, hostile, hostile, hostile, hostile, hostile],
      [name, hostile, `--${hostile}`, "--json"],
      [name, hostile, `-${hostile}`],
      ...options.map((option) => [name, "/no/such/file", option, hostile]),
    ];
    for (const words of wrong) {
      const { out, err } = await onTerminal(words, { hasColours: true });
      requireHarmless(out, words);
      requireHarmless(err, words);
    }
  });
});

it("the table of samples has every command", () => {
  expect(Object.keys(samples).toSorted()).toEqual(commandNames.toSorted());
});

it.each([
  [[hostile]],
  [["--", hostile]],
  [[`--${hostile}`]],
  [["--get-yargs-completions", hostile]],
])("a command line of %j is refused without control sequences", async (words) => {
  const { out, err } = await onTerminal(words, { hasColours: true });
  requireHarmless(out, words);
  requireHarmless(err, words);
});

describe("an output", () => {
  const options = { isTerminal: true, hasColours: true };

  it("has only the colours of its style", async () => {
    const out = new MemoryOutput(options);
    const { style } = out;
    await out.write(style.bad(`a${style.good(`b${steers}`)}c \u001B[1mnot bold`));
    await out.flush();
    const { text } = out;
    expect(text.startsWith("\u001B[31ma\u001B[32mb")).toBe(true);
    expect(text).toContain("\u001B[39m");
    expect(text).not.toContain("\u001B[1m");
    requireHarmless(text.replaceAll("\u001B[31ma", ""), []);
  });

  it("escapes JSON on a terminal when a character is split between chunks", async () => {
    const out = new MemoryOutput(options);
    const json = Buffer.from(JSON.stringify({ text: `é\u009B${hostile}😀` }));
    for (const byte of json) await out.writeData(Buffer.from([byte]), "json");
    await out.writeData("\r\n", "json");
    await out.flush();
    requireHarmless(out.text, ["export"]);
    expect(JSON.parse(out.text)).toEqual({ text: `é\u009B${hostile}😀` });
  });

  it("an output shows JSON of equal value for any strings", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ stringUnit: "binary" }), fc.string(), async (value, key) => {
        const out = new MemoryOutput(options);
        const given = { [`${key}\u009F`]: value };
        await out.writeData(JSON.stringify(given), "json");
        await out.flush();
        expect(steering.test(out.text)).toBe(false);
        expect(out.text.replaceAll("\\u", "")).not.toMatch(steering);
        expect(JSON.parse(out.text)).toEqual(JSON.parse(JSON.stringify(given)));
      }),
    );
  });

  it("an output leaves data unchanged when it is not a terminal", async () => {
    const out = new MemoryOutput();
    const data = Buffer.from(`${hostile}\u00FF`, "latin1");
    await out.writeData(data, "json");
    await out.writeData(data, "text");
    await out.flush();
    expect(out.bytes.equals(Buffer.concat([data, data]))).toBe(true);
  });

  it("shows a status on a terminal only", async () => {
    const [terminal, pipe] = [new MemoryOutput(options), new MemoryOutput()];
    for (const out of [terminal, pipe]) await out.showStatus(`reading ${hostile}`);
    expect(terminal.text.startsWith("\r\u001B[Kreading ")).toBe(true);
    requireHarmless(terminal.text.slice("\r\u001B[K".length), ["export"]);
    expect(pipe.text).toBe("");
  });
});

it("a path in a hint is one word of a shell, without control characters", () => {
  expect(quoted("/it's\u001B[31m\nhere\\")).toBe(String.raw`$'/it\'s\u001b[31m\u000ahere\\'`);
  expect(quoted("/a b")).toBe("'/a b'");
});

describe("the process", () => {
  /** Runs before the program: pipes look like terminals, and what is thrown is not waited for. */
  const terminals = "process.stdout.isTTY = true; process.stderr.isTTY = true;";
  const failure =
    "const look = () => process.listenerCount('uncaughtException') > 0" +
    ` ? (() => { throw new Error(${JSON.stringify(hostile)}); })() : setImmediate(look); look();`;
  const preload = (code: string): { readonly nodeArguments: readonly string[] } => ({
    nodeArguments: ["--import", `data:text/javascript,${encodeURIComponent(code)}`],
  });

  it("prints through its outputs on a terminal", async () => {
    const file = hostileSession();
    for (const words of [
      ["verify", file],
      ["info", `${file}?`],
      ["entries", file, "--json"],
    ]) {
      const { out, err } = await runProcess(words, preload(terminals));
      expect(`${out}${err}`).not.toBe("");
      requireHarmless(out, words);
      requireHarmless(err, words);
    }
  });

  it("shows titles on a terminal of unknown width", async () => {
    const directory = temporaryDirectory();
    copyFileSync(fixture("pi-linear.jsonl"), join(directory, "s.jsonl"));
    const terminal = preload(`${terminals} process.stdout.columns = 0;`);
    const { out } = await runProcess(["list", directory], terminal);
    expect(out).toContain("Fix the login test");
  });

  it.each([{}, { BRANCHLOG_DEBUG: "1" }])(
    "the process reports an uncaught error, with %j",
    async (env) => {
      const directory = temporaryDirectory();
      const options = { env, ...preload(`${terminals}${failure}`) };
      const { code, err } = await runProcess(["watch", directory], options);
      expect(code).toBe(1);
      expect(err).toContain("error:");
      requireHarmless(err, ["export"]);
    },
  );
});
