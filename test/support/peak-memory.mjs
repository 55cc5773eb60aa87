// The peak of this process's memory, for tests of bounded memory.
import { readFileSync } from "node:fs";

/** Linux counts it per program; elsewhere, the peak of whoever started it may be in it. */
export function peakRssBytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  const peak = /VmHWM:\s+(\d+) kB/u.exec(readFileSync("/proc/self/status", "utf8"));
  return Number(peak[1]) * 1024;
}
