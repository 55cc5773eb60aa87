/**
 * A program that uses the packages keeps its standard streams: importing a name from
 * `node:process` makes Node set up all of them, and blocking reads of its input fail from then on.
 */
import { execFileSync } from "node:child_process";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const built = (path: string): string =>
  fileURLToPath(new URL(`../../packages/${path}`, import.meta.url));

const script = `
  import { readFileSync } from "node:fs";
  for (const module of process.argv.slice(1)) await import(module);
  const [, flags] = /^flags:\\s*(\\d+)$/m.exec(readFileSync("/proc/self/fdinfo/0", "utf8"));
  console.log(Number.parseInt(flags, 8));
`;
/** `O_NONBLOCK` of Linux. */
const nonBlocking = 0o4000;

/** Whether a program that imports modules can still wait for its input. */
function canWaitAfter(...modules: readonly string[]): boolean {
  const options = ["--input-type=module", "-e", script, ...modules];
  // An input that is a pipe, and empty.
  const flags = Number(execFileSync(execPath, options, { stdio: ["pipe", "pipe", "inherit"] }));
  return (flags & nonBlocking) === 0;
}

describe.runIf(process.platform === "linux")("standard input can be waited for", () => {
  it("unless a name is imported from node:process, which this test would find", () => {
    expect(canWaitAfter("node:process")).toBe(false);
  });

  it("after an import of every package", () => {
    const paths = [
      "core/dist/index.js",
      "agents/dist/pi/index.js",
      "agents/dist/omp/index.js",
      "agents/dist/registered.js",
      "agents/dist/connectonion/index.js",
      "library/dist/index.js",
      "tools/dist/index.js",
      "streaming/dist/index.js",
    ];
    expect(canWaitAfter(...paths.map(built))).toBe(true);
  });
});
