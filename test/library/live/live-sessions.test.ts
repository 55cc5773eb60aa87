/** The live list of a directory of sessions: real files, whichever process changes them. */
import { linkSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { sessions$ } from "@branchlog/library/live";
import type { LiveSessions } from "@branchlog/library/live";
import type { ChangeHints } from "@branchlog/core/types";
import { ManualClock, MemoryHints, nodePorts } from "@branchlog/core/testing";
import { startAppending } from "../../faults/appending-processes.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { say, turns } from "../../core/live/support.ts";
import { Watching } from "../../core/live/watched-directory.ts";
import { runs } from "../../support/fault-seed.ts";

async function newSession(path: string, text = "hello"): Promise<void> {
  const session = await createSession(path, { cwd: "/w" });
  await session.append(say(text));
  await session.close();
}

const namesIn = ({ sessions }: LiveSessions): (string | undefined)[] =>
  sessions.map(({ name }) => name);

describe("the sessions of a directory", () => {
  it("are listed, then reported as they are added, changed and removed", async () => {
    const directory = temporaryDirectory();
    const [one, two] = [join(directory, "one.jsonl"), join(directory, "two.jsonl")];
    await newSession(one, "first");
    const watching = new Watching(directory, { pollMs: Infinity });
    const first = await watching.until(({ sessions }) => sessions.length === 1);
    // On a busy machine a part of the list was told of before.
    expect([...watching.replayed().values()]).toEqual(first.sessions);
    expect(first.sessions[0]?.summary.firstMessage).toBe("first");

    await newSession(two);
    await watching.until(({ sessions }) => sessions.length === 2);
    const other = await openSession(one);
    await other.append({ type: "session_info", name: "N" });
    const named = await watching.until((list) => namesIn(list).includes("N"));
    expect(named.changed.map(({ path }) => path)).toEqual([one]);
    rmSync(two);
    const gone = await watching.until(({ sessions }) => sessions.length === 1);
    expect(gone.removed.map(({ path }) => path)).toEqual([two]);
    expect([...watching.replayed().values()]).toEqual(gone.sessions);
    watching.end();
  });

  it("can start with a missing directory", async () => {
    const directory = join(temporaryDirectory(), "later");
    const watching = new Watching(directory, { pollMs: 10 });
    const none = await watching.until(() => true);
    expect([none.sessions, none.status]).toEqual([[], { kind: "live" }]);
    mkdirSync(directory);
    await newSession(join(directory, "one.jsonl"));
    await watching.until(({ sessions }) => sessions.length === 1);
    watching.end();
  });

  it("can be in existing and new subdirectories", async () => {
    const root = temporaryDirectory();
    const [old, late] = [join(root, "--old--"), join(root, "--late--")];
    mkdirSync(old);
    await newSession(join(old, "one.jsonl"));
    const watching = new Watching(root, { subdirectories: true, pollMs: Infinity });
    await watching.until(({ sessions }) => sessions.length === 1);
    mkdirSync(late);
    await newSession(join(late, "two.jsonl"));
    await watching.until(({ sessions }) => sessions.length === 2);
    await newSession(join(old, "three.jsonl"));
    await watching.until(({ sessions }) => sessions.length === 3);
    rmSync(old, { recursive: true });
    await watching.until(({ sessions }) => sessions.length === 1);
    watching.end();
  });

  it("exclude other files until they become sessions", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "one.jsonl");
    writeFileSync(path, '{"type":"other"}\n');
    writeFileSync(join(directory, "notes.txt"), "hello");
    const watching = new Watching(directory, { pollMs: Infinity });
    expect((await watching.until(() => true)).sessions).toEqual([]);
    await newSession(join(directory, "two.jsonl"));
    renameSync(join(directory, "two.jsonl"), path);
    const found = await watching.until(
      ({ sessions }) => sessions.length === 1 && sessions[0]?.path === path,
    );
    writeFileSync(path, "no session any more\n");
    await watching.until(({ sessions }) => sessions.length === 0);
    expect(found.sessions[0]?.summary.messageCount).toBe(1);
    watching.end();
  });

  it("are all delivered at once to a later subscriber", async () => {
    const directory = temporaryDirectory();
    await newSession(join(directory, "one.jsonl"));
    const list = sessions$(directory, { pollMs: Infinity });
    const first: LiveSessions[] = [];
    await new Promise<void>((resolve) => {
      const subscription = list.subscribe((emission) => {
        first.push(emission);
        if (emission.status.kind !== "live") return;
        const second: LiveSessions[] = [];
        const other = list.subscribe((late) => second.push(late));
        expect(second).toEqual([{ ...emission, added: emission.sessions }]);
        other.unsubscribe();
        queueMicrotask(() => subscription.unsubscribe());
        resolve();
      });
    });
    expect(first.length).toBeGreaterThan(0);
  });

  it("are shown partially while many of them are read for the first time", async () => {
    const directory = temporaryDirectory();
    for (let n = 0; n < 5; n += 1) await newSession(join(directory, `${n}.jsonl`));
    let nowMs = 0;
    const ports = { clock: { ...nodePorts.clock, monotonicMs: () => (nowMs += 60) } };
    const watching = new Watching(directory, { pollMs: Infinity, ports });
    const all = await watching.until(() => true);
    expect(watching.emissions.map(({ status }) => status.kind)).toEqual([
      "catching-up",
      "catching-up",
      "live",
    ]);
    expect(new Set(watching.replayed().values())).toEqual(new Set(all.sessions));
    expect(all.sessions.length).toBe(5);
    watching.end();
  });

  it("keep known sessions while the directory cannot be read, and report it", async () => {
    const parent = temporaryDirectory();
    const directory = join(parent, "d");
    mkdirSync(directory);
    await newSession(join(directory, "one.jsonl"));
    const ports = { hints: new MemoryHints(), clock: new ManualClock(Date.now()) };
    const watching = new Watching(directory, { pollMs: 1000, ports });
    await watching.until(({ sessions }) => sessions.length === 1);
    renameSync(directory, join(parent, "moved"));
    writeFileSync(directory, "a file now");
    ports.clock.advance(1000);
    const stalled = await watching.until(({ status }) => status.kind === "stalled");
    expect(stalled.sessions.length).toBe(1);
    expect(stalled.status).toMatchObject({
      error: { code: "ERR_LOG_UNREADABLE", path: directory },
    });
    watching.end();
  });

  const logs = runs(2, 4);

  it(
    `of ${2 * logs} active processes are all complete at the end`,
    { timeout: 60_000 },
    async () => {
      const directory = temporaryDirectory();
      const watching = new Watching(directory);
      const paths = Array.from({ length: logs }, (_, n) => join(directory, `s${n}.jsonl`));
      for (const path of paths) await newSession(path);
      const writers = [...paths, ...paths].map((path, n) =>
        startAppending(path, `w${n}`, { count: runs(15, 50), batch: 2 }),
      );
      for (const { ended } of writers) expect(await ended).toBe(0);
      const done = await watching.until(
        ({ sessions }) =>
          sessions.length === logs &&
          sessions.every(({ path, sizeBytes }) => sizeBytes === statSync(path).size),
      );
      expect(new Set(watching.replayed().values())).toEqual(new Set(done.sessions));
      watching.end();
    },
  );

  it("of a file with several names are one, while one of them exists", async () => {
    const directory = temporaryDirectory();
    const [a, b] = [join(directory, "a.jsonl"), join(directory, "b.jsonl")];
    await newSession(a);
    linkSync(a, b);
    const watching = new Watching(directory, { pollMs: Infinity });
    expect((await watching.until(() => true)).sessions.map(({ path }) => path)).toEqual([a]);
    const other = await openSession(b);
    await other.append({ type: "session_info", name: "N" });
    await watching.until((list) => namesIn(list)[0] === "N");
    rmSync(a);
    const left = await watching.until(({ removed }) => removed.length > 0);
    expect(left.sessions.map(({ path }) => path)).toEqual([b]);
    watching.end();
  });

  it("that cannot be watched are read at each poll only", async () => {
    const directory = join(temporaryDirectory(), "none");
    let watches = 0;
    const hints: ChangeHints = {
      watch: (_, onHint) => {
        watches += 1;
        // As the real ones do where watching fails.
        setImmediate(() => onHint(null));
        return { closeSync: () => undefined };
      },
    };
    const clock = new ManualClock(0);
    const watching = new Watching(directory, { pollMs: 1000, ports: { hints, clock } });
    await watching.until(() => true);
    for (let polls = 0; polls < 3; polls += 1) {
      await turns(50);
      expect(watches).toBe(1 + polls);
      clock.advance(1000);
    }
    watching.end();
  });
});
