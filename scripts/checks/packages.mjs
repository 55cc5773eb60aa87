/** The package that the workspace publishes, as its package.json says. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the workspace. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** @returns {{ name: string, folder: string, version: string }} The one that is published. */
export function publishedPackage() {
  const folder = "branchlog";
  const { name, version } = readManifest(join(root, "packages", folder));
  return { name, folder, version };
}

/** @returns {any} The package.json of a folder, or null if it has none. */
export function readManifest(folder) {
  const path = join(folder, "package.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : null;
}

/** The file that `npm pack` makes of a package. */
export function tarballName({ name, version }) {
  return `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
}
