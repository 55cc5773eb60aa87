/** A real directory for one test file, gone when its tests are over. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Makes a fresh sub-directory on each call; all of them are removed after the tests. */
export function temporaryDirectories(): () => string {
  const root = mkdtempSync(join(tmpdir(), "branchlog-catalog-"));
  afterAll(() => {
    rmSync(root, { recursive: true, force: true });
  });
  return () => mkdtempSync(join(root, "d"));
}
