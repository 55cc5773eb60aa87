/** A memory file system of which chosen calls fail. */
import { MemoryFileSystem, fileError } from "@branchlog/core/testing";
import type { FileSystemCall } from "@branchlog/core/testing";

/** Calls that are chosen by number, from 1, fail with EIO; without hard links, so do those. */
export function failingFileSystem(
  isMeant: (call: number) => boolean,
  hasLinks: boolean = true,
): { readonly fs: MemoryFileSystem; readonly failed: readonly FileSystemCall["name"][] } {
  const fs = new MemoryFileSystem();
  const failed: FileSystemCall["name"][] = [];
  let calls = 0;
  fs.onCall = ({ name }) => {
    calls += 1;
    if (isMeant(calls)) {
      failed.push(name);
      throw fileError("EIO", name);
    }
    if (name === "linkSync" && !hasLinks) throw fileError("EPERM", "link");
  };
  return { fs, failed };
}
