/**
 * Reads a file line by line from its end: exactly the lines of the forward reader, last one first,
 * without line numbers. Reads are lazy, so the last lines of a huge file cost one chunk.
 */
import { backwardPass } from "./backward-pass.ts";
import type { AnyFileLine } from "./file-line.ts";
import { filePass, filePassSync } from "./file-pass.ts";
import { requireKnown } from "./option-names.ts";
import { readFileNames, type ReadFileOptions } from "./read-file.ts";

/**
 * The lines of a file, last one first.
 *
 * @throws What `fs` throws if the file cannot be opened or read.
 */
export function linesBackward(
  path: string,
  options: ReadFileOptions = {},
): AsyncGenerator<AnyFileLine, void, undefined> {
  const { signal } = requireKnown(options, readFileNames);
  return filePass(path, (size) => backwardPass(size, options), { signal });
}

/** The same, synchronously. */
export function linesBackwardSync(
  path: string,
  options: ReadFileOptions = {},
): Generator<AnyFileLine, void, undefined> {
  return filePassSync(
    path,
    (size) => backwardPass(size, options),
    requireKnown(options, readFileNames).signal,
  );
}
