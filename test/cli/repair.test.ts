/** `branchlog repair`: what it says, what it writes, how it ends. */
import { appendFileSync, readFileSync, readdirSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeSessionFile } from "@branchlog/bench/generator";
import { sampleHeader } from "@branchlog/core/testing";
import { runs } from "../support/fault-seed.ts";
import { temporaryDirectory, temporaryFile } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines } from "./command-run.ts";
import { ended, runProcess, signalsAtOpening, startCommand } from "./command-process.ts";

const stamp = "2026-01-01T00:00:00.000Z";
const header = `${JSON.stringify(sampleHeader({ timestamp: stamp }))}\n`;
const entry = (id: string, parent: string | null): string =>
  `{"type":"custom","customType":"x","id":"${id}","parentId":${JSON.stringify(parent)},"timestamp":"${stamp}"}\n`;
const whole = `${header}${entry("a", null)}${entry("b", "a")}`;
const damaged = `${header}${entry("a", null)}{"type":"mess${entry("b", "a")}`;

function filesBeside(path: string): string[] {
  return readdirSync(dirname(path)).toSorted((one, other) => one.localeCompare(other));
}

describe("repair without --apply", () => {
  it("repair without --apply shows its plan, changes nothing, and exits with 1", async () => {
    const file = temporaryFile(damaged);
    const { code, out, err } = await branchlog(["repair", file]);
    const at = header.length + entry("a", null).length;
    expect([code, err]).toEqual([1, ""]);
    expect(out).toBe(
      `${file}\n` +
        `${damaged.length} bytes\n` +
        "damaged: not-json 1\n" +
        `line 3 at byte ${at}: sets 13 bytes aside, a truncated record\n` +
        `line 3 at byte ${at + 13}: moves the complete record b to a line of its own\n` +
        "repaired: 2 entries, 13 bytes set aside\n" +
        "nothing was changed. To repair it, and keep the original next to it:\n" +
        `  branchlog repair ${file} --apply\n`,
    );
    expect(readFileSync(file, "utf8")).toBe(damaged);
    expect(filesBeside(file)).toEqual(["s.jsonl"]);
  });

  it("repair exits with 1 when it cannot repair some damage, and names the required option", async () => {
    const { code, out } = await branchlog(["repair", fixture("pi-duplicate-ids.jsonl")]);
    expect(code).toBe(1);
    expect(out).toMatch(/not repaired:\n {2}\d repeated ids?: /);
    const orphan = temporaryFile(`${header}${entry("b", "gone")}`);
    expect((await branchlog(["repair", orphan])).out).toContain("--bridge connects them");
    const bridged = await branchlog(["repair", orphan, "--bridge"]);
    expect(bridged.out).toContain(
      "a placeholder for the lost gone as a root, the preceding entry, a guess",
    );
    expect(bridged.out).toContain(`branchlog repair ${orphan} --bridge --apply`);
  });

  it("repair names the source of each field of a rebuilt header", async () => {
    const torn = temporaryFile(`${header.slice(0, 60)}\n${entry("a", null)}`);
    const { out } = await branchlog(["repair", torn, "--cwd", "/home/me"]);
    expect(out).toContain("adds a header, since no header can be read\n");
    expect(out).toContain("  id s (damaged header)\n");
    expect(out).toContain(`  timestamp ${stamp} (first entry)\n`);
    expect(out).toContain("  cwd /home/me (option)\n");
  });

  it("repair says that a rebuilt header has no cwd, and how to set it", async () => {
    const torn = temporaryFile(`${header.slice(0, 60)}\n${entry("a", null)}`);
    const { out } = await branchlog(["repair", torn]);
    expect(out).toContain('  cwd "" (unknown, --cwd DIR sets it)\n');
  });

  it.each([
    ["only a parent is missing", "", ["--bridge"]],
    ["a record is torn, too", '{"type":"mess\n', ["--bridge"]],
    ["the header is torn, too", null, ["--bridge", "--cwd", "/home/me"]],
  ])("repair prints the command that repairs everything when %s", async (_, torn, options) => {
    const start = torn === null ? `${header.slice(0, 60)}\n` : `${header}${torn}`;
    const file = temporaryFile(`${start}${entry("a", null)}${entry("b", "gone")}`);
    const { out } = await branchlog(["repair", file, ...options.slice(1)]);
    const words = /\n {2}branchlog (repair .*)\n$/.exec(out)?.[1]?.split(" ") ?? [];
    expect(words).toEqual(["repair", file, ...options, "--apply"]);
    expect((await branchlog(words)).code).toBe(0);
    expect((await branchlog(["verify", file])).code).toBe(0);
  });

  it("repair prints no command when no option repairs the rest", async () => {
    const { out } = await branchlog(["repair", temporaryFile(`${whole}${entry("a", null)}`)]);
    expect(out).not.toContain("branchlog repair");
  });

  it("repair lists the first of many changes, without control sequences", async () => {
    const lines = Array.from({ length: 150 }, (_, i) => `{"type":"mess\u001B[2J${i}\n`);
    const evil = `{"type":"x","id":"\\u001b[2J","parentId":null,\n`;
    const { out } = await branchlog(["repair", temporaryFile(`${header}${evil}${lines.join("")}`)]);
    expect(out.match(/^line /gm)).toHaveLength(100);
    expect(out).toContain("and 51 more; --json lists all\n");
    expect(out).not.toContain("\u001B");
  });

  it("repair --json prints the plan as one object", async () => {
    const file = temporaryFile(damaged);
    const { code, out } = await branchlog(["repair", file, "--json"]);
    expect(code).toBe(1);
    expect(jsonLines(out)).toEqual([
      {
        path: file,
        sizeBytes: damaged.length,
        version: 3,
        findings: [{ kind: "not-json", weight: "damage", count: 1 }],
        pending: null,
        changes: [
          expect.objectContaining({ kind: "set-aside", reason: "torn", length: 13, id: null }),
          expect.objectContaining({ kind: "recover", id: "b", addsNewline: false }),
        ],
        repaired: { sizeBytes: whole.length, entries: 2 },
        remaining: {
          duplicateIdCount: 0,
          duplicateIds: [],
          orphanCount: 0,
          orphans: [],
          cycleCount: 0,
          cycles: [],
          others: [],
        },
        ok: false,
        result: null,
        operation: null,
      },
    ]);
  });
});

describe("repair --apply", () => {
  it("repair --apply shows the plan, repairs, lists the files, and exits with 0", async () => {
    const file = temporaryFile(damaged);
    const { code, out } = await branchlog(["repair", file, "--apply"]);
    expect(code).toBe(0);
    expect(out).toContain("sets 13 bytes aside");
    expect(out).toMatch(
      new RegExp(
        `written and verified, no damage remains\nrepaired   ${file}\n` +
          `original   ${file}.before-repair\nset aside  ${file}.salvage\n` +
          String.raw`to undo it: branchlog undo [\w-]{36}\n$`,
      ),
    );
    expect(readFileSync(file, "utf8")).toBe(whole);
    expect(readFileSync(`${file}.before-repair`, "utf8")).toBe(damaged);
    expect((await branchlog(["verify", file])).code).toBe(0);
    const again = await branchlog(["repair", file, "--apply"]);
    expect([again.code, filesBeside(file).length]).toEqual([0, 3]);
  });

  it("repair --apply exits with 1 when damage remains", async () => {
    const file = temporaryFile(`${damaged}${entry("c", "gone")}`);
    const { code, out } = await branchlog(["repair", file, "--apply"]);
    expect(code).toBe(1);
    expect(out).toContain("written and verified, damage remains\ndamaged: missing-parent 1\n");
  });

  it("repair rejects --apply with --output", async () => {
    const { code, err } = await branchlog(["repair", "f", "--apply", "--output", "g"]);
    expect(code).toBe(2);
    expect(err).toBe("Give --apply or --output.\nSee branchlog repair --help.\n");
  });
});

it("repair --output writes the repaired session and leaves the original unchanged", async () => {
  const file = temporaryFile(damaged);
  const output = join(temporaryDirectory(), "new.jsonl");
  const { code, out } = await branchlog(["repair", file, "--output", output]);
  expect(code).toBe(0);
  expect(out).toContain(`repaired   ${output}\noriginal   ${file}\n`);
  expect(readFileSync(output, "utf8")).toBe(whole);
  expect(filesBeside(output)).toEqual(["new.jsonl", "new.jsonl.salvage"]);
  expect(filesBeside(file)).toEqual(["s.jsonl"]);
});

describe("the process of a repair", () => {
  function largeDamagedSession(bytes: number, lineBytes: number): string {
    const path = join(temporaryDirectory(), "large.jsonl");
    writeSessionFile(path, { bytes });
    appendFileSync(path, `{"type":"mess${"x".repeat(lineBytes)}`);
    // Of a file that changed just now, the end would be pending.
    utimesSync(path, new Date(0), new Date(0));
    return path;
  }

  it("repairs a session and a line of any size in bounded memory (Verifies: P16)", async () => {
    const lineBytes = runs(8_000_000, 20_000_000);
    const path = largeDamagedSession(runs(60_000_000, 100_000_000), lineBytes);
    const nodeArguments = [`--max-old-space-size=${runs(48, 64)}`];
    const { code, out, err } = await runProcess(["repair", path, "--apply"], { nodeArguments });
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain(
      `sets ${(lineBytes + 13).toLocaleString("en")} bytes aside, a truncated record\n`,
    );
    expect((await runProcess(["repair", path], { nodeArguments })).out).toContain(
      "nothing to repair",
    );
  });

  it("repair exits with 130 when it is interrupted, and leaves the session unchanged", async () => {
    const path = largeDamagedSession(4_000_000, 1_000_000);
    const before = readFileSync(path);
    const child = startCommand(["repair", path, "--apply"], {
      nodeArguments: signalsAtOpening(/\.tmp$/, ["SIGINT"]),
    });
    child.stdout?.resume();
    expect(await ended(child)).toEqual({ code: 130, signal: null });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(filesBeside(path)).toEqual(["large.jsonl"]);
  });
});
