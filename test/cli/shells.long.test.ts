/**
 * The scripts of `branchlog completion`, run by the shells themselves, on a terminal: what the
 * command is given once a word was completed. A shell that is not installed is skipped.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { completionScript } from "../../packages/cli/src/completion-script.ts";
import { jsonLines, sampleHeader, storedEntry, userEntry } from "@branchlog/core/testing";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { program } from "./command-process.ts";

const label = 'fix: it\'s "here"';
const session = jsonLines(
  sampleHeader({ id: "0197340a-0000-7000-8000-00000000000a" }),
  userEntry("aaaa0001", null, "Hi"),
  storedEntry("label", "bbbb0002", "aaaa0001", { targetId: "aaaa0001", label }),
  storedEntry("session_info", "cccc0003", "bbbb0002", { name: "Zap: the test" }),
);

let directory: string;
let home: string;

/** A command that completes as ours, and otherwise writes down what it was given. */
const command = `#!/bin/sh
if [ "$1" = --complete ]; then exec "${process.execPath}" "${program}" "$@"; fi
for one in "$@"; do printf '<%s>' "$one"; done > "$SHOWN"
`;

beforeEach(() => {
  directory = temporaryDirectory();
  home = join(directory, "home");
  const sessions = join(home, ".pi", "agent", "sessions", "--w--");
  for (const path of [sessions, join(directory, "bin"), join(directory, "zsh")]) {
    mkdirSync(path, { recursive: true });
  }
  writeFileSync(join(sessions, "a.jsonl"), session);
  writeFileSync(join(directory, "work.jsonl"), session);
  writeFileSync(join(directory, "bin", "branchlog"), command);
  chmodSync(join(directory, "bin", "branchlog"), 0o755);
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = completionScript([shell], undefined) ?? "";
    writeFileSync(join(directory, `completion.${shell}`), script);
  }
  const path = `PS1='$ '\nexport PATH="${join(directory, "bin")}:$PATH"\n`;
  writeFileSync(join(directory, "bashrc"), `${path}source completion.bash\n`);
  const start = "autoload -U compinit; compinit -u -D\nsource completion.zsh\n";
  writeFileSync(join(directory, "zsh", ".zshrc"), path + start);
});

function isInstalled(...names: readonly string[]): boolean {
  return names.every((name) =>
    (process.env["PATH"] ?? "").split(":").some((place) => existsSync(join(place, name))),
  );
}

function environment(): NodeJS.ProcessEnv {
  const PATH = `${join(directory, "bin")}:${process.env["PATH"] ?? ""}`;
  const SHOWN = join(directory, "shown");
  return { PATH, HOME: home, ZDOTDIR: join(directory, "zsh"), TERM: "xterm", SHOWN };
}

/** Types a command line, the key Tab, and Return; returns what the command was given. */
function typed(shell: string, line: string): string {
  const shown = join(directory, "shown");
  rmSync(shown, { force: true });
  const { status, stdout } = spawnSync("script", ["-qec", shell, "/dev/null"], {
    cwd: directory,
    env: environment(),
    input: `branchlog ${line}\t\nexit\n`,
    timeout: 20_000,
  });
  expect(status, stdout.toString()).toBe(0);
  return readFileSync(shown, "utf8");
}

/** What fish offers; it writes the descriptions after tabs. */
function offeredByFish(line: string): readonly string[] {
  const script = "source completion.fish; complete -C $argv[1]";
  const { stdout } = spawnSync("fish", ["--no-config", "-c", script, `branchlog ${line}`], {
    cwd: directory,
    env: environment(),
    encoding: "utf8",
  });
  return stdout.split("\n").flatMap((one) => (one === "" ? [] : [one.split("\t")[0] ?? ""]));
}

interface Example {
  readonly what: string;
  readonly line: string;
  readonly words: readonly string[];
}

const at = (word: string): readonly string[] => ["context", "work.jsonl", "--at", word];

const examples: readonly Example[] = [
  { what: "a command", line: "ver", words: ["verify"] },
  { what: "the command that help is for", line: "help rep", words: ["help", "repair"] },
  {
    what: "an option",
    line: "context work.jsonl --fu",
    words: ["context", "work.jsonl", "--full"],
  },
  { what: "a file", line: "info wor", words: ["info", "work.jsonl"] },
  { what: "the name of a session", line: "info za", words: ["info", "Zap: the test"] },
  { what: "the id of a session", line: "info 0197", words: ["info", "0197340a"] },
  { what: "a name with escaped spaces", line: "info Zap:\\ th", words: ["info", "Zap: the test"] },
  { what: "a name in quotes", line: "info 'Zap: t", words: ["info", "Zap: the test"] },
  { what: "a name in double quotes", line: 'info "Za', words: ["info", "Zap: the test"] },
  { what: "the id of an entry", line: "context work.jsonl --at cc", words: at("cccc0003") },
  { what: "the leaf", line: "context work.jsonl --at @l", words: at("@leaf") },
  {
    what: "a label with a colon, spaces and quotes",
    line: "context work.jsonl --at fi",
    words: at(label),
  },
  { what: "the rest of a label", line: "context work.jsonl --at fix:", words: at(label) },
  { what: "a label in quotes", line: "context work.jsonl --at 'fi", words: at(label) },
  {
    what: "an entry of a session with an escaped name",
    line: "fork Zap:\\ the\\ test --at @t",
    words: ["fork", "Zap: the test", "--at", "@tail"],
  },
];

describe.skipIf(!isInstalled("bash", "script"))("bash, if it is installed", () => {
  it.each(examples)("completes $what", ({ line, words }) => {
    const shown = typed("bash --noprofile --rcfile bashrc -i", line);
    expect(shown).toBe(words.map((word) => `<${word}>`).join(""));
  });
});

describe.skipIf(!isInstalled("zsh", "script"))("zsh, if it is installed", () => {
  it.each(examples)("completes $what", ({ line, words }) => {
    expect(typed("zsh -i", line)).toBe(words.map((word) => `<${word}>`).join(""));
  });
});

describe.skipIf(!isInstalled("fish"))("fish, if it is installed", () => {
  it.each(examples)("offers $what", ({ line, words }) => {
    expect(offeredByFish(line)).toContain(words.at(-1));
  });
});
