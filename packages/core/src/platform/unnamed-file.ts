/**
 * An unnamed file: no other process can open it, and the system removes it when it is closed, at
 * the latest when this process ends.
 */
import { closeSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quietly } from "./ports.ts";

const descriptors = new FinalizationRegistry<number>((fd) => quietly(() => closeSync(fd)));

export class UnnamedFile {
  readonly #fd: number;
  #length = 0;

  /**
   * In the directory for temporary files. Throws errors of the file system.
   * @param length Of zeros, which take no place.
   */
  constructor(length = 0) {
    const path = join(tmpdir(), `branchlog-${randomUUID()}`);
    this.#fd = openSync(path, "wx+", 0o600);
    try {
      unlinkSync(path);
      ftruncateSync(this.#fd, length);
      this.#length = length;
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
    descriptors.register(this, this.#fd);
  }

  get length(): number {
    return this.#length;
  }

  /** Throws errors of the file system, and has then the bytes that it had before. */
  append(source: Buffer, offset: number, length: number): void {
    this.#write(source.subarray(offset, offset + length), this.#length);
    this.#length += length;
  }

  copyTo(target: Buffer, offset: number, length: number, position: number): number {
    const total = Math.max(0, Math.min(length, this.#length - position));
    let done = 0;
    while (done < total) {
      const count = readSync(this.#fd, target, offset + done, total - done, position + done);
      if (count === 0) throw new RangeError("an unnamed file lost bytes");
      done += count;
    }
    return total;
  }

  /** Throws as `append`, perhaps when a part was written. */
  overwrite(source: Buffer, position: number): void {
    if (position > this.#length) throw new RangeError("a gap in a file");
    this.#write(source, position);
    this.#length = Math.max(this.#length, position + source.length);
  }

  #write(bytes: Buffer, position: number): void {
    for (let done = 0; done < bytes.length;) {
      done += writeSync(this.#fd, bytes, done, bytes.length - done, position + done);
    }
  }
}
