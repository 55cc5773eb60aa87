/** The files that this process has open, as Linux tells. */
import { readdirSync, readlinkSync } from "node:fs";

/** Whether the system tells. */
export const tellsOpenFiles: boolean = process.platform === "linux";

/** The descriptors that lead to a file below this path, or to the file that had it, as targets. */
export function openFiles(path: string): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(path) ? [target] : [];
    } catch {
      // The descriptor of the listing itself.
      return [];
    }
  });
}
