/**
 * Packs the published packages into a folder, as publishing would: `node pack.mjs <folder>`.
 * pnpm does it because it replaces `workspace:` and `catalog:` by versions; it comes through npx
 * at the version that package.json pins, so that the machine needs nothing but npm.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { publishedPackages, readManifest, root, tarballName } from "./packages.mjs";

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error("Usage: node scripts/checks/pack.mjs <folder>");

const pnpm = readManifest(root).packageManager;
for (const published of publishedPackages()) {
  const folder = join(root, "packages", published.folder);
  execFileSync("npx", ["--yes", pnpm, "pack", "--pack-destination", target], {
    cwd: folder,
    stdio: "inherit",
  });
  const tarball = join(target, tarballName(published));
  if (!existsSync(tarball)) throw new Error(`pnpm did not make ${tarball}`);
}
