/**
 * The real omp on Bun, installed on demand (1.5 GB, once) where the benchmarks keep theirs. A
 * program is a module that is given the path of omp's session manager, or of our face, and prints
 * JSON.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installPeers, peerModule, runtimePath } from "../../../packages/bench/src/peers.ts";

const sessions = "@oh-my-pi/pi-coding-agent/src/session/session-manager.ts";
const face = new URL("../../../packages/agents/dist/omp/index.js", import.meta.url);

/** Whose session manager a program is given. */
export type Side = "omp" | "ours";

/** Installs omp and Bun, unless they are there. */
export function installOmp(): void {
  installPeers("omp");
}

/**
 * Runs a program of this folder on Bun, in a home of its own.
 * @returns What it printed, parsed.
 */
export function runOnBun(
  side: Side,
  home: string,
  program: string,
  ...args: readonly string[]
): unknown {
  mkdirSync(home, { recursive: true });
  const manager = side === "omp" ? peerModule("omp", sessions) : face.href;
  const path = fileURLToPath(new URL(program, import.meta.url));
  const env = { ...process.env, HOME: home, PI_CODING_AGENT_DIR: join(home, "agent") };
  const text = execFileSync(runtimePath("bun"), [path, manager, ...args], {
    cwd: home,
    env,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
}
