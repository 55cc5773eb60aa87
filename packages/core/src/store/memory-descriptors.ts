/** The open files of a memory file system. A descriptor keeps its inode, whatever its names do. */
import { fileError } from "./memory-errors.ts";
import type { Inode } from "./memory-inode.ts";
import type { OpenMode } from "./ports.ts";

/** An open file or directory; `path` is the one it was opened by. */
export interface MemoryDescriptor {
  readonly path: string;
  readonly mode: OpenMode;
  readonly inode: Inode;
}

// Far from the numbers of real descriptors, so that a mix-up fails at once.
const firstDescriptor = 1_000_000;

/** Descriptors by number. A number is never used twice. */
export class MemoryDescriptors {
  readonly #open = new Map<number, MemoryDescriptor>();
  #next = firstDescriptor;

  /** How many are open. */
  get count(): number {
    return this.#open.size;
  }

  /** Adds an open file and returns its number. */
  add(descriptor: MemoryDescriptor): number {
    const fd = this.#next;
    this.#next += 1;
    this.#open.set(fd, descriptor);
    return fd;
  }

  /** The open file; throws `EBADF` if there is none of that number. */
  get(fd: number, syscall: string): MemoryDescriptor {
    const descriptor = this.#open.get(fd);
    if (descriptor === undefined) throw fileError("EBADF", syscall);
    return descriptor;
  }

  /** The path that a descriptor was opened by; undefined if it is not open. */
  pathOf(fd: number): string | undefined {
    return this.#open.get(fd)?.path;
  }

  /** Forgets an open file. */
  delete(fd: number): void {
    this.#open.delete(fd);
  }
}
