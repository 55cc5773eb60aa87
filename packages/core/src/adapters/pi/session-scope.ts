/**
 * Decides which sessions of a directory belong to a working directory. The header decides, never
 * the name of the directory: several working directories may share a default directory, and a flat
 * one holds those of all. Pure, and total over whatever a header may hold.
 */
import { isDefaultSessionDir } from "./agent-directory.ts";
import { isSamePath, resolvePath } from "./local-path.ts";

/** Says of a header's cwd, as stored, whether the session belongs to the working directory. */
export type SessionScope = (headerCwd: unknown) => boolean;

/**
 * The scope of `cwd` in `directory`: headers whose cwd resolves to it. Headers without one, as
 * the oldest versions wrote them, can be told apart by their place only, so they belong to the
 * default directory they are in, and nowhere else.
 * @throws TypeError if `cwd` is a `file:` URL that names no local path.
 */
export function sessionScope(cwd: string, directory: string): SessionScope {
  const resolved = resolvePath(cwd);
  const isDefault = isDefaultSessionDir(directory, cwd);
  return (headerCwd) => {
    if (typeof headerCwd !== "string" || headerCwd === "") return isDefault;
    try {
      return isSamePath(resolvePath(headerCwd), resolved);
    } catch {
      // A cwd that cannot be a path of this machine is not ours, and no reason to fail.
      return false;
    }
  };
}
