/** Generated inputs are made once, found again, and never served when they do not fit. */
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ensureInput } from "../../packages/bench/src/inputs.ts";

const spec = { mix: "branchy", bytes: 70_000, seed: 3 } as const;

let folder = "";
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "branchlog-cache-")), "inputs");
});
afterEach(() => {
  rmSync(join(folder, ".."), { recursive: true });
});

describe("an input", () => {
  it("is generated as specified, once", () => {
    const made = ensureInput(spec, folder);
    const { size, mtimeMs, ino } = statSync(made.path);
    expect(size).toBe(made.facts.bytes);
    expect(size).toBeGreaterThanOrEqual(70_000);
    expect(made.facts.entriesByType["message"]).toBeGreaterThan(0);
    expect(ensureInput(spec, folder)).toEqual(made);
    expect(statSync(made.path)).toMatchObject({ mtimeMs, ino });
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it("of an earlier generator is replaced", () => {
    const made = ensureInput(spec, folder);
    const older = made.path.replace(/-[0-9a-f]{8}\.jsonl$/, "-01234567.jsonl");
    writeFileSync(older, "old");
    rmSync(made.path);
    expect(ensureInput(spec, folder)).toEqual(made);
    expect(readdirSync(folder).sort()).toHaveLength(2);
  });

  it("that was changed is refused", () => {
    const { path } = ensureInput(spec, folder);
    appendFileSync(path, "{}\n");
    expect(() => ensureInput(spec, folder)).toThrow(/remove it and run again/);
  });

  it("that the generator rejects is an error with its reason", () => {
    expect(() => ensureInput({ ...spec, entries: 5 }, folder)).toThrow(/not both/);
  });
});
