/**
 * Makes directories whose names survive a loss of power, as the names of the files in them must: a
 * file is no more durable than the directory that holds it. Existing directories are left alone.
 */
import { dirname } from "node:path";
import type { FileSystem } from "./ports.ts";

/** Makes a directory of mode 0700 and its missing parents; their names are on the device then. */
export function makeDurableDirectory(fs: FileSystem, path: string): void {
  const missing: string[] = [];
  for (let at = path; fs.statSync(at) === null && at !== dirname(at); at = dirname(at)) {
    missing.push(at);
  }
  fs.makeDirectorySync(path);
  for (const made of missing) fs.syncDirectorySync(dirname(made));
}
