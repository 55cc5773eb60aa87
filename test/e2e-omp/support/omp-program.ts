/**
 * The real omp on Bun, installed on demand (1.5 GB, once) where the benchmarks keep theirs. A
 * program is a module that is given the path of omp's session manager, or of our face, and prints
 * JSON.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installPeers, peerModule, runtimePath } from "../../../packages/bench/src/peers.ts";

const sessions = "@oh-my-pi/pi-coding-agent/src/session/session-manager.ts";
const face = new URL("../../../packages/agents/dist/omp/index.js", import.meta.url);

/** Whose session manager a program is given. */
export type Side = "omp" | "ours";

export const faceUrl: string = face.href;
export const sdkUrl: string = peerModule("omp", "@oh-my-pi/pi-coding-agent/src/sdk.ts");

/** What omp cannot be installed for here; undefined: it is there. */
export function ompProblem(): string | undefined {
  try {
    installOmp();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Installs omp and Bun, unless they are there. */
export function installOmp(): void {
  installPeers("omp");
}

/**
 * Runs a program of this folder on Bun, in a separate home directory.
 * @returns What it printed, parsed.
 */
export function runOnBun(
  side: Side,
  home: string,
  program: string,
  ...args: readonly string[]
): unknown {
  const { path, words, options } = commandOf(side, home, program, args);
  const text = execFileSync(path, words, { ...options, maxBuffer: 64 * 1024 * 1024 });
  return answerIn(text);
}

/** {@link runOnBun} alongside others. */
export async function startOnBun(
  side: Side,
  home: string,
  program: string,
  ...args: readonly string[]
): Promise<unknown> {
  const { path, words, options } = commandOf(side, home, program, args);
  return answerIn((await promisify(execFile)(path, words, options)).stdout);
}

function answerIn(text: string): unknown {
  return JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
}

function commandOf(side: Side, home: string, program: string, args: readonly string[]) {
  mkdirSync(home, { recursive: true });
  const manager = side === "omp" ? peerModule("omp", sessions) : face.href;
  const path = fileURLToPath(new URL(program, import.meta.url));
  const env = { ...process.env, HOME: home, PI_CODING_AGENT_DIR: join(home, "agent") };
  const options = { cwd: home, env, encoding: "utf8" } as const;
  return { path: runtimePath("bun"), words: [path, manager, ...args], options };
}
