/** Records what a repair or a migration replaced, so that it can be undone. */
import { requireOptions } from "@branchlog/core/files";
import { Archive, dataDirectoryNames } from "./archive-directory.ts";
import type { DataDirectoryOptions } from "./archive-directory.ts";
import { hashOfFile } from "./restore-file.ts";

export interface Replacement {
  readonly kind: "repair" | "migrate";
  readonly path: string;
  /** The file with the previous content. */
  readonly original: string;
  /** Of the replacement: later appends do not count. */
  readonly sizeBytes: number;
}

/**
 * Its operation, for `undoOperation`. Reads both files once.
 * @throws BranchlogError as `openOrCreateSession`; errors of reading the files.
 */
export async function recordReplacement(
  { kind, path, original, sizeBytes }: Replacement,
  options: DataDirectoryOptions = {},
): Promise<string> {
  const kept = new Archive(requireOptions(options, dataDirectoryNames));
  const before = (await hashOfFile(original)) ?? "";
  const after = (await hashOfFile(path, sizeBytes)) ?? "";
  const id = kept.ports.ids.sessionId();
  const changes = [{ kind: "replaced", path, original, before, after }] as const;
  await kept.record({ id, kind, timeMs: kept.ports.clock.now(), changes });
  return id;
}
