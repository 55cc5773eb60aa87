/** `branchlog pi` with the real pi, whose package is not touched. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { latestPiPackage, newerNode, piPackage, workspace } from "./support/install.ts";
import { modelFor } from "./support/model-server.ts";
import { terse } from "./support/rpc-comparison.ts";
import { environment, sandbox, sessionFiles } from "./support/sandbox.ts";
import type { Sandbox } from "./support/sandbox.ts";

const program = join(workspace, "packages/branchlog/bin/branchlog.mjs");

async function printed(pi: string, place: Sandbox, words: readonly string[]): Promise<string> {
  const bin = join(dirname(dirname(pi)), ".bin");
  const own = environment(place);
  const env = { ...own, PATH: `${bin}${delimiter}${own["PATH"] ?? ""}` };
  const given = ["pi", ...terse, "--provider", "here", "--model", "echo", ...words];
  const running = promisify(execFile)(newerNode(), [program, ...given], {
    cwd: place.cwd,
    env,
    timeout: 120_000,
  });
  running.child.stdin?.end();
  return (await running).stdout;
}

const time = "2026-01-01T00:00:00.000Z";

function storedSession(place: Sandbox): string {
  const path = join(place.root, "stored.jsonl");
  const message = { role: "user", content: "One", timestamp: 1 };
  const header = { type: "session", version: 3, id: "stored", timestamp: time, cwd: place.cwd };
  const lines = [
    { ...header, metadata: { by: "host" } },
    { type: "message", id: "a", parentId: null, timestamp: time, message },
  ];
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

interface Line {
  readonly type: string;
  readonly id: string;
  readonly parentId?: string | null;
  readonly metadata?: object;
}

function linesOf(text: string): readonly Line[] {
  const lines = text.trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Line);
}

describe.each([
  ["0.87.1", piPackage],
  ["1.6.0", latestPiPackage],
])("branchlog pi, with pi %s", (_version, pi) => {
  it("runs it on our session manager, which keeps header fields", async () => {
    const place = sandbox();
    await modelFor(place);
    const stored = storedSession(place);
    await printed(pi(), place, ["--fork", stored, "--print", "Go on"]);
    const files = [...sessionFiles(place.root)].filter(([name]) => !name.endsWith("stored.jsonl"));
    const [header, ...entries] = files.flatMap(([, text]) => linesOf(text));
    // pi itself leaves it out.
    expect(header?.metadata).toEqual({ by: "host" });
    expect(entries.length).toBeGreaterThan(2);
  });

  it("loses nothing when two of them continue one session concurrently", async () => {
    const place = sandbox();
    await modelFor(place);
    const stored = storedSession(place);
    const said = ["first", "second"].map((word) =>
      printed(pi(), place, ["--session", stored, "--print", word]),
    );
    await Promise.all(said);
    const text = readFileSync(stored, "utf8");
    const [, ...entries] = linesOf(text);
    const ids = new Set(entries.map(({ id }) => id));
    expect(ids.size).toBe(entries.length);
    expect(entries.every(({ parentId }) => parentId === null || ids.has(parentId ?? ""))).toBe(
      true,
    );
    expect(["first", "second"].filter((word) => text.includes(word))).toEqual(["first", "second"]);
  });
});
