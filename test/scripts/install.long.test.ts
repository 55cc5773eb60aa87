/** Installing from a clone: what the check `consume` does not do, since its tarballs are good. */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { root } from "../tidy/source-file.ts";

const folder = mkdtempSync(join(tmpdir(), "branchlog-install-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What pnpm notes of modules: here, that they are linked to a store of another place. */
const modulesElsewhere = {
  layoutVersion: 5,
  storeDir: "/elsewhere/v10",
  virtualStoreDir: ".pnpm",
  nodeLinker: "isolated",
  hoistPattern: ["*"],
  publicHoistPattern: [],
  included: { dependencies: true, devDependencies: true, optionalDependencies: true },
  registries: { default: "https://registry.npmjs.org/" },
};

it("npm run setup replaces the modules of a copied tree when there is no terminal to ask at", () => {
  const tree = temporaryDirectory();
  for (const path of ["linked", "node_modules"]) mkdirSync(join(tree, path), { recursive: true });
  copyFileSync(join(root, "pnpm-workspace.yaml"), join(tree, "pnpm-workspace.yaml"));
  const manifest = { private: true, dependencies: { linked: "link:./linked" } };
  writeFileSync(join(tree, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(tree, "linked", "package.json"), '{ "name": "linked" }');
  const noted = JSON.stringify(modulesElsewhere);
  writeFileSync(join(tree, "node_modules", ".modules.yaml"), noted);
  const setup = /"setup": "(.*) --frozen-lockfile/.exec(
    readFileSync(join(root, "package.json"), "utf8"),
  )?.[1];
  const { CI: _, ...env } = process.env;
  const command = `${setup} --offline --no-frozen-lockfile`;
  const options = { cwd: tree, env, encoding: "utf8", stdio: "pipe" } as const;
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], options);
  expect(`${stdout}${stderr}`).not.toContain("ERR_PNPM");
  expect(status).toBe(0);
  expect(readdirSync(join(tree, "node_modules"))).toContain("linked");
});

it("npm pack fails and names npm run pack when it is run in the sources of the package", () => {
  const { status, stderr } = spawnSync("npm", ["pack", "--pack-destination", folder], {
    cwd: join(root, "packages", "branchlog"),
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toContain('Run "npm run pack" in the root of the repository');
  expect(readdirSync(folder)).toEqual([]);
});
