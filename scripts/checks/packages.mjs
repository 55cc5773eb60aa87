/** Which packages the workspace publishes, as their package.json files say. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the workspace. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** @returns {{ name: string, folder: string, version: string }[]} The packages that are published. */
export function publishedPackages() {
  return readdirSync(join(root, "packages"))
    .map((folder) => ({ folder, manifest: readManifest(join(root, "packages", folder)) }))
    .filter(({ manifest }) => manifest !== null && manifest.private !== true)
    .map(({ folder, manifest }) => ({ name: manifest.name, folder, version: manifest.version }));
}

/** @returns {any} The package.json of a folder, or null if it has none. */
export function readManifest(folder) {
  const path = join(folder, "package.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : null;
}

/** The file that `pnpm pack` makes of a package. */
export function tarballName({ name, version }) {
  return `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
}
