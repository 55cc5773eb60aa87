/** A fresh directory per test, removed afterwards. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Makes a directory that lives as long as the running test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "branchlog-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Writes a file into such a directory and returns its path. */
export function temporaryFile(content: string | Buffer, name: string = "s.jsonl"): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, content);
  return path;
}
