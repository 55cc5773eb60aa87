/**
 * Prints texts of the program itself, without loading the outputs that keep control sequences out
 * of foreign text: no text of a file, a name or an argument may be printed here.
 */
import { writeSync } from "node:fs";

/** False if the output refused all of it, which is then reported as for every other text. */
export function isPrinted(whole: string): boolean {
  let rest = Buffer.from(whole);
  const bytes = rest.length;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
  } catch {
    if (rest.length === bytes) return false;
    process.stdout.write(rest);
  }
  return true;
}
