/** The built command as a process: pipes, signals, colours, memory. Runs on dist. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeSessionFile } from "@branchlog/bench/generator";
import { runs } from "../support/fault-seed.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { copyOf, fixture } from "./command-run.ts";
import { ended, program, runProcess, signalsAtOpening, startCommand } from "./command-process.ts";

const branches = fixture("pi-branches.jsonl");

/** A session whose listings are longer than any pipe. */
function largeSession(bytes: number): string {
  const path = join(temporaryDirectory(), "large.jsonl");
  writeSessionFile(path, { bytes });
  return path;
}

describe("the process", () => {
  it("the process exits with the code of the run, results on one stream and failures on the other", async () => {
    const fine = await runProcess(["name", fixture("pi-labels-and-names.jsonl")]);
    expect(fine).toEqual({ code: 0, signal: null, out: "Final name\n", err: "" });
    const damage = await runProcess(["verify", fixture("pi-cycles.jsonl")]);
    expect(damage).toMatchObject({ code: 1, err: "" });
    const failed = await runProcess(["info", "/no/such/file"]);
    expect(failed).toMatchObject({ code: 1, out: "" });
    expect(failed.err).toContain("ERR_LOG_MISSING");
    expect(failed.err).not.toMatch(/^ +at /m);
    expect(await runProcess(["info"])).toMatchObject({ code: 2, out: "" });
  });

  it("the process reports on standard error that nothing was found", async () => {
    const directory = temporaryDirectory();
    const searched = await runProcess(["search", "text", directory]);
    expect(searched).toMatchObject({ code: 1, out: "", err: `nothing found in ${directory}\n` });
    const listed = await runProcess(["list", directory]);
    expect(listed).toMatchObject({ code: 0, out: "", err: `no sessions in ${directory}\n` });
  });

  it("shows a stack only if BRANCHLOG_DEBUG is set", async () => {
    const { err } = await runProcess(["info", "/no"], { env: { BRANCHLOG_DEBUG: "1" } });
    expect(err).toMatch(/^ +at /m);
  });

  it.each([
    [{}, false],
    [{ FORCE_COLOR: "1" }, true],
    [{ FORCE_COLOR: "0" }, false],
    [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false],
    [{ CI: "1" }, false],
  ])("with %j a text for reading has colours in a pipe: %s", async (env, hasColours) => {
    const { out } = await runProcess(["context", branches], { env });
    expect(out.includes("\u001B[")).toBe(hasColours);
  });

  it("the process reads standard input only when a command requires it", async () => {
    const child = startCommand(["info", branches]);
    expect(await ended(child)).toEqual({ code: 0, signal: null });
  });
});

describe("a reader that closes the pipe", () => {
  it.each(["entries", "tree --json", "tree --all", "context", "context --json"])(
    "a closed pipe ends %s with 0 and without a message",
    async (line) => {
      const [name = "", ...options] = line.split(" ");
      const child = startCommand([name, largeSession(4_000_000), ...options]);
      const errors: Buffer[] = [];
      child.stderr?.on("data", (chunk: Buffer) => errors.push(chunk));
      if (child.stdout !== null) await once(child.stdout, "data");
      child.stdout?.destroy();
      expect(await ended(child)).toEqual({ code: 0, signal: null });
      expect(Buffer.concat(errors).toString()).toBe("");
    },
  );

  it.each(["info", "export --to pi", "context --json"])(
    "a full disk is an error of %s, with its code",
    async (line) => {
      const command = `"$0" "$1" ${line} "$2" > /dev/full`;
      const child = spawn("sh", ["-c", command, process.execPath, program, branches]);
      const errors: Buffer[] = [];
      child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
      expect(await ended(child)).toMatchObject({ code: 1 });
      expect(Buffer.concat(errors).toString()).toContain("ENOSPC");
      expect(Buffer.concat(errors).toString()).toContain("ERR_OUTPUT_FAILED");
    },
  );
});

describe("an interrupt", () => {
  it("ends a reading command with 130", async () => {
    const child = startCommand(["entries", largeSession(4_000_000)]);
    if (child.stdout !== null) await once(child.stdout, "data");
    child.kill("SIGINT");
    child.stdout?.resume();
    expect(await ended(child)).toEqual({ code: 130, signal: null });
  });

  it("an interrupt ends an append that waits for input with 130, with acknowledged entries in the log", async () => {
    const file = copyOf("pi-branches.jsonl");
    const before = statSync(file).size;
    const child = startCommand(["append", file, "-"]);
    child.stdin?.write('{"type":"custom","customType":"a"}\n');
    if (child.stdout !== null) await once(child.stdout, "data");
    child.kill("SIGINT");
    expect(await ended(child)).toEqual({ code: 130, signal: null });
    expect(statSync(file).size).toBeGreaterThan(before);
    expect((await runProcess(["verify", file])).code).toBe(0);
  });
});

it.each(["SIGINT", "SIGTERM"] as const)(
  "repeated signals leave no half-written file: %s",
  async (signal) => {
    const source = largeSession(4_000_000);
    const directory = temporaryDirectory();
    const target = join(directory, "converted.jsonl");
    const child = startCommand(["convert", source, "--to", "omp", "-o", target], {
      nodeArguments: signalsAtOpening(/\.tmp$/, [signal, signal]),
    });
    child.stdout?.resume();
    child.stderr?.resume();
    expect(await ended(child)).toMatchObject({ code: 130 });
    expect(readdirSync(directory)).toEqual([]);
  },
);

it("a large session is listed in bounded memory, also when its reader is slow. Verifies: P16", async () => {
  const path = largeSession(runs(40_000_000, 90_000_000));
  const words = ["entries", path, "--json"];
  const nodeArguments = [`--max-old-space-size=${runs(24, 64)}`];
  const child = startCommand(words, { nodeArguments });
  let bytes = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  expect(await ended(child)).toEqual({ code: 0, signal: null });
  expect(bytes).toBeGreaterThan(runs(39_000_000, 89_000_000));
});
