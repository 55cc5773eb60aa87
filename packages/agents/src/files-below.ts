/** The files of a session in its own directory. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { quietly } from "@branchlog/core/files";

/** At any depth; none for a missing or unreadable directory. */
export function filesBelow(directory: string): readonly string[] {
  const read = (): readonly string[] => {
    const all = readdirSync(directory, { recursive: true, withFileTypes: true });
    return all.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  };
  return quietly(read) ?? [];
}
