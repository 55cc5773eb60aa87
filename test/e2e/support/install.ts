/**
 * Programs that the end-to-end tests compare with, installed on demand from the npm registry into a
 * cache that git ignores. A folder is complete or absent: it is filled next to its place and
 * renamed.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the workspace. */
export const workspace: string = fileURLToPath(new URL("../../../", import.meta.url));
/** Where everything that these tests install is kept between runs. */
export const cache: string = join(workspace, "node_modules/.cache/branchlog-e2e");

/** The Node that runs pi: it needs 22.19, the workspace's own may be older. */
const nodeSpec = "node@24.21.0";
/** The pi that is run whole: the last one whose dependencies are all published. */
export const piVersion = "0.87.1";
const piSpec = `@earendil-works/pi-coding-agent@${piVersion}`;
/** The pi whose session layer our face follows; only that module of it can be loaded. */
export const newestPiVersion = "1.5.2";
const newestPiSpec = `@earendil-works/pi-coding-agent@${newestPiVersion}`;
/** The last pi that runs on Node 20. */
export const oldPiVersion = "0.73.1";
const oldPiSpec = `@mariozechner/pi-coding-agent@${oldPiVersion}`;

/** Fills a folder of the cache, unless it is there. */
function cached(name: string, fill: (folder: string) => void): string {
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  fill(unfinished);
  renameSync(unfinished, folder);
  return folder;
}

/** Runs npm without the settings that it and pnpm hand down to the scripts they run. */
function npm(folder: string, ...args: readonly string[]): void {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm|pnpm)_/i.test(name)),
  );
  execFileSync("npm", [...args, "--no-audit", "--no-fund"], { cwd: folder, env, stdio: "pipe" });
}

function installed(name: string, spec: string): string {
  return cached(name, (folder) => {
    writeFileSync(join(folder, "package.json"), '{"private":true}\n');
    npm(folder, "install", spec);
  });
}

/** The executable of the Node that runs pi. */
export function newerNode(): string {
  const executable = join(installed("node-24", nodeSpec), "node_modules/node/bin/node");
  if (!existsSync(executable)) {
    throw new Error(`${nodeSpec} has no executable: its install script did not run`);
  }
  return executable;
}

/** The folder that holds `node_modules` of the pi that is run whole. */
export function piInstallation(): string {
  return installed(`pi-${piVersion}`, piSpec);
}

/** The package folder of the pi that is run whole. */
export function piPackage(): string {
  return join(piInstallation(), "node_modules/@earendil-works/pi-coding-agent");
}

/** The package folder of the newest pi that is run whole. */
export function latestPiPackage(): string {
  const folder = installed("pi-1.6.0", "@earendil-works/pi-coding-agent@1.6.0");
  return join(folder, "node_modules/@earendil-works/pi-coding-agent");
}

/** The package folder of the last pi that runs on Node 20. */
export function oldPiPackage(): string {
  const folder = installed(`pi-${oldPiVersion}`, oldPiSpec);
  return join(folder, "node_modules/@mariozechner/pi-coding-agent");
}

/**
 * The package folder of the newest pi, unpacked next to the dependencies of the one that is run
 * whole: not all of them are published. Its session layer needs only two functions of them.
 */
export function newestPiPackage(): string {
  const dependencies = join(piInstallation(), "node_modules");
  const folder = cached(`pi-${newestPiVersion}`, (unfinished) => {
    npm(unfinished, "pack", newestPiSpec);
    const archive = `earendil-works-pi-coding-agent-${newestPiVersion}.tgz`;
    execFileSync("tar", ["-xzf", archive], { cwd: unfinished, stdio: "pipe" });
    rmSync(join(unfinished, archive));
    symlinkSync(dependencies, join(unfinished, "node_modules"), "junction");
  });
  return join(folder, "package");
}

/** The package folder of the Claude Agent SDK, with the program that it starts. */
export function claudeAgentSdk(): string {
  const folder = installed("claude-agent-sdk-0.3.332", "@anthropic-ai/claude-agent-sdk@0.3.332");
  return join(folder, "node_modules/@anthropic-ai/claude-agent-sdk");
}

/** The package folder of OpenAI Agents, which also runs on Node 20. */
export function openaiAgents(): string {
  const folder = installed("openai-agents-0.20.0", "@openai/agents@0.20.0");
  return join(folder, "node_modules/@openai/agents");
}

/** The built drop-in of this workspace. */
export function builtFace(): string {
  const face = join(workspace, "packages/agents/dist/pi/index.js");
  if (!existsSync(face)) throw new Error(`${dirname(face)} is not built: run npm run build`);
  return face;
}
