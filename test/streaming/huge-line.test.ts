/** A long line is read in less memory than it has bytes: in a separate process, as built. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { runs } from "../support/fault-seed.ts";

const script = new URL("huge-line-process.mjs", import.meta.url);
const built = new URL("../../packages/streaming/dist/index.js", import.meta.url);
const payloadMebibytes = runs(150, 300);
const payloadBytes = payloadMebibytes * 1024 * 1024;
// Node itself, and half of the line: what is read and dropped waits for the collector.
const peakBytesMax = 90 * 1024 * 1024 + payloadBytes / 2;

it(`a line of ${payloadMebibytes} MiB is indexed, picked from and streamed in bounded memory`, async () => {
  const path = join(temporaryDirectory(), "huge.jsonl");
  const given = [script.pathname, built.href, path, String(payloadBytes)];
  const parameters = ["--max-old-space-size=128", ...given];
  const { stdout } = await promisify(execFile)(process.execPath, parameters);
  const { peakBytes, ...found } = JSON.parse(stdout) as Record<string, unknown>;
  expect(found).toMatchObject({
    ids: "1a1b2c3d42",
    model: "claude",
    longestString: payloadBytes,
    tokens: 33,
    shallow: { ok: true, value: { id: "a1b2c3d4", message: { role: "user", model: "claude" } } },
  });
  expect(found["length"]).toBeGreaterThan(payloadBytes);
  expect(peakBytes).toBeLessThan(peakBytesMax);
});
