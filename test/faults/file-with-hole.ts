/**
 * A file system in memory on which every file is longer than what was written to it, once a hole is
 * made: there it reads as so many times the letter x. So there can be lines that no memory holds.
 */
import { MemoryFileSystem } from "@branchlog/core/testing";
import type { FileStat } from "@branchlog/core/testing";

/** See the file comment. Reads give all that is requested, up to the end of the file. */
export class FileSystemWithHole extends MemoryFileSystem {
  /** The most bytes that were requested at once: what a reader has to hold. */
  longestRead = 0;
  #at = 0;
  #bytes = 0;

  /** Makes the hole, of so many bytes, before what was or will be written at an offset. */
  makeHole(at: number, bytes: number): void {
    this.#at = at;
    this.#bytes = bytes;
  }

  override readSync(
    fd: number,
    target: Buffer,
    offset: number,
    length: number,
    position: number,
  ): number {
    this.longestRead = Math.max(this.longestRead, length);
    const behind = this.#at + this.#bytes;
    let done = 0;
    while (done < length) {
      const at = position + done;
      const left = length - done;
      if (at >= this.#at && at < behind) {
        const count = Math.min(left, behind - at);
        target.fill("x", offset + done, offset + done + count);
        done += count;
        continue;
      }
      const wanted = at < behind ? Math.min(left, this.#at - at) : left;
      const stored = at < behind ? at : at - this.#bytes;
      const count = super.readSync(fd, target, offset + done, wanted, stored);
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  override async read(...call: Parameters<MemoryFileSystem["readSync"]>): Promise<number> {
    return this.readSync(...call);
  }

  override statSync(path: string): FileStat | null {
    const stat = super.statSync(path);
    return stat === null ? null : this.#longer(stat);
  }

  override fstatSync(fd: number): FileStat {
    return this.#longer(super.fstatSync(fd));
  }

  #longer(stat: FileStat): FileStat {
    return stat.isFile ? { ...stat, size: stat.size + this.#bytes } : stat;
  }
}
