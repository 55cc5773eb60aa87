/** Finding one session by reading headers. */
import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import { findMostRecentSession as findMostRecent } from "@branchlog/agents/omp";
import { findMostRecentSession } from "@branchlog/agents/pi";
import { headerScanBytesMax } from "../../packages/library/src/catalog/limits.ts";
import { findSessionById } from "../../packages/agents/src/pi/session-lookup.ts";
import { encodeTitleSlot } from "@branchlog/core/testing";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { header, startTime, user, writeLines } from "../library/catalog/session-lines.ts";
import { useAgentHome } from "./pi/agent-home.ts";

const home = useAgentHome();
const cwd = "/work";

function write(directory: string, fileName: string, fields: object, changedMs = 1): string {
  const path = writeLines(directory, fileName, [header(fields), user("x")]);
  utimesSync(path, 1, changedMs);
  return path;
}

/** Files that are not sessions, or cannot be read; all changed later than any session here. */
function writeDebris(directory: string): void {
  for (const fileName of ["0-debris.jsonl", "z-debris.jsonl"]) {
    writeLines(directory, fileName, ["{broken", user("x"), header()]);
  }
  writeFileSync(join(directory, "y-empty.jsonl"), "");
  mkdirSync(join(directory, "x.jsonl"));
  symlinkSync("nowhere", join(directory, "0-dangling.jsonl"));
  symlinkSync("z-loop.jsonl", join(directory, "z-loop.jsonl"));
}

/** A file that is nothing but a header of exactly so many bytes. */
function writeLongHeader(directory: string, bytes: number): string {
  const bare = JSON.stringify(header({ padding: "" }));
  const path = join(directory, "long.jsonl");
  writeFileSync(path, JSON.stringify(header({ padding: "x".repeat(bytes - bare.length) })));
  return path;
}

describe("finding a session by id", () => {
  it("uses the id in the header, not the name of the file", () => {
    const directory = home.sessions("--work--");
    const path = write(directory, "t_other.jsonl", { id: "wanted" });
    write(directory, "t_wanted.jsonl", { id: "other" });
    expect(findSessionById(cwd, "wanted")).toBe(path);
    expect(findSessionById(cwd, "want")).toBeUndefined();
    expect(findSessionById(cwd, "")).toBeUndefined();
  });

  it("counts only the first record of a file", () => {
    writeLines(home.sessions("--work--"), "a.jsonl", [header(), header({ id: "second" })]);
    writeLines(home.sessions("--work--"), "b.jsonl", [user("x"), header({ id: "late" })]);
    expect(findSessionById(cwd, "second")).toBeUndefined();
    expect(findSessionById(cwd, "late")).toBeUndefined();
  });

  it("continues after files that are not sessions or cannot be read", () => {
    const directory = home.sessions("--work--");
    writeDebris(directory);
    expect(findSessionById(cwd, "m1")).toBeUndefined();
    const path = write(directory, "m.jsonl", { id: "m1" });
    expect(findSessionById(cwd, "m1")).toBe(path);
  });

  it("finds only sessions of the working directory, wherever they are", () => {
    const shared = home.sessions("--a-b-c--");
    write(shared, "1.jsonl", { id: "one", cwd: "/a/b-c" });
    expect(findSessionById("/a/b-c", "one")).toBe(join(shared, "1.jsonl"));
    expect(findSessionById("/a-b/c", "one")).toBeUndefined();
    const flat = home.directory("flat");
    write(flat, "2.jsonl", { id: "two", cwd: "/other" });
    expect(findSessionById(cwd, "two", flat)).toBeUndefined();
    expect(findSessionById("/other/", "two", flat)).toBe(join(flat, "2.jsonl"));
  });

  it("finds a session without cwd in its default directory, never in a flat one", () => {
    const path = write(home.sessions("--work--"), "1.jsonl", { cwd: undefined });
    write(home.directory("flat"), "1.jsonl", { cwd: undefined });
    expect(findSessionById(cwd, "s1")).toBe(path);
    expect(findSessionById(cwd, "s1", home.directory("flat"))).toBeUndefined();
  });

  it("of several prefers the one with pi's file name, then the last name", () => {
    const directory = home.sessions("--work--");
    write(directory, "1_x.jsonl", {});
    const last = write(directory, "3.jsonl", {});
    expect(findSessionById(cwd, "s1")).toBe(last);
    const named = write(directory, "2_s1.jsonl", {});
    expect(findSessionById(cwd, "s1")).toBe(named);
  });

  it("finds nothing in a missing directory, and does not create it", () => {
    expect(findSessionById(cwd, "s1")).toBeUndefined();
    expect(findSessionById(cwd, "s1", "/missing")).toBeUndefined();
    expect(existsSync(home.path)).toBe(false);
  });
});

describe("finding the most recent session", () => {
  it("ignores files that are not sessions or cannot be read", () => {
    const directory = home.directory("flat");
    writeDebris(directory);
    writeLines(directory, "other.txt", [header()]);
    writeLongHeader(directory, headerScanBytesMax + 1);
    expect(findMostRecentSession(directory)).toBeNull();
    const path = write(directory, "m.jsonl", {});
    expect(findMostRecentSession(directory)).toBe(path);
  });

  it("finds only those of a working directory, if one is given", () => {
    const flat = home.directory("flat");
    const mine = write(flat, "1.jsonl", { cwd: "/work" }, 1);
    write(flat, "2.jsonl", { cwd: "/other" }, 2);
    write(flat, "3.jsonl", { cwd: undefined }, 3);
    expect(findMostRecentSession(flat, cwd)).toBe(mine);
    expect(findMostRecentSession(flat, "/neither")).toBeNull();
  });

  it("distinguishes working directories that share a default directory", () => {
    const shared = home.sessions("--a-b-c--");
    const mine = write(shared, "1.jsonl", { cwd: "/a/b-c" }, 1);
    write(shared, "2.jsonl", { cwd: "/a-b/c" }, 2);
    expect(findMostRecentSession(shared, "/a/b-c")).toBe(mine);
    const old = write(shared, "3.jsonl", { cwd: "" }, 3);
    expect(findMostRecentSession(shared, "/a/b-c")).toBe(old);
  });

  it("is null for a directory that is empty or missing", () => {
    expect(findMostRecentSession(home.directory("flat"))).toBeNull();
    expect(findMostRecentSession("/missing", cwd)).toBeNull();
  });
});

describe("finding the most recent session as omp does", () => {
  it("is asynchronous, and takes only a directory, as in omp", () => {
    expectTypeOf(findMostRecent).toEqualTypeOf<(sessionDir: string) => Promise<string | null>>();
  });

  it("finds a session when it begins with a title slot", async () => {
    const directory = temporaryDirectory();
    write(directory, "b.jsonl", {});
    const slot = encodeTitleSlot({ title: "Red build", source: "user", updatedAt: startTime });
    const path = writeLines(directory, "a.jsonl", [slot.toString().trimEnd(), header(), user("x")]);
    utimesSync(path, 1, 2);
    expect(await findMostRecent(directory)).toBe(path);
  });

  it("resolves to null when the directory is empty, missing, or a file", async () => {
    const directory = temporaryDirectory();
    expect(await findMostRecent(directory)).toBeNull();
    expect(await findMostRecent(join(directory, "missing"))).toBeNull();
    const file = join(directory, "file");
    writeFileSync(file, "");
    expect(await findMostRecent(file)).toBeNull();
  });

  it("resolves to the latest of all sessions, whatever else is there (law)", async () => {
    const file = fc.record({ changedMs: fc.integer({ min: 1, max: 5 }), isSession: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 8 }), async (files) => {
        const directory = temporaryDirectory();
        let latest: { readonly path: string; readonly changedMs: number } | undefined;
        for (const [i, { changedMs, isSession }] of files.entries()) {
          const path = write(directory, `${i}.jsonl`, {});
          if (!isSession) writeFileSync(path, "no session");
          utimesSync(path, 1, changedMs);
          const isLatest = latest === undefined || changedMs >= latest.changedMs;
          if (isSession && isLatest) latest = { path, changedMs };
        }
        expect(await findMostRecent(directory)).toBe(latest?.path ?? null);
        expect(findMostRecentSession(directory)).toBe(latest?.path ?? null);
      }),
      { numRuns: 40 },
    );
  });
});
