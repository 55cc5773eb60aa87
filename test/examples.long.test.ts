/** Runs the examples as a reader would: each prints what its comment says. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const directory = fileURLToPath(new URL("../examples/", import.meta.url));
const names = [...readdirSync(directory).filter((name) => name.endsWith(".ts")), "agent/agent.ts"];

/** What the comment at the start of an example says that it prints. */
function promised(text: string): string[] {
  const [, block = ""] = /^ \* Prints:\n([^]*?)^ \*\/$/mu.exec(text) ?? [];
  return block.split("\n").flatMap((line) => (line === "" ? [] : [line.replace(/^ \* {3}/u, "")]));
}

describe("the examples", () => {
  it("are one for each main use", () => {
    expect(names.length).toBeGreaterThanOrEqual(4);
    expect(promised("/**\n * Prints:\n *   a\n *    b\n */\n")).toEqual(["a", " b"]);
  });

  it.each(names)("print their documented output: %s", (name) => {
    const path = `${directory}${name}`;
    const { stdout, stderr, status } = spawnSync(process.execPath, ["--import", "tsx", path], {
      encoding: "utf8",
    });
    const wanted = promised(readFileSync(path, "utf8"));
    expect(wanted).not.toEqual([]);
    expect([status, stderr, stdout.split("\n").slice(0, -1)]).toEqual([0, "", wanted]);
  });
});
