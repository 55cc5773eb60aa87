/** `branchlog pi`: which pi it starts, and when it refuses. That it runs is in the end-to-end tests. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withPisWords } from "../../packages/cli/src/command-words.ts";
import { installedPi } from "./installed-pi.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const program = join(import.meta.dirname, "../../packages/branchlog/bin/branchlog.mjs");

function branchlog(bin: string, ...words: readonly string[]): { code: number; said: string } {
  try {
    const env = { ...process.env, PATH: bin };
    const said = execFileSync(process.execPath, [program, ...words], { env, stdio: "pipe" });
    return { code: 0, said: said.toString() };
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: Buffer };
    return { code: status, said: stderr.toString() };
  }
}

describe("pi", () => {
  it("is the one on the PATH, with our session manager instead of its own", () => {
    const { bin, cli } = installedPi("1.6.0");
    const { code, said } = branchlog(bin, "pi", "--json", "--continue", "-p", "hello");
    expect(code).toBe(0);
    const { command } = JSON.parse(said) as { readonly command: readonly string[] };
    const [node, flag, hooks = "", ...started] = command;
    expect([node, flag]).toEqual([process.execPath, "--import"]);
    expect(started).toEqual([cli, "--continue", "-p", "hello"]);
    const asked = decodeURIComponent(hooks);
    expect(asked).toContain("pi-coding-agent/dist/core/session-manager.js");
    expect(asked).toContain("/agents/dist/pi/index.js");
  });

  it("is rejected in an untested version, except with --force", () => {
    const { bin } = installedPi("9.0.0");
    const { code, said } = branchlog(bin, "pi", "-p", "hello");
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(/pi 9\.0\.0 .* was not tested .*--force/),
    ]);
    expect(branchlog(bin, "pi", "--force", "--dry-run").code).toBe(0);
  });

  it("is reported when it is not installed", () => {
    const { code, said } = branchlog(temporaryDirectory(), "pi");
    expect([code, said]).toEqual([1, expect.stringContaining("pi is not installed")]);
  });

  it.each([
    ["pi -p hello", "pi -- -p hello"],
    ["pi --force --continue", "pi --force -- --continue"],
    ["pi --force", "pi --force"],
    ["pi hello --force", "pi -- hello --force"],
    ["pi -- -p", "pi -- -p"],
    ["list pi --json", "list pi --json"],
  ])("passes the arguments after it to pi: %s", (given, taken) => {
    expect(withPisWords(given.split(" ")).join(" ")).toBe(taken);
  });
});
