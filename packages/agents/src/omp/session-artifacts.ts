/** Files for tool outputs: `<number>.<tool>.log`, in a directory next to their session. */
import { join } from "node:path";
import { errorCodeOf } from "@branchlog/core/files";
import type { FileSystem } from "@branchlog/core/types";

export const sessionEnding = ".jsonl";

/** Where omp keeps the files of a session in such a file. */
export function artifactsOf(sessionPath: string): string {
  return sessionPath.slice(0, -sessionEnding.length);
}

/** An empty file with the next number, which no other process gets. Throws as the file system. */
export function newArtifact(
  fs: FileSystem,
  directory: string,
  tool: string,
): { readonly id: string; readonly path: string } {
  fs.makeDirectorySync(directory);
  const numbers = fs.listSync(directory).map((name) => /^(\d+)\..*\.log$/.exec(name)?.[1]);
  const name = tool.replaceAll(/[^\w-]+/g, "_").slice(0, 64) || "tool";
  for (let id = Math.max(-1, ...numbers.map((one) => Number(one ?? -1))) + 1; ; id += 1) {
    const path = join(directory, `${id}.${name}.log`);
    try {
      fs.closeSync(fs.openSync(path, "create"));
      return { id: String(id), path };
    } catch (error) {
      if (errorCodeOf(error) !== "EEXIST") throw error;
    }
  }
}
