/**
 * Where Claude Code and Codex keep their sessions, by their own rules. Nothing is ever written
 * there.
 */
import { homedir } from "node:os";
import { dirname, join, sep } from "node:path";
import { BranchlogError } from "../errors.ts";
import { nodeFileSystem } from "./node-file-system.ts";
import { quietly } from "./ports.ts";
import type { FileSystem } from "./ports.ts";
import { resolvePath } from "./user-paths.ts";

/** By the agents' environment variables, read on each call. They need not exist. */
export function foreignPlaces(): string[] {
  const { CLAUDE_CONFIG_DIR, CODEX_HOME } = process.env;
  const claude = CLAUDE_CONFIG_DIR
    ? [resolvePath(CLAUDE_CONFIG_DIR)]
    : [join(homedir(), ".claude"), join(homedir(), ".config", "claude")];
  const codex = CODEX_HOME ? resolvePath(CODEX_HOME) : join(homedir(), ".codex");
  return [
    ...claude.map((place) => join(place, "projects")),
    join(codex, "sessions"),
    join(codex, "archived_sessions"),
  ];
}

/** Whether a directory, which need not exist, is such a place or below one. */
export function foreignPlaceCheck(
  fs: Pick<FileSystem, "realpathSync"> = nodeFileSystem,
): (directory: string) => boolean {
  const places = foreignPlaces().map((place) => realPath(fs, place));
  return (directory) => {
    const path = `${realPath(fs, directory)}${sep}`;
    return places.some((place) => path.startsWith(`${place}${sep}`));
  };
}

/** Throws `ERR_CREATE_FAILED` for a path of a new file in such a place. */
export function requireOwnPlace(fs: FileSystem, path: string): void {
  if (!foreignPlaceCheck(fs)(dirname(path))) return;
  const message =
    `${path} was not created: Claude Code or Codex keeps its own sessions there, and nothing ` +
    "else may write to them. Choose another place.";
  throw new BranchlogError("ERR_CREATE_FAILED", message, { path });
}

/** Of what does not exist, the part that does is resolved. */
function realPath(fs: Pick<FileSystem, "realpathSync">, path: string): string {
  const above = dirname(path);
  const found = quietly(() => fs.realpathSync(path));
  return found ?? (above === path ? path : join(realPath(fs, above), path.slice(above.length)));
}
