/** pi's list of the sessions of all working directories. */
import { mkdirSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SessionInfo } from "@branchlog/agents/pi";
import { listAllSessions } from "../../../packages/agents/src/pi/session-directory.ts";
import { header, startMs, user, writeLines } from "../../library/catalog/session-lines.ts";
import { useAgentHome } from "./agent-home.ts";

const home = useAgentHome();

function write(directory: string, fileName: string, ms: number, changedMs: number = ms): string {
  const path = writeLines(directory, fileName, [header({ cwd: "/any" }), user("x", startMs + ms)]);
  utimesSync(path, 1, changedMs);
  return path;
}

function names(sessions: readonly SessionInfo[]): string[] {
  return sessions.map(({ path }) => basename(path));
}

describe("the list of all sessions", () => {
  it("holds those of every directory, latest change first", async () => {
    write(home.sessions("--a--"), "1.jsonl", 1);
    write(home.sessions("--b--"), "2.jsonl", 3);
    write(home.sessions("--a--"), "3.jsonl", 2);
    write(home.sessions(), "not-in-a-directory.jsonl", 9);
    expect(names(await listAllSessions())).toEqual(["2.jsonl", "3.jsonl", "1.jsonl"]);
  });

  it("orders equal times by the change of the file, then by name, then by path", async () => {
    write(home.sessions("--a--"), "1.jsonl", 1, 100);
    write(home.sessions("--b--"), "2.jsonl", 1, 100);
    write(home.sessions("--a--"), "0.jsonl", 1, 200);
    write(home.sessions("--b--"), "0.jsonl", 1, 100);
    write(home.sessions("--c--"), "0.jsonl", 1, 100);
    const paths = (await listAllSessions()).map(({ path }) => path.slice(-11));
    expect(paths).toEqual(
      ["-a--/0.jsonl", "-b--/2.jsonl", "-a--/1.jsonl", "-c--/0.jsonl", "-b--/0.jsonl"].map((path) =>
        path.slice(-11),
      ),
    );
  });

  it("holds those behind links to directories, each once", async () => {
    write(home.sessions("--a--"), "1.jsonl", 1);
    write(home.directory("elsewhere"), "2.jsonl", 2);
    symlinkSync(home.directory("elsewhere"), join(home.sessions(), "--link--"));
    symlinkSync("--a--", join(home.sessions(), "--a-again--"));
    symlinkSync("../--a--/1.jsonl", join(home.directory("elsewhere"), "3.jsonl"));
    const paths = (await listAllSessions()).map(({ path }) => path);
    expect(paths).toEqual([
      join(home.sessions(), "--link--", "2.jsonl"),
      join(home.sessions(), "--a--", "1.jsonl"),
    ]);
  });

  it("leaves out what is no session or cannot be read", async () => {
    write(home.sessions("--a--"), "1.jsonl", 1);
    writeLines(home.sessions("--a--"), "no.jsonl", [user("x")]);
    mkdirSync(join(home.sessions("--a--"), "directory.jsonl"));
    symlinkSync("nowhere", join(home.sessions("--a--"), "dangling.jsonl"));
    symlinkSync("nowhere", join(home.sessions(), "--dangling--"));
    expect(names(await listAllSessions())).toEqual(["1.jsonl"]);
  });

  it("is empty without any sessions", async () => {
    expect(await listAllSessions()).toEqual([]);
    home.sessions();
    expect(await listAllSessions()).toEqual([]);
  });

  it("of a flat directory holds the sessions of every cwd in it, and no others", async () => {
    const flat = home.directory("flat");
    write(home.sessions("--a--"), "1.jsonl", 1);
    writeLines(flat, "2.jsonl", [header({ cwd: "/x" }), user("x", startMs + 5)]);
    writeLines(flat, "3.jsonl", [header({ cwd: undefined }), user("x", startMs + 5)]);
    expect(names(await listAllSessions(flat))).toEqual(["3.jsonl", "2.jsonl"]);
    expect(await listAllSessions(join(flat, "missing"))).toEqual([]);
    expect(names(await listAllSessions(""))).toEqual(["1.jsonl"]);
  });
});

describe("the progress of the list of all sessions", () => {
  it("tells partial lists only once the file that changed last was read", async () => {
    for (let i = 0; i < 250; i += 1) write(home.sessions(`--${i % 7}--`), `${i}.jsonl`, 250 - i, i);
    const calls: number[] = [];
    const partials: [number, readonly SessionInfo[]][] = [];
    const sessions = await listAllSessions((loaded, total, partial) => {
      calls.push(loaded);
      expect(total).toBe(250);
      if (partial) partials.push([loaded, partial]);
    });
    expect(calls).toEqual(Array.from({ length: 250 }, (_, i) => i + 1));
    expect(sessions).toHaveLength(250);
    expect(partials.slice(1).map(([loaded]) => loaded)).toEqual([100, 200, 250]);
    for (const [loaded, partial] of partials) {
      expect(partial).toHaveLength(loaded);
      expect(names(partial)).toContain("249.jsonl");
      expect(partial).toEqual(sessions.filter((session) => partial.includes(session)));
    }
  });

  it("of a flat directory has partial lists like that of a working directory", async () => {
    const flat = home.directory("flat");
    for (let i = 0; i < 12; i += 1) write(flat, `${i}.jsonl`, i);
    const loadedWithPartial: number[] = [];
    await listAllSessions(flat, (loaded, _total, partial) => {
      if (partial) loadedWithPartial.push(loaded);
    });
    expect(loadedWithPartial).toEqual([1, 10, 12]);
  });
});

describe("the arguments of the list of all sessions", () => {
  const aborted = AbortSignal.abort(new Error("enough"));

  it.each([
    ["progress, signal", () => listAllSessions(() => {}, aborted)],
    ["nothing, signal", () => listAllSessions(undefined, aborted)],
    ["directory, progress, signal", () => listAllSessions("/x", () => {}, aborted)],
    ["directory, nothing, signal", () => listAllSessions("/x", undefined, aborted)],
    ["nothing, progress, signal", () => listAllSessions(undefined, () => {}, aborted)],
  ])("may be %s: an abort rejects with its reason", async (_form, list) => {
    await expect(list()).rejects.toThrow("enough");
  });

  it.each([
    ["progress", (told: () => void) => listAllSessions(told)],
    ["directory, progress", (told: () => void) => listAllSessions(home.sessions("--a--"), told)],
    ["nothing, progress", (told: () => void) => listAllSessions(undefined, told)],
  ])("may be %s: progress is told", async (_form, list) => {
    write(home.sessions("--a--"), "1.jsonl", 1);
    let told = 0;
    await list(() => (told += 1));
    expect(told).toBe(1);
    rmSync(home.path, { recursive: true });
  });

  it("end the list in the middle when the signal is aborted", async () => {
    for (let i = 0; i < 40; i += 1) write(home.sessions("--a--"), `${i}.jsonl`, i);
    const controller = new AbortController();
    const calls: number[] = [];
    const listing = listAllSessions((loaded) => {
      calls.push(loaded);
      if (loaded === 2) controller.abort();
    }, controller.signal);
    await expect(listing).rejects.toMatchObject({ name: "AbortError" });
    expect(calls).toEqual([1, 2]);
  });
});
