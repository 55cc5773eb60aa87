/** What a command that only reads must leave as it was. */
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Of everything below a directory: path, times and, of files, a digest of the content. */
export function directoryState(root: string): readonly string[] {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted();
  return ["", ...names].map((name) => {
    const path = join(root, name);
    const stats = statSync(path, { bigint: true });
    const digest = stats.isFile()
      ? createHash("sha256").update(readFileSync(path)).digest("hex")
      : "directory";
    return `${name} ${stats.mtimeNs} ${stats.ctimeNs} ${digest}`;
  });
}
