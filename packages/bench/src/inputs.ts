/** The generated sessions of cases, cached by their parameters and a hash of the generator. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath, pid } from "node:process";
import { fileURLToPath } from "node:url";
import {
  type CaseInput,
  type InputFacts,
  type InputSpec,
  noFacts,
  type ScaledInput,
} from "./bench-case.ts";

const seed = 7;

export function sessionOf(
  full: number,
  quick: number,
  mix: NonNullable<InputSpec["mix"]> = "message-heavy",
): ScaledInput {
  return (scale) => ({ mix, bytes: scale === "full" ? full : quick, seed });
}

export function messagesOf(shape: "chain" | "fan-out", full: number, quick: number): ScaledInput {
  return (scale) => ({ shape, entries: scale === "full" ? full : quick, seed });
}

export function directoryOf(full: number, quick: number): ScaledInput {
  const session = sessionOf(437_000, 50_000);
  return (scale) => ({ ...session(scale), files: scale === "full" ? full : quick });
}

export const largeSession: ScaledInput = sessionOf(1_000_000_000, 20_000_000);
export const middleSession: ScaledInput = sessionOf(100_000_000, 5_000_000);

export function scratchLog({ scratch }: CaseInput): string {
  return join(scratch, "session.jsonl");
}

export function copiedLog(input: CaseInput): string {
  copyFileSync(input.path, scratchLog(input));
  return scratchLog(input);
}

/** Under a name of its own, not to be changed. Throws if it exists. */
export function ownLog(input: CaseInput): string {
  link(input.path, scratchLog(input));
  return scratchLog(input);
}

/** Without files that earlier lists left in the directory; not to be changed. */
export function ownDirectory({ path, scratch }: CaseInput): string {
  const own = join(scratch, "sessions");
  mkdirSync(own);
  for (const file of sessionsIn(path)) link(join(path, file), join(own, file));
  return own;
}

function link(path: string, own: string): void {
  try {
    linkSync(path, own);
  } catch {
    // On another volume, or where there are no links.
    copyFileSync(path, own);
  }
}

function sessionsIn(directory: string): readonly string[] {
  return readdirSync(directory).filter((file) => file.endsWith(".jsonl"));
}

export interface CachedInput {
  readonly path: string;
  readonly facts: InputFacts;
}

const cacheFolderDefault: string = join(tmpdir(), "branchlog-bench");

export function ensureInput(spec: InputSpec, folder: string = cacheFolderDefault): CachedInput {
  const options = Object.entries(spec).map(
    ([name, value]: readonly [string, string | number | undefined]) =>
      `${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}=${value}`,
  );
  const prefix = options.toSorted().join("-");
  const name = `${prefix}-${generatorHash()}`;
  const path = join(folder, spec.files === undefined ? `${name}.jsonl` : name);
  const factsPath = join(folder, `${name}.facts.json`);
  if (!existsSync(path) || !existsSync(factsPath)) {
    mkdirSync(folder, { recursive: true });
    removeOlder(folder, prefix);
    generate(options, path, factsPath);
  }
  // Decoding boundary: written by the generator of this very source tree, see the hash.
  const written = JSON.parse(readFileSync(factsPath, "utf8")) as Partial<InputFacts>;
  const facts: InputFacts = { ...noFacts, ...written };
  const files = spec.files === undefined ? [path] : sessionsIn(path).map((one) => join(path, one));
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  if (bytes !== facts.bytes) {
    throw new Error(`${path} has ${bytes} bytes, not ${facts.bytes}; remove it and run again`);
  }
  return { path, facts };
}

// The sources, even if this file is the compiled one.
const generatorFolder = fileURLToPath(new URL("../src/generator/", import.meta.url));

// By a temporary file of facts, so that concurrent benchmarks do not conflict.
function generate(options: readonly string[], path: string, factsPath: string): void {
  const temporaryFacts = `${factsPath}.${pid}.tmp`;
  const main = join(generatorFolder, "main.ts");
  const given = options.map((option) => `--${option}`);
  const args = ["--import", "tsx", main, "-o", path, "--facts", temporaryFacts, ...given];
  // The packages that it runs on are found from this folder.
  const child = spawnSync(execPath, args, { cwd: generatorFolder, encoding: "utf8" });
  if (child.status !== 0) throw new Error(`the generator failed: ${child.stderr}`);
  renameSync(temporaryFacts, factsPath);
}

function generatorHash(): string {
  const hash = createHash("sha256");
  for (const file of readdirSync(generatorFolder).sort()) {
    if (file.endsWith(".ts")) hash.update(file).update(readFileSync(join(generatorFolder, file)));
  }
  return hash.digest("hex").slice(0, 8);
}

function removeOlder(folder: string, prefix: string): void {
  const older = /^-[0-9a-f]{8}(\.jsonl|\.facts\.json|)$/;
  for (const file of readdirSync(folder)) {
    if (file.startsWith(prefix) && older.test(file.slice(prefix.length))) {
      rmSync(join(folder, file), { force: true, recursive: true });
    }
  }
}
