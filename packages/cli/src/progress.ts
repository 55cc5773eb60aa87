/** Shows the progress of reading a large log on a terminal, and erases it at the end. */
import { statSync } from "node:fs";
import { readCounter } from "@branchlog/streaming";
import type { Output } from "./output.ts";

/** Smaller logs are read too fast for a percentage to be of use. */
const shownFromBytes = 64 * 1024 * 1024;
const intervalMs = 100;

/** @param bytes The number of bytes that `work` reads. */
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

/** 0 if the file does not exist. */
export function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    // The read itself reports the error.
    return 0;
  }
}

function show(output: Output, text: string): void {
  // A closed terminal must not end the work.
  void output.showStatus(text).catch(() => undefined);
}

/** Shows how many of many were dealt with, on a terminal, a few times a second. */
export class CountStatus {
  readonly #output: Output;
  #shownMs = performance.now();
  #isShown = false;

  constructor(output: Output) {
    this.#output = output;
  }

  show(text: string): void {
    const nowMs = performance.now();
    if (!this.#output.isTerminal || nowMs - this.#shownMs < intervalMs) return;
    this.#shownMs = nowMs;
    this.#isShown = true;
    show(this.#output, text);
  }

  /** To be called before anything else is written. */
  async hide(): Promise<void> {
    if (!this.#isShown) return;
    this.#isShown = false;
    await this.#output.showStatus("");
  }
}
