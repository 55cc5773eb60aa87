/** Where the sessions of a path are listed: of a directory, a file or a database. */
import { statSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { quietly } from "@branchlog/core/files";
import { addressInFile, fileOfAddress } from "@branchlog/core/rows";
import { sharesFiles } from "@branchlog/library/catalogs";

export interface PlaceOfPath {
  /** A directory, or a database. */
  readonly place: string;
  /** The session there that the path is of, if it is of one. */
  readonly only?: string;
}

export async function placeOfPath(path: string): Promise<PlaceOfPath> {
  const { file, id } = fileOfAddress(path);
  try {
    const real = await realpath(file);
    if (!(await stat(real)).isFile()) return { place: path };
    if (id !== undefined) return { place: real, only: addressInFile(real, id) };
    return sharesFiles(real) ? { place: real } : { place: dirname(real), only: real };
  } catch {
    // Listing the place reports the error.
    return { place: path };
  }
}

/** Whether a path is of a directory, or of a database. False for a name or an id. */
export function holdsSeveral(path: string): boolean {
  const stats = quietly(() => statSync(path, { throwIfNoEntry: false }));
  return stats?.isDirectory() === true || (stats?.isFile() === true && sharesFiles(path));
}
