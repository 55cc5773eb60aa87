/** Files in memory and a small descriptor pool over them. */
import { resolve } from "node:path";
import { MemoryFileSystem } from "@branchlog/core/testing";
import { DescriptorPool } from "../../../packages/core/src/platform/descriptor-pool.ts";
import type { FileIdentity } from "../../../packages/core/src/platform/ports.ts";

/** The names of the files. */
export const names = ["a", "b", "c", "d", "e", "f"] as const;

/** A memory file system with files named by their content, and a pool of three over it. */
export function pooledFiles(max: number = 3): {
  fs: MemoryFileSystem;
  pool: DescriptorPool;
  path: (name: string) => string;
  read: (name: string, file?: FileIdentity) => string;
  fileOf: (name: string) => FileIdentity;
} {
  const fs = new MemoryFileSystem();
  const path = (name: string): string => resolve("/", name);
  for (const name of names) fs.writeFileSync(path(name), Buffer.from(name));
  const pool = new DescriptorPool(fs, max);
  for (const name of names) pool.retain(path(name));
  const read = (name: string, file?: FileIdentity): string =>
    pool.useSync(path(name), "read", file, (fd) => textOf(fs, fd));
  const fileOf = (name: string): FileIdentity => {
    const stat = fs.statSync(path(name));
    if (stat === null) throw new Error(`no file has the name ${name}`);
    return stat;
  };
  return { fs, pool, path, read, fileOf };
}

/** The content of an open file. */
export function textOf(fs: MemoryFileSystem, fd: number): string {
  const target = Buffer.alloc(8);
  return target.toString("utf8", 0, fs.readSync(fd, target, 0, 8, 0));
}
