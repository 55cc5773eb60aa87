/**
 * Reads a file line by line from the back: exactly the lines of the forward reader, last one
 * first, without line numbers. Only what is pulled is read, so the last lines of a huge file cost
 * one chunk.
 */
import { backwardPass } from "./backward-pass.ts";
import { type FileSource, openByteSource } from "./byte-source.ts";
import type { AnyFileLine } from "./file-line.ts";
import type { ReadFileOptions } from "./read-file.ts";

const noBytes = Buffer.alloc(0);

/**
 * The lines of a file, last one first.
 *
 * @throws What `fs` throws if the file cannot be opened or read.
 */
export async function* linesBackward(
  path: string,
  options: ReadFileOptions = {},
): AsyncGenerator<AnyFileLine, void, undefined> {
  options.signal?.throwIfAborted();
  const file = openByteSource(path);
  try {
    const pass = backwardPass(file.sizeSync(), options);
    let step = pass.next(noBytes);
    while (!step.done) {
      options.signal?.throwIfAborted();
      if ("line" in step.value) {
        yield step.value.line;
        step = pass.next(noBytes);
      } else {
        step = pass.next(await readWhole(file, step.value.position, step.value.length));
      }
    }
  } finally {
    file.closeSync();
  }
}

/** The same, synchronously. */
export function* linesBackwardSync(
  path: string,
  options: ReadFileOptions = {},
): Generator<AnyFileLine, void, undefined> {
  options.signal?.throwIfAborted();
  const file = openByteSource(path);
  try {
    const pass = backwardPass(file.sizeSync(), options);
    let step = pass.next(noBytes);
    while (!step.done) {
      options.signal?.throwIfAborted();
      if ("line" in step.value) {
        yield step.value.line;
        step = pass.next(noBytes);
      } else {
        step = pass.next(readWholeSync(file, step.value.position, step.value.length));
      }
    }
  } finally {
    file.closeSync();
  }
}

async function readWhole(file: FileSource, position: number, length: number): Promise<Buffer> {
  const target = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const bytesRead = await file.read(target, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return target.subarray(0, filled);
}

function readWholeSync(file: FileSource, position: number, length: number): Buffer {
  const target = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const bytesRead = file.readSync(target, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return target.subarray(0, filled);
}
