/** The size of a file about to be read, to show how far its reading has come. */
import { statSync } from "node:fs";

/** In bytes; 0 if there is none, as whoever reads it will say. */
export function fileSize(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
