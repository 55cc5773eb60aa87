/** Memory of a conversion follows the entries of a session, and not their bytes. */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { writeSessionFile } from "@branchlog/bench/generator";
import { runs } from "../../support/fault-seed.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const script = fileURLToPath(new URL("../../support/converting-process.mjs", import.meta.url));

interface Taken {
  readonly entries: number;
  readonly maxRssKb: number;
}

function taken(bytes: number): Taken {
  const directory = temporaryDirectory();
  const [source, target] = [join(directory, "s.jsonl"), join(directory, "t.jsonl")];
  writeSessionFile(source, { bytes, seed: 5 });
  // What our own script has just printed.
  const result = JSON.parse(
    execFileSync(process.execPath, [script, source, target]).toString(),
  ) as Taken;
  expect(statSync(target).size).toBeGreaterThan(bytes * 0.9);
  return result;
}

it("converting needs little more memory for ten times the bytes and entries (Verifies: P16)", () => {
  const small = taken(runs(4_000_000, 10_000_000));
  const large = taken(runs(40_000_000, 100_000_000));
  expect(large.entries).toBeGreaterThan(small.entries * 5);
  // Measured: 93 MB for 200 MB of 186,462 entries, of which the index takes 80 bytes each.
  expect(large.maxRssKb - small.maxRssKb).toBeLessThan(30_000);
  expect(large.maxRssKb).toBeLessThan(150_000);
});
