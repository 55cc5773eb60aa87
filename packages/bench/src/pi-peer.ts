/**
 * pi's own session manager, where `npm run test:e2e` has installed it, to measure beside ours. Not
 * a dependency: without it, the cases that would use it have one subject less.
 */
import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

/** As much of pi's session manager as is measured. */
export interface PiManager {
  appendMessage(message: object): string;
  getSessionFile(): string | undefined;
}

const installed = [
  ["0.73.1", "@mariozechner/pi-coding-agent"],
  ["0.87.1", "@earendil-works/pi-coding-agent"],
] as const;

/** A version of pi that is installed here. */
export interface PiPeer {
  readonly version: string;
  /** A new session in a directory; its file comes with the first answer of a model. */
  create(directory: string): Promise<PiManager>;
}

const cache = new URL("../../../node_modules/.cache/branchlog-e2e/", import.meta.url);

/** The versions that are installed here and run on this Node. */
export const piPeers: readonly PiPeer[] = installed.flatMap(([version, name]) => {
  const module = new URL(`pi-${version}/node_modules/${name}/dist/core/session-manager.js`, cache);
  const path = fileURLToPath(module);
  return existsSync(path) && runsHere(version) ? [{ version, create: creator(path) }] : [];
});

/** pi 0.87 needs a Node newer than the oldest that we support. */
function runsHere(version: string): boolean {
  const major = Number(process.versions.node.split(".")[0]);
  return version.startsWith("0.73") || major >= 22;
}

function creator(path: string): PiPeer["create"] {
  return async (directory) => {
    // Decoding boundary: pi's module, of the versions named above.
    const { SessionManager } = (await import(pathToFileURL(path).href)) as {
      readonly SessionManager: {
        readonly create: (cwd: string, directory: string) => PiManager;
      };
    };
    return SessionManager.create(directory, directory);
  };
}
