/**
 * The two programs that are compared: pi as published, and a copy of it whose session layer is
 * ours. The copy is recreated in each run, so it never holds an older build.
 */
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { builtFace, cache, newerNode, piInstallation, piPackage } from "./install.ts";

/** A pi that can be started: `node cli …arguments`. */
export interface PiProgram {
  readonly name: string;
  /** Modules that Node loads before it. */
  readonly imports?: readonly string[];
  readonly node: string;
  readonly packageFolder: string;
}

/** The module that holds pi's session layer, below its package folder. */
export const sessionModule = "dist/core/session-manager.js";
const scope = "@earendil-works";
const copyPrefix = "pi-on-branchlog-";

/** Both programs, for the tests of one file. Installs what is missing. */
export function bothPis(): { readonly original: PiProgram; readonly replaced: PiProgram } {
  let replaced: PiProgram | undefined;
  beforeAll(() => {
    replaced = piOnBranchlog();
  }, 600_000);
  afterAll(() => {
    if (replaced !== undefined) removePiOnBranchlog(replaced);
  });
  return {
    get original() {
      return originalPi();
    },
    get replaced() {
      if (replaced === undefined) throw new Error("The copy of pi is made before the first test");
      return replaced;
    },
  };
}

/** pi as published. */
function originalPi(): PiProgram {
  return { name: "pi", node: newerNode(), packageFolder: piPackage() };
}

/** A copy of pi in which the session layer is re-exported from `face`. */
function piOnBranchlog(): PiProgram {
  const dependencies = join(piInstallation(), "node_modules");
  removeLeftovers();
  const modules = join(cache, `${copyPrefix}${process.pid}`, "node_modules");
  mkdirSync(join(modules, scope), { recursive: true });
  linkDependencies(dependencies, modules);
  const packageFolder = join(modules, scope, "pi-coding-agent");
  cpSync(piPackage(), packageFolder, { recursive: true });
  // The bundle holds the session layer a second time; without it, a start from it cannot pass.
  rmSync(join(packageFolder, "dist/bundle"), { recursive: true, force: true });
  const face = pathToFileURL(builtFace()).href;
  writeFileSync(join(packageFolder, sessionModule), `export * from ${JSON.stringify(face)};\n`);
  return { name: "pi on Branchlog", node: newerNode(), packageFolder };
}

function removePiOnBranchlog(program: PiProgram): void {
  rmSync(join(program.packageFolder, "../../.."), { recursive: true, force: true });
}

/** Copies of processes that were stopped before they could remove theirs. */
function removeLeftovers(): void {
  for (const name of readdirSync(cache)) {
    if (!name.startsWith(copyPrefix)) continue;
    const pid = Number(name.slice(copyPrefix.length));
    if (pid !== process.pid && isRunning(pid)) continue;
    rmSync(join(cache, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function linkDependencies(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    if (name === scope) continue;
    symlinkSync(join(from, name), join(to, name), "junction");
  }
  for (const name of readdirSync(join(from, scope))) {
    if (name === "pi-coding-agent") continue;
    symlinkSync(join(from, scope, name), join(to, scope, name), "junction");
  }
}
