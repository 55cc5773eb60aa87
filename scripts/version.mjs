/**
 * Turns changesets into the next version: `npm run version`. Private packages have the version of
 * the published one, and no changelog of their own.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { readManifest, root } from "./checks/packages.mjs";

execFileSync("npx", ["changeset", "version"], { cwd: root, stdio: "inherit" });
for (const name of readdirSync(join(root, "packages"))) {
  const directory = join(root, "packages", name);
  if (existsSync(join(directory, "package.json")) && readManifest(directory).private === true) {
    rmSync(join(directory, "CHANGELOG.md"), { force: true });
  }
}

// It contains its parts, and nobody installs them.
const changelog = join(root, "packages", "branchlog", "CHANGELOG.md");
const lines = readFileSync(changelog, "utf8").split("\n");
writeFileSync(changelog, lines.filter((line) => !/^ +- @branchlog\//.test(line)).join("\n"));
