/**
 * Generated sessions, kept between runs: each is made once by the generator in its own process and
 * found again by its parameters and by the generator's own sources, so a changed generator never
 * serves old files. Two benchmarks at once do not harm each other.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
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
import { type InputFacts, type InputSpec, noFacts } from "./bench-case.ts";

/** A generated session and what is true of it. */
export interface CachedInput {
  readonly path: string;
  readonly facts: InputFacts;
}

/** Where inputs are kept unless another place is named. */
export const cacheFolderDefault: string = join(tmpdir(), "branchlog-bench");

/** Finds or makes the input. Throws if the generator fails or its file is not as it says. */
export function ensureInput(spec: InputSpec, folder: string = cacheFolderDefault): CachedInput {
  const prefix = prefixOf(spec);
  const name = `${prefix}-${generatorHash()}`;
  const path = join(folder, spec.files === undefined ? `${name}.jsonl` : name);
  const factsPath = join(folder, `${name}.facts.json`);
  if (!existsSync(path) || !existsSync(factsPath)) {
    mkdirSync(folder, { recursive: true });
    removeOlder(folder, prefix);
    generate(spec, path, factsPath);
  }
  // Decoding boundary: written by the generator of this very source tree, see the hash.
  const written = JSON.parse(readFileSync(factsPath, "utf8")) as Partial<InputFacts>;
  const facts: InputFacts = { ...noFacts, ...written };
  const size = sizeOf(path);
  if (size !== facts.bytes) {
    throw new Error(`${path} has ${size} bytes, not ${facts.bytes}; remove it and run again`);
  }
  return { path, facts };
}

// Its sources, whether this file is one of them or built.
const generatorFolder = fileURLToPath(new URL("../src/generator/", import.meta.url));

function generate(spec: InputSpec, path: string, factsPath: string): void {
  const temporaryFacts = `${factsPath}.${pid}.tmp`;
  const script = join(generatorFolder, "main.ts");
  const args = ["--import", "tsx", script, "-o", path, "--facts", temporaryFacts];
  const child = spawnSync(execPath, [...args, ...generatorArguments(spec)], {
    // Where the packages are found that it runs on.
    cwd: generatorFolder,
    encoding: "utf8",
  });
  if (child.status !== 0) throw new Error(`the generator failed: ${child.stderr}`);
  renameSync(temporaryFacts, factsPath);
}

/** What is given of a spec, in the order of the names. */
function given(spec: InputSpec): readonly (readonly [string, string])[] {
  return Object.entries(spec)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function generatorArguments(spec: InputSpec): readonly string[] {
  const optionOf = (name: string): string =>
    `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return given(spec).flatMap(([name, value]) => [optionOf(name), value]);
}

/** Like `7-seed` or `20000-bytes`, joined; no other spec has the same. */
function prefixOf(spec: InputSpec): string {
  return given(spec)
    .map(([name, value]) => `${value}-${name}`)
    .join("-");
}

/** Of a file, or of all sessions of a directory. */
function sizeOf(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.size;
  // A list of the sessions leaves a catalog beside them.
  const sessions = readdirSync(path).filter((file) => file.endsWith(".jsonl"));
  const sizes = sessions.map((file) => statSync(join(path, file)).size);
  return sizes.reduce((sum, size) => sum + size, 0);
}

function generatorHash(): string {
  const hash = createHash("sha256");
  for (const file of readdirSync(generatorFolder).sort()) {
    if (file.endsWith(".ts")) hash.update(file).update(readFileSync(join(generatorFolder, file)));
  }
  return hash.digest("hex").slice(0, 8);
}

// Files of the same parameters that an earlier generator made.
function removeOlder(folder: string, prefix: string): void {
  const older = /^-[0-9a-f]{8}(\.jsonl|\.facts\.json|)$/;
  for (const file of readdirSync(folder)) {
    if (file.startsWith(prefix) && older.test(file.slice(prefix.length))) {
      rmSync(join(folder, file), { force: true, recursive: true });
    }
  }
}
