/**
 * The two builds that are compared: this checkout, and another one that `BRANCHLOG_OTHER_BUILD` names.
 * Modules are found through the packages' own names, so that a build may place its files as it likes.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { workspace } from "../e2e/support/install.ts";

/** The checkout that this one is compared with: an absolute path. Throws if none is named. */
export function otherCheckout(): string {
  const named = process.env["BRANCHLOG_OTHER_BUILD"];
  if (named === undefined || named === "") {
    throw new Error(
      "Set BRANCHLOG_OTHER_BUILD to another checkout of Branchlog in which `npm run setup` and " +
        "`npm run build` have run.",
    );
  }
  return resolve(workspace, named);
}

/** The checkout of this test. */
export const thisCheckout: string = workspace;

/** The built file behind an import such as `branchlog/pi`, or undefined. */
export function builtModule(checkout: string, name: string): string | undefined {
  const { resolve: find } = createRequire(join(checkout, "packages/branchlog/package.json"));
  try {
    return find(name);
  } catch {
    return undefined;
  }
}

/** The program behind the command `branchlog`. */
export function builtProgram(checkout: string): string {
  const program = join(checkout, "packages/branchlog/bin/branchlog.mjs");
  // Before there was that package.
  return existsSync(program) ? program : join(checkout, "packages/cli/bin/branchlog.mjs");
}
