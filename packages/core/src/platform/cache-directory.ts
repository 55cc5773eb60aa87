/** Where a user's programs keep derived data. */
import { createHash } from "node:crypto";
import { homedir, platform } from "node:os";
import { join } from "node:path";
import { quietly } from "./ports.ts";
import type { Ports } from "./ports.ts";
import { isOfTrusted } from "./sidecar.ts";
import { resolvePath } from "./user-paths.ts";

/**
 * `BRANCHLOG_CACHE_DIR`, else `branchlog` in `XDG_CACHE_HOME`, else in the directory of the system
 * for caches of this user. It need not exist.
 */
function cacheDirectory(): string {
  const { BRANCHLOG_CACHE_DIR, XDG_CACHE_HOME } = process.env;
  if (BRANCHLOG_CACHE_DIR) return resolvePath(BRANCHLOG_CACHE_DIR);
  return join(XDG_CACHE_HOME ? resolvePath(XDG_CACHE_HOME) : cachesOfSystem(), "branchlog");
}

function cachesOfSystem(): string {
  const home = homedir();
  if (platform() === "darwin") return join(home, "Library", "Caches");
  if (platform() !== "win32") return join(home, ".cache");
  return process.env["LOCALAPPDATA"] ?? join(home, "AppData", "Local");
}

/** Of logs next to which nothing may be written. */
export function cachedCheckpoints(): string {
  return join(cacheDirectory(), "checkpoints");
}

/** One of the catalogs that directories share. */
export function cachedCatalog(number: number): string {
  const digest = createHash("sha256").update(`shared:${number}`).digest("hex");
  return join(cacheDirectory(), "catalogs", digest.slice(0, 32));
}

/** The search index of all sessions of this user. */
export function cachedSearchIndexes(): string {
  return join(cacheDirectory(), "search");
}

/**
 * Makes a directory of the cache. Throws for one that others own or can write to: they could read
 * and replace its files.
 */
export function makeCacheDirectory({ fs }: Ports, directory: string): void {
  fs.makeDirectorySync(directory);
  const stat = fs.statSync(directory);
  if (stat === null || !isOfTrusted(stat, fs.userId())) {
    throw new Error(`${directory} is not a private directory of this user`);
  }
}

/** A file that was not written for so long is of a directory that is gone, or is rebuilt soon. */
const keptMs = 90 * 24 * 60 * 60 * 1000;

const savedNames =
  /^(?:(?:[\da-f]{16}-.+|\.branchlog-[\da-f]{32})\.ckpt|[\da-f]{32})(?:\.[\da-f-]{36}\.tmp)?$/;

/** Removes files that were left behind in a directory of the cache. Throws nothing. */
export function removeOldFiles({ fs, clock }: Ports, directory: string): void {
  const olderMs = clock.now() - keptMs;
  for (const name of quietly(() => fs.listSync(directory)) ?? []) {
    if (!savedNames.test(name)) continue;
    const path = join(directory, name);
    quietly(() => {
      if ((fs.statSync(path)?.mtimeMs ?? olderMs) < olderMs) fs.unlinkSync(path);
    });
  }
}
