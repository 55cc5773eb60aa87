// The peak of this process's memory, for tests of bounded memory.
import { readFileSync } from "node:fs";

/** On Linux, that of this program only; elsewhere, it may include the peak of the parent process. */
export function peakRssBytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  const peak = /VmHWM:\s+(\d+) kB/u.exec(readFileSync("/proc/self/status", "utf8"));
  return Number(peak[1]) * 1024;
}
