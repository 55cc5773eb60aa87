/** Finding the session of a directory that changed last, as omp does it. */
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import { findMostRecentSession } from "@branchlog/agents/omp";
import { encodeTitleSlot } from "@branchlog/core/testing";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { header, startTime, user, writeLines } from "../../library/catalog/session-lines.ts";

function write(directory: string, fileName: string, changedMs: number, fields = {}): string {
  const path = writeLines(directory, fileName, [header(fields), user("x")]);
  utimesSync(path, 1, changedMs);
  return path;
}

describe("findMostRecentSession", () => {
  it("is asynchronous, and takes a directory alone, as in omp", () => {
    expectTypeOf(findMostRecentSession).toEqualTypeOf<
      (sessionDir: string) => Promise<string | null>
    >();
  });

  it("resolves to the file that changed last when a directory holds sessions", async () => {
    const directory = temporaryDirectory();
    write(directory, "a.jsonl", 2, { cwd: "/one" });
    const newest = write(directory, "b.jsonl", 3, { cwd: "/other" });
    write(directory, "c.jsonl", 1);
    expect(await findMostRecentSession(directory)).toBe(newest);
  });

  it("resolves to the last name when the times are the same", async () => {
    const directory = temporaryDirectory();
    for (const fileName of ["b.jsonl", "c.jsonl", "a.jsonl"]) write(directory, fileName, 1);
    expect(await findMostRecentSession(directory)).toBe(join(directory, "c.jsonl"));
  });

  it("finds a session when it begins with a title slot", async () => {
    const directory = temporaryDirectory();
    write(directory, "b.jsonl", 1);
    const slot = encodeTitleSlot({ title: "Red build", source: "user", updatedAt: startTime });
    const path = writeLines(directory, "a.jsonl", [slot.toString().trimEnd(), header(), user("x")]);
    utimesSync(path, 1, 2);
    expect(await findMostRecentSession(directory)).toBe(path);
  });

  it("passes over files when they are no sessions, or cannot be read", async () => {
    const directory = temporaryDirectory();
    writeLines(directory, "z.jsonl", ["{broken", user("x"), header()]);
    writeFileSync(join(directory, "y.jsonl"), "");
    writeLines(directory, "z.txt", [header()]);
    mkdirSync(join(directory, "x.jsonl"));
    mkdirSync(join(directory, "below"));
    writeLines(join(directory, "below"), "z.jsonl", [header()]);
    symlinkSync("nowhere", join(directory, "w.jsonl"));
    symlinkSync("v.jsonl", join(directory, "v.jsonl"));
    expect(await findMostRecentSession(directory)).toBeNull();
    const path = write(directory, "a.jsonl", 1);
    expect(await findMostRecentSession(directory)).toBe(path);
  });

  it("resolves to null when the directory is empty, missing, or a file", async () => {
    const directory = temporaryDirectory();
    expect(await findMostRecentSession(directory)).toBeNull();
    expect(await findMostRecentSession(join(directory, "missing"))).toBeNull();
    const file = join(directory, "file");
    writeFileSync(file, "");
    expect(await findMostRecentSession(file)).toBeNull();
  });

  it("resolves to the latest of all sessions, whatever else is there (law)", async () => {
    const file = fc.record({ changedMs: fc.integer({ min: 1, max: 5 }), isSession: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 8 }), async (files) => {
        const directory = temporaryDirectory();
        let latest: { readonly path: string; readonly changedMs: number } | undefined;
        for (const [i, { changedMs, isSession }] of files.entries()) {
          const path = write(directory, `${i}.jsonl`, changedMs);
          if (!isSession) writeFileSync(path, "no session");
          utimesSync(path, 1, changedMs);
          const isLatest = latest === undefined || changedMs >= latest.changedMs;
          if (isSession && isLatest) latest = { path, changedMs };
        }
        expect(await findMostRecentSession(directory)).toBe(latest?.path ?? null);
      }),
      { numRuns: 40 },
    );
  });
});
