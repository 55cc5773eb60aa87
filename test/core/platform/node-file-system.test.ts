/** The file system of this machine, in temporary directories. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileSystemContract } from "../../contracts/file-system.ts";
import { nodeFileSystem } from "../../../packages/core/src/platform/node-file-system.ts";
import { itPasses } from "../../contracts/contract.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

itPasses(
  "the machine's file system",
  fileSystemContract(() => ({ fs: nodeFileSystem, root: temporaryDirectory() })),
);

it("resolves symbolic links, so that two names of a directory are one", () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, "real"));
  symlinkSync(join(root, "real"), join(root, "alias"), "junction");
  expect(nodeFileSystem.realpathSync(join(root, "alias"))).toBe(join(root, "real"));
});
