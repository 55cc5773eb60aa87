/** The files of a session in its own directory. */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { quietly } from "@branchlog/core/files";

/** At any depth; none for a missing or unreadable directory. */
export function filesBelow(directory: string): readonly string[] {
  const read = (): readonly string[] => {
    const all = readdirSync(directory, { recursive: true, withFileTypes: true });
    return all.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  };
  return quietly(read) ?? [];
}

/**
 * All other files below the directory of a session; none if its name is not that of one. Around a
 * file that was copied elsewhere are files of the user.
 */
export function othersBelow(
  directory: string,
  sessionName: RegExp,
  path: string,
): readonly string[] {
  if (!sessionName.test(basename(directory))) return [];
  return filesBelow(directory).filter((file) => file !== path);
}

export const uuidName: RegExp = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
