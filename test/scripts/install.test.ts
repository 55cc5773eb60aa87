/** Installing from a clone: what the check `consume` does not do, since its tarballs are good. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "../tidy/source-file.ts";

const folder = mkdtempSync(join(tmpdir(), "branchlog-install-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("npm pack", () => {
  it.each(["core", "streaming", "cli"])(
    "fails and names npm run pack when it is run in the directory of %s",
    (name) => {
      const { status, stderr } = spawnSync("npm", ["pack", "--pack-destination", folder], {
        cwd: join(root, "packages", name),
        encoding: "utf8",
      });
      expect(status).toBe(1);
      expect(stderr).toContain('Run "npm run pack" in the root of the repository');
      expect(readdirSync(folder)).toEqual([]);
    },
  );
});
