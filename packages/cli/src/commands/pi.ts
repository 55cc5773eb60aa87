/** `branchlog pi`: pi, as it is installed, with its sessions on our session manager. */
import { readFileSync, realpathSync } from "node:fs";
import module from "node:module";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { BranchlogError } from "@branchlog/core";
import { isObject, stringAt } from "@branchlog/core/rows";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { quoted } from "../failure.ts";
import { isAddress } from "../path-form.ts";

export interface PiOptions {
  readonly force: boolean;
  /** Only prints what would be run, like `json`. */
  readonly dryRun: boolean;
  readonly json: boolean;
  /** What pi takes. */
  readonly words: readonly string[];
}

export async function piCommand(options: PiOptions, io: CommandIo): Promise<CommandResult> {
  const { force, dryRun, json, words } = options;
  const pi = installedPi();
  if (!force) requireTried(pi);
  const command = [
    process.execPath,
    "--import",
    hooksOf(pi, words),
    join(pi.directory, "dist", "cli.js"),
  ];
  const started = { words: [...command, ...words], cwd: process.cwd() };
  if (json) await writeJsonLine(io.out, { command: started.words, cwd: started.cwd });
  else if (dryRun) await io.out.write(`${started.words.map((word) => quoted(word)).join(" ")}\n`);
  else {
    requireHooks();
    await io.out.flush();
    return io.runProgram(started);
  }
  return 0;
}

interface InstalledPi {
  /** Of its package. */
  readonly directory: string;
  readonly version: string;
}

const packageNames = ["@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"] as const;

/** The one that the shell would start. */
function installedPi(): InstalledPi {
  const places = (process.env["PATH"] ?? "").split(delimiter).filter((place) => place !== "");
  for (const place of places) {
    const found = packageOf(join(place, "pi")) ?? packageBeside(place);
    if (found !== undefined) return found;
  }
  const message =
    "pi is not installed, or not on the PATH. " +
    `Install it with npm install -g ${packageNames[0]}.`;
  throw new BranchlogError("ERR_RESUME_FAILED", message);
}

/** Of a link into the package, as npm makes it. */
function packageOf(link: string): InstalledPi | undefined {
  let directory: string;
  try {
    directory = dirname(realpathSync(link));
  } catch {
    return undefined;
  }
  for (;;) {
    const found = packageAt(directory);
    if (found !== undefined) return found;
    const above = dirname(directory);
    if (above === directory) return undefined;
    directory = above;
  }
}

/** Of a script, as npm makes it on Windows. */
function packageBeside(place: string): InstalledPi | undefined {
  const directories = packageNames.map((name) => join(place, "node_modules", name));
  return directories.map((directory) => packageAt(directory)).find((one) => one !== undefined);
}

function packageAt(directory: string): InstalledPi | undefined {
  try {
    // Decoding boundary: checked right away.
    const manifest: unknown = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    if (!isObject(manifest)) return undefined;
    const [name, version] = [stringAt(manifest, "name"), stringAt(manifest, "version")];
    const isPi = packageNames.some((one) => one === name);
    return isPi && version !== undefined ? { directory, version } : undefined;
  } catch {
    return undefined;
  }
}

/** Tested completely in the end-to-end tests. */
const triedVersions: ReadonlySet<string> = new Set(["0.87.1", "1.6.0"]);

function requireTried({ version, directory }: InstalledPi): void {
  if (triedVersions.has(version)) return;
  const tried = [...triedVersions].join(" and ");
  const message =
    `pi ${version} at ${directory} was not tested with Branchlog, only ${tried}. ` +
    "branchlog pi --force starts it anyway.";
  throw new BranchlogError("ERR_RESUME_FAILED", message, { path: directory });
}

function requireHooks(): void {
  if (typeof Reflect.get(module, "registerHooks") === "function") return;
  const message =
    `Node ${process.version} cannot replace pi's session manager: Node 22.19 or later ` +
    "is required.";
  throw new BranchlogError("ERR_RESUME_FAILED", message);
}

const placeOptions: ReadonlySet<string> = new Set(["--session", "--session-dir", "--fork"]);

/** Whether pi is to find sessions in a store. */
function isOnStore(words: readonly string[]): boolean {
  return words.some((word, at) => isAddress(word) && placeOptions.has(words[at - 1] ?? ""));
}

function addressOf(name: string): string {
  return pathToFileURL(module.createRequire(import.meta.url).resolve(name)).href;
}

/** A module that gives pi our session manager instead of its own. */
function hooksOf({ directory }: InstalledPi, words: readonly string[]): string {
  const own = pathToFileURL(join(directory, "dist", "core", "session-manager.js")).href;
  const ours = addressOf("@branchlog/agents/pi");
  const stores = addressOf("@branchlog/postgres/blocking");
  const code = [
    ...(isOnStore(words) ? [`import ${JSON.stringify(stores)};`] : []),
    'import { registerHooks } from "node:module";',
    "registerHooks({ resolve(name, context, next) {",
    "const found = next(name, context);",
    `const isOwn = found.url === ${JSON.stringify(own)};`,
    `return isOwn ? { ...found, url: ${JSON.stringify(ours)} } : found;`,
    "} });",
  ];
  return `data:text/javascript,${encodeURIComponent(code.join("\n"))}`;
}
