/** Memory follows the number of entries, not the bytes of the log: images cost an open nothing. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { writeSessionFile } from "@branchlog/bench/generator";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const script = fileURLToPath(new URL("../support/memory-process.mjs", import.meta.url));

interface Taken {
  readonly entries: number;
  readonly messages: number;
  readonly maxRssKb: number;
}

function taken(bytes: number): Taken {
  const path = join(temporaryDirectory(), "s.jsonl");
  writeSessionFile(path, { mix: "image-heavy", bytes, seed: 3, compactionEvery: 20 });
  const args = ["--max-old-space-size=64", script, path];
  // What our own script has just printed.
  return JSON.parse(execFileSync(process.execPath, args).toString()) as Taken;
}

describe("opening, the context and the totals of a log full of images", () => {
  it("need no more memory for ten times the bytes (Verifies: P16)", () => {
    const small = taken(12_000_000);
    const large = taken(120_000_000);
    expect(large.entries).toBeGreaterThan(small.entries * 5);
    expect(large.messages).toBeGreaterThan(0);
    // Measured: about 20 MB more, for buffers and garbage not collected; ten times would be 108 MB.
    expect(large.maxRssKb - small.maxRssKb).toBeLessThan(60_000);
    expect(large.maxRssKb).toBeLessThan(220_000);
  });
});
