/** Where a user's programs keep what can be derived again. */
import { homedir, platform } from "node:os";
import { join } from "node:path";
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

/** Of logs beside which nothing may be written. */
export function cachedCheckpoints(): string {
  return join(cacheDirectory(), "checkpoints");
}
