/**
 * The agent of a directory of sessions: one that alone writes there, where Branchlog never writes;
 * or one whose sessions have a dialect of the engine.
 */
import { dirname, join, sep } from "node:path";
import { registeredAgents } from "../dialects/agent.ts";
import type { Agent } from "../dialects/agent.ts";
import { dialectNames } from "../dialects/dialect.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { BranchlogError } from "../errors.ts";
import { nodeFileSystem } from "./node-file-system.ts";
import { quietly } from "./ports.ts";
import type { FileSystem } from "./ports.ts";

/**
 * Whether a directory, which need not exist, is such a place or below one, perhaps behind a link
 * there.
 */
export function foreignPlaceCheck(): (directory: string) => boolean {
  const owned = ownedPlaces(nodeFileSystem);
  // Lists ask for thousands, most of which need not be resolved.
  return (directory) =>
    ownerAmong(owned, directory) !== undefined ||
    ownerAmong(owned, realPath(nodeFileSystem, directory)) !== undefined;
}

/** Throws `ERR_CREATE_FAILED` for a path of a new file in such a place. */
export function requireOwnPlace(fs: FileSystem, path: string): void {
  const owner = ownerAmong(ownedPlaces(fs), realPath(fs, dirname(path)));
  if (owner === undefined) return;
  const message =
    `${path} was not created: ${owner.product} keeps its own sessions there, and nothing ` +
    "else may write to them. Choose another place.";
  throw new BranchlogError("ERR_CREATE_FAILED", message, { path });
}

/**
 * Of a path, which agent of the engine's own dialects keeps its sessions there; undefined where
 * none does, or several do. Places and directories are resolved once.
 */
export function dialectFinder(
  fs: Pick<FileSystem, "realpathSync"> = nodeFileSystem,
): (path: string) => DialectName | undefined {
  const keepers = dialectNames.map((name) => {
    const places =
      registeredAgents()
        .find((agent) => agent.name === name)
        ?.places() ?? [];
    return { name, places: places.map((place) => realPath(fs, place) + sep) };
  });
  const known = new Map<string, DialectName | undefined>();
  return (path) => {
    const directory = dirname(path);
    if (known.has(directory)) return known.get(directory);
    const at = realPath(fs, directory) + sep;
    const found = keepers.filter(({ places }) => places.some((place) => at.startsWith(place)));
    const name = found.length === 1 ? found[0]?.name : undefined;
    known.set(directory, name);
    return name;
  };
}

interface OwnedPlace {
  readonly agent: Agent;
  /** Resolved, with a separator at its end. */
  readonly place: string;
}

function ownerAmong(owned: readonly OwnedPlace[], directory: string): Agent | undefined {
  const path = directory + sep;
  return owned.find(({ place }) => path.startsWith(place))?.agent;
}

function ownedPlaces(fs: Pick<FileSystem, "realpathSync">): readonly OwnedPlace[] {
  const isRead = ({ transcripts, documents }: Agent): boolean =>
    transcripts !== undefined || documents !== undefined;
  return registeredAgents()
    .filter(isRead)
    .flatMap((agent) => {
      // Some are below the working directory, which may be gone.
      const places = quietly(() => agent.places()) ?? [];
      return places.map((place) => ({ agent, place: realPath(fs, place) + sep }));
    });
}

/** Of what does not exist, the part that does is resolved. */
function realPath(fs: Pick<FileSystem, "realpathSync">, path: string): string {
  const above = dirname(path);
  const found = quietly(() => fs.realpathSync(path));
  return found ?? (above === path ? path : join(realPath(fs, above), path.slice(above.length)));
}
