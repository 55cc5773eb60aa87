/** Where the sessions of a path are listed: of a directory, a file or a database. */
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
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
