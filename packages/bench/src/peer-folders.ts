/**
 * Where the peers and their runtimes are: installed from the npm registry on demand, into
 * `packages/bench/peers`, which is no part of the workspace.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { env, execPath, platform } from "node:process";
import { fileURLToPath } from "node:url";

/** What is installed together: `peers` by `--peers`, and `omp`, which is large, by its own flag. */
export type PeerSet = "peers" | "omp";

/** What runs a subject: this Node, or one that comes with a set of peers. */
export type RuntimeName = "node" | "node-24" | "bun";

const root = new URL("../peers/", import.meta.url);
/** Of the packages of a set, install scripts run only for the one that is a runtime. */
const folders = {
  peers: { url: root, runtimePackage: "node" },
  omp: { url: new URL("omp/", root), runtimePackage: "bun" },
} as const;

/** Installs a set, unless this version of its package.json is installed. Throws if npm fails. */
export function installPeers(set: PeerSet): void {
  const { url, runtimePackage } = folders[set];
  const wanted = readFileSync(new URL("package.json", url), "utf8");
  // Written last, so that an install that was cut short does not count.
  const mark = new URL("node_modules/.installed.json", url);
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return;
  npm(url, "install", "--ignore-scripts", "--no-package-lock");
  npm(url, "rebuild", runtimePackage);
  writeFileSync(mark, wanted);
}

export function peerModule(set: PeerSet, path: string): string {
  return new URL(`node_modules/${path}`, folders[set].url).href;
}

export function runtimePath(runtime: RuntimeName): string {
  if (runtime === "node") return execPath;
  const node = `node/bin/node${platform === "win32" ? ".exe" : ""}`;
  const isBun = runtime === "bun";
  return fileURLToPath(isBun ? peerModule("omp", "bun/bin/bun.exe") : peerModule("peers", node));
}

// Without the settings that npm and pnpm pass to the scripts that they run.
function npm(cwd: URL, ...args: readonly string[]): void {
  const own = Object.entries(env).filter(([name]) => !/^(npm|pnpm)_/i.test(name));
  try {
    execFileSync("npm", [...args, "--no-audit", "--no-fund"], {
      cwd,
      env: Object.fromEntries(own),
      stdio: ["ignore", "pipe", "inherit"],
      shell: platform === "win32",
    });
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new Error(`the peers could not be installed (${reason}); run without --peers`, {
      cause: error,
    });
  }
}
