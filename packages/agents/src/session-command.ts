/** How pi and omp continue a session, in a file or in a store. Pure. */
import type { Agent } from "@branchlog/core/rows";
import { schemeOf } from "@branchlog/core/addresses";

export function resumedBy(program: string): Agent["resume"] {
  return ({ id, path }) => {
    if (schemeOf(path) === undefined) return [program, "--session", path];
    // Agents treat the value of `--session` as a file path, but accept an id.
    const store = path.slice(0, path.lastIndexOf("#"));
    return [program, "--session-dir", store, "--session", id];
  };
}
