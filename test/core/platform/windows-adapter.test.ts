/** The adapter for Node as it is loaded on Windows, on the calls that this machine has in common. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { fileSystemContract } from "../../contracts/file-system.ts";
import { itPasses } from "../../contracts/contract.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const { platform } = process;
Object.defineProperty(process, "platform", { value: "win32" });
vi.resetModules();
const { nodeFileSystem } = await import("../../../packages/core/src/platform/node-file-system.ts");
Object.defineProperty(process, "platform", { value: platform });
afterAll(() => void vi.resetModules());

itPasses(
  "the adapter for Windows",
  fileSystemContract(() => ({ fs: nodeFileSystem, root: temporaryDirectory() })),
);

it("gives each file another number, which a double holds", () => {
  const root = temporaryDirectory();
  const numbers = Array.from({ length: 50 }, (_, at) => {
    const path = join(root, `${at}`);
    writeFileSync(path, "");
    return nodeFileSystem.statSync(path)?.ino ?? Number.NaN;
  });
  expect(new Set(numbers).size).toBe(50);
  expect(numbers.every(Number.isSafeInteger)).toBe(true);
});

it("syncs no directory, which Windows cannot open for that", () => {
  expect(() => nodeFileSystem.syncDirectorySync("/no/such/directory")).not.toThrow();
});
