/** A directory that all processes of a run of the tests share, removed when the run ends. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Called by vitest before the processes start. */
export function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), "branchlog-run-"));
  // A server of the tests runs as another user.
  chmodSync(directory, 0o711);
  process.env["BRANCHLOG_RUN_DIR"] = directory;
  // What a test does not remove, or a process writes after its test, goes with the run.
  process.env["TMPDIR"] = directory;
  // What tests delete is not kept among what the developer deleted.
  process.env["BRANCHLOG_DATA_DIR"] = join(directory, "data");
  mkdirSync(join(directory, "data"));
  process.env["BRANCHLOG_CACHE_DIR"] = join(directory, "cache");
  // No process outlives its test.
  process.env["BRANCHLOG_INDEX_UPDATES"] = "off";
  return () => rmSync(directory, { recursive: true, force: true });
}
