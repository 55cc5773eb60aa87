/**
 * Shows on a terminal how far the reading of a large log has come. Silent where nobody watches, and
 * for what is over in a moment. Leaves no trace behind.
 */
import { statSync } from "node:fs";
import { readCounter } from "@branchlog/streaming";
import type { Output } from "./output.ts";

/** Smaller logs are read before anybody has read a percentage. */
const shownFromBytes = 64 * 1024 * 1024;
const intervalMs = 100;

/** Runs `work`, which is about to read so many bytes, and shows what part of them it has read. */
export async function withProgress<T>(
  output: Output,
  { what, bytes }: { readonly what: string; readonly bytes: number },
  work: () => Promise<T>,
): Promise<T> {
  if (!output.isTerminal || bytes < shownFromBytes) return work();
  const start = readCounter.bytes;
  const timer = setInterval(() => {
    const part = Math.min((readCounter.bytes - start) / bytes, 1);
    show(output, `${what} ${Math.floor(part * 100)} %`);
  }, intervalMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    show(output, "");
  }
}

/** Size of a file, to show how far its reading has come; 0 if there is none. */
export function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    // Whoever reads it will say what is wrong with it.
    return 0;
  }
}

function show(output: Output, text: string): void {
  // A terminal that is gone must not end the work.
  void output.showStatus(text).catch(() => undefined);
}
