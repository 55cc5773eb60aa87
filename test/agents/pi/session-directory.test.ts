/** pi's lists of the sessions of one working directory, of a flat directory, and of all. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionInfo } from "@branchlog/agents/pi";
import { headerScanBytesMax } from "../../../packages/library/src/catalog/limits.ts";
import {
  listSessions,
  listAllSessions,
} from "../../../packages/agents/src/pi/session-directory.ts";
import {
  assistant,
  header,
  message,
  name,
  startMs,
  user,
  writeLines,
} from "../../library/catalog/session-lines.ts";
import { useAgentHome } from "./agent-home.ts";

const home = useAgentHome();
const cwd = "/work";

/** The one session of a directory that holds one file of these lines. */
async function onlySession(...lines: (object | string)[]): Promise<SessionInfo | undefined> {
  const directory = home.sessions("--work--");
  writeLines(directory, "a.jsonl", lines);
  const sessions = await listSessions(cwd);
  expect(sessions.length).toBeLessThan(2);
  return sessions[0];
}

function names(sessions: readonly SessionInfo[]): string[] {
  return sessions.map(({ path }) => basename(path));
}

/** A session of {@link cwd} that was last changed so many ms after its start. */
function writeSession(directory: string, fileName: string, ms: number, fields: object = {}): void {
  writeLines(directory, fileName, [header(fields), user(`in ${fileName}`, startMs + ms)]);
}

describe("a session of a list", () => {
  it("shows its path, its name and its text", async () => {
    const session = await onlySession(
      header({ parentSession: "/parent.jsonl" }),
      user("first", startMs + 1000),
      assistant([{ type: "text", text: "second" }], startMs + 2000),
      message("toolResult", [{ type: "text", text: "output" }], { timestamp: startMs + 3000 }),
      name("  The name "),
    );
    expect({ ...session }).toEqual({
      path: join(home.path, "sessions", "--work--", "a.jsonl"),
      id: "s1",
      cwd: "/work",
      name: "The name",
      parentSessionPath: "/parent.jsonl",
      created: new Date(startMs),
      modified: new Date(startMs + 2000),
      messageCount: 3,
      firstMessage: "first",
      allMessagesText: "first second",
    });
  });

  it("has no name, parent or text if the file has none", async () => {
    const session = await onlySession(header({ cwd: undefined, parentSession: 5 }));
    expect(session).not.toHaveProperty("name");
    expect(session).not.toHaveProperty("parentSessionPath");
    expect(session).toMatchObject({ cwd: "", messageCount: 0, firstMessage: "(no messages)" });
    expect(session?.allMessagesText).toBe("");
  });

  it("reads its text from the file on demand, and has none after the file is removed", async () => {
    const session = await onlySession(header(), user("then"));
    const path = session?.path ?? "";
    writeLines(join(path, ".."), "a.jsonl", [header(), user("now")]);
    expect(session?.allMessagesText).toBe("now");
    rmSync(path);
    expect(session?.allMessagesText).toBe("");
  });
});

describe("the time of the last change", () => {
  const days = 86_400_000;

  it.each([
    ["there is no message", []],
    ["all messages are from before 1970", [user("x", -5)]],
    ["the latest message has a time that no calendar has", [user("x", 1e18)]],
  ])("is that of the header if %s", async (_when, lines) => {
    expect((await onlySession(header(), ...lines))?.modified).toEqual(new Date(startMs));
  });

  it("is that of the file if the header has none either", async () => {
    const directory = home.sessions("--work--");
    const path = writeLines(directory, "a.jsonl", [header({ timestamp: "at noon" })]);
    utimesSync(path, 1, 86_400);
    const [session] = await listSessions(cwd);
    expect(session?.modified).toEqual(new Date(days));
    expect(session?.created.getTime()).toBeNaN();
  });
});

it("a list is ordered by the last change, then by file name, descending (law)", async () => {
  const collator = new Intl.Collator();
  const file = fc.record({ name: fc.stringMatching(/^[a-cA-C]{1,3}$/), ms: fc.nat(2) });
  const files = fc.uniqueArray(file, { selector: (one) => one.name, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(files, async (chosen) => {
      const lists: string[][] = [];
      for (const order of [chosen, chosen.toReversed()]) {
        const directory = home.directory("flat");
        for (const one of order) writeSession(directory, `${one.name}.jsonl`, one.ms);
        lists.push(names(await listSessions(cwd, directory)));
        rmSync(directory, { recursive: true });
      }
      const [listed = []] = lists;
      expect(lists).toEqual([listed, listed]);
      const byTimeAndName = chosen.toSorted(
        (a, b) => b.ms - a.ms || collator.compare(b.name, a.name),
      );
      expect(listed).toEqual(byTimeAndName.map((one) => `${one.name}.jsonl`));
    }),
    { numRuns: 30 },
  );
});

describe("the sessions of a working directory", () => {
  it("are distinguished by their headers when two share a default directory", async () => {
    const directory = home.sessions("--a-b-c--");
    writeSession(directory, "1.jsonl", 1, { cwd: "/a/b-c" });
    writeSession(directory, "2.jsonl", 2, { cwd: "/a-b/c" });
    expect(names(await listSessions("/a/b-c"))).toEqual(["1.jsonl"]);
    expect(names(await listSessions("/a-b/c"))).toEqual(["2.jsonl"]);
    expect(names(await listSessions("/a/b/c"))).toEqual([]);
  });

  it("are those of its header's cwd in a flat directory too", async () => {
    const directory = home.directory("flat");
    writeSession(directory, "1.jsonl", 1, { cwd: "/work" });
    writeSession(directory, "2.jsonl", 2, { cwd: "/other" });
    expect(names(await listSessions(cwd, directory))).toEqual(["1.jsonl"]);
  });

  it.each(["/work/", "/work/.", "/x/../work", "file:///work"])(
    "include one whose header has %s",
    async (written) => {
      writeSession(home.directory("flat"), "1.jsonl", 1, { cwd: written });
      expect(await listSessions(cwd, home.directory("flat"))).toHaveLength(1);
      expect(await listSessions(written, home.directory("flat"))).toHaveLength(1);
    },
  );

  it("include one whose header has a cwd relative to that of the process", async () => {
    writeSession(home.directory("flat"), "1.jsonl", 1, { cwd: "." });
    expect(await listSessions(process.cwd(), home.directory("flat"))).toHaveLength(1);
  });

  it.each([undefined, "", null, 5])(
    "include one whose header has the cwd %s in its default directory, nowhere else",
    async (written) => {
      writeSession(home.sessions("--work--"), "1.jsonl", 1, { cwd: written });
      writeSession(home.directory("flat"), "2.jsonl", 1, { cwd: written });
      expect(names(await listSessions(cwd))).toEqual(["1.jsonl"]);
      expect(names(await listSessions(cwd, home.path + "/sessions/--work--"))).toEqual(["1.jsonl"]);
      expect(await listSessions(cwd, home.directory("flat"))).toEqual([]);
    },
  );

  it("are unaffected by a header whose cwd is not a valid path", async () => {
    writeSession(home.directory("flat"), "1.jsonl", 1, { cwd: "file://host/work" });
    writeSession(home.directory("flat"), "2.jsonl", 1);
    expect(names(await listSessions(cwd, home.directory("flat")))).toEqual(["2.jsonl"]);
  });
});

describe("a list is unaffected", () => {
  it("by files that are not sessions, or cannot be read", async () => {
    const directory = home.sessions("--work--");
    writeSession(directory, "good.jsonl", 1);
    writeSession(directory, "long.jsonl", 2, { padding: "x".repeat(headerScanBytesMax) });
    writeLines(directory, "headerless.jsonl", [user("x"), header()]);
    writeLines(directory, "corrupt-header.jsonl", ['{"type":"session","id":"s', user("x")]);
    writeLines(directory, "no-id.jsonl", [header({ id: undefined })]);
    writeLines(directory, "empty.jsonl", []);
    writeFileSync(join(directory, "nuls.jsonl"), Buffer.alloc(5000));
    mkdirSync(join(directory, "directory.jsonl"));
    symlinkSync("nowhere.jsonl", join(directory, "dangling.jsonl"));
    symlinkSync("loop.jsonl", join(directory, "loop.jsonl"));
    writeLines(directory, "other.txt", [header()]);
    expect(names(await listSessions(cwd))).toEqual(["long.jsonl", "good.jsonl"]);
  });

  it("by a file that disappears while it is listed", async () => {
    const directory = home.sessions("--work--");
    for (let i = 10; i < 40; i += 1) writeSession(directory, `${i}.jsonl`, i);
    let last = 0;
    const sessions = await listSessions(cwd, undefined, (loaded) => {
      last = loaded;
      // The last in the order of reading; it was not yet begun.
      if (loaded === 1) rmSync(join(directory, "10.jsonl"));
    });
    expect(sessions).toHaveLength(29);
    expect(last).toBe(30);
  });

  it("by a directory that is missing, or is a file: it is empty, and nothing is created", async () => {
    expect(await listSessions("/never/used")).toEqual([]);
    expect(existsSync(home.path)).toBe(false);
    const path = writeLines(home.directory("flat"), "a.jsonl", [header()]);
    expect(await listSessions(cwd, path)).toEqual([]);
    expect(await listSessions(cwd, join(path, "x"))).toEqual([]);
    expect(readdirSync(home.directory("flat"))).toEqual(["a.jsonl"]);
  });
});

describe("the progress of a list", () => {
  it("reports each file, and the sessions with the first, every tenth and the last", async () => {
    const directory = home.directory("flat");
    for (let i = 0; i < 23; i += 1) {
      writeSession(directory, `${i}.jsonl`, i, i % 2 === 0 ? {} : { cwd: "/other" });
    }
    writeLines(directory, "no-session.jsonl", [user("x")]);
    const calls: [number, number][] = [];
    const partials = new Map<number, readonly SessionInfo[]>();
    const sessions = await listSessions(cwd, directory, (loaded, total, partial) => {
      calls.push([loaded, total]);
      if (partial) partials.set(loaded, partial);
    });
    expect(calls).toEqual(Array.from({ length: 24 }, (_, i) => [i + 1, 24]));
    expect([...partials.keys()]).toEqual([1, 10, 20, 24]);
    expect(partials.get(24)).toEqual(sessions);
    expect(sessions).toHaveLength(12);
    for (const partial of partials.values()) {
      expect(partial.every((session) => session.cwd === cwd)).toBe(true);
      const times = partial.map(({ modified }) => modified.getTime());
      expect(times).toEqual(times.toSorted((a, b) => b - a));
    }
  });

  it("is not reported for an empty directory", async () => {
    const calls: number[] = [];
    expect(await listSessions(cwd, home.directory("flat"), (n) => calls.push(n))).toEqual([]);
    expect(calls).toEqual([]);
  });

  it("that fails makes the list empty", async () => {
    writeSession(home.directory("flat"), "1.jsonl", 1);
    const failing = (): never => {
      throw new Error("no");
    };
    expect(await listSessions(cwd, home.directory("flat"), failing)).toEqual([]);
  });
});

describe("an aborted list", () => {
  it("rejects with an AbortError, also for a directory that is missing", async () => {
    const signal = AbortSignal.abort();
    const rejection = { name: "AbortError" };
    await expect(listSessions(cwd, undefined, undefined, signal)).rejects.toMatchObject(rejection);
    writeSession(home.directory("flat"), "1.jsonl", 1);
    const listing = listSessions(cwd, home.directory("flat"), undefined, signal);
    await expect(listing).rejects.toMatchObject(rejection);
  });

  it("ends early, and reports no more progress", async () => {
    for (let i = 0; i < 50; i += 1) writeSession(home.directory("flat"), `${i}.jsonl`, i);
    const controller = new AbortController();
    const calls: number[] = [];
    const onProgress = (loaded: number): void => {
      calls.push(loaded);
      if (loaded === 3) controller.abort();
    };
    const listing = listSessions(cwd, home.directory("flat"), onProgress, controller.signal);
    await expect(listing).rejects.toMatchObject({ name: "AbortError" });
    expect(calls).toEqual([1, 2, 3]);
  });
});

function write(directory: string, fileName: string, ms: number, changedMs: number = ms): string {
  const path = writeLines(directory, fileName, [header({ cwd: "/any" }), user("x", startMs + ms)]);
  utimesSync(path, 1, changedMs);
  return path;
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
    expect(paths).toEqual(["a--/0", "b--/2", "a--/1", "c--/0", "b--/0"].map((at) => `${at}.jsonl`));
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
  it("reports partial lists only after the file that changed last was read", async () => {
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
  ])("can be %s: an abort rejects with its reason", async (_form, list) => {
    await expect(list()).rejects.toThrow("enough");
  });

  it.each([
    ["progress", (told: () => void) => listAllSessions(told)],
    ["directory, progress", (told: () => void) => listAllSessions(home.sessions("--a--"), told)],
    ["nothing, progress", (told: () => void) => listAllSessions(undefined, told)],
  ])("can be %s: progress is reported", async (_form, list) => {
    write(home.sessions("--a--"), "1.jsonl", 1);
    let told = 0;
    await list(() => (told += 1));
    expect(told).toBe(1);
    rmSync(home.path, { recursive: true });
  });
});
