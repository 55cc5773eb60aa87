/** How far work is: on terminals only, on one line, erased before anything else is written. */
import { EventEmitter, once } from "node:events";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { paceOf, recentSamples } from "../../packages/cli/src/progress-pace.ts";
import type { Sample } from "../../packages/cli/src/progress-pace.ts";
import { withProgress } from "../../packages/cli/src/progress.ts";
import { displayWidth } from "../../packages/cli/src/text/display-width.ts";
import { progressText } from "../../packages/cli/src/text/progress-text.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, MemoryOutput } from "./command-run.ts";

const erased = "\r\u001B[K";

describe("the pace of work", () => {
  const after = (samples: readonly Sample[]): readonly Sample[] => {
    let recent: readonly Sample[] = [];
    for (const sample of samples) recent = recentSamples(recent, sample);
    return recent;
  };

  it("is unknown until some work was done", () => {
    expect(paceOf([], 10)).toBeUndefined();
    expect(paceOf(after([{ ms: 0, done: 0 }]), 10)).toBeUndefined();
    const idle = [0, 100].map((ms) => ({ ms, done: 0 }));
    expect(paceOf(after(idle), 10)).toBeUndefined();
  });

  it("is that of the last seconds, not of all", () => {
    const slow = [0, 1000, 2000, 3000].map((ms) => ({ ms, done: ms / 1000 }));
    const fast = [4000, 5000, 6000, 7000].map((ms) => ({ ms, done: (ms - 3000) / 10 }));
    expect(paceOf(after([...slow, ...fast]), 500)).toEqual({ perSecond: 100, msLeft: 1000 });
  });

  it("has no time left when the work is done, or more than expected", () => {
    const samples = after([0, 1000].map((ms) => ({ ms, done: ms })));
    expect(paceOf(samples, 1000)?.msLeft).toBe(0);
    expect(paceOf(samples, 10)?.msLeft).toBe(0);
  });

  it("keeps a bounded number of samples, however long the work takes", () => {
    const samples = Array.from({ length: 1000 }, (_, at) => ({ ms: at * 100, done: at }));
    expect(after(samples).length).toBe(31);
  });
});

describe("the line of progress", () => {
  const bytes = { what: "reading work.jsonl", unit: "bytes", done: 370e6, total: 1e9 } as const;
  const sessions = { what: "searching", unit: "sessions", done: 1200, total: 3000 } as const;
  const pace = (perSecond: number, msLeft: number) => ({ perSecond, msLeft });

  it.each([
    [{ ...bytes, pace: pace(210e6, 3000) }, "reading work.jsonl 37 %, 210 MB/s, 3 s left"],
    [{ ...bytes, pace: undefined }, "reading work.jsonl 37 %"],
    [{ ...bytes, done: 2e9, pace: pace(1, 0) }, "reading work.jsonl 100 %, 1 byte/s, 0 s left"],
    [{ ...sessions, pace: pace(40, 45_000) }, "searching 1,200 of 3,000 sessions, 40/s, 45 s left"],
    [
      { ...sessions, pace: pace(2.5, 725_000) },
      "searching 1,200 of 3,000 sessions, 2.5/s, 12 min 5 s left",
    ],
    [
      { ...sessions, pace: pace(0.25, 7_260_000) },
      "searching 1,200 of 3,000 sessions, 0.3/s, 2 h 1 min left",
    ],
  ])("of %j is %j", (progress, text) => {
    expect(progressText(progress, 80)).toBe(text);
  });

  it("fits any terminal, and shortens the name first", () => {
    const long = { ...bytes, what: `reading ${"長い名前".repeat(30)}.jsonl`, pace: pace(1e6, 1e3) };
    expect(progressText(long, 50)).toMatch(/^reading 長.*… 37 %, 1\.00 MB\/s, 1 s left$/u);
    const width = fc.integer({ min: 2, max: 200 });
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), width, (what, columns) => {
        const text = progressText({ ...long, what }, columns);
        expect(displayWidth(text)).toBeLessThan(columns);
        expect(text).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});

describe("a command that takes long", () => {
  /** Each look at the clock is 100 ms after the last one. */
  const slowClock = (): (() => number) => {
    let ms = 0;
    return () => (ms += 100);
  };

  function sessions(): string {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "more"));
    for (const name of ["a", "b", "more/c"]) {
      cpSync(fixture("claude/conversation.jsonl"), join(directory, `${name}.jsonl`));
    }
    return directory;
  }

  const commands: readonly (readonly [string, (directory: string) => readonly string[], string])[] =
    [
      ["list", (directory) => ["list", directory], "reading 1 of 3 sessions, "],
      ["search", (directory) => ["search", "no such text", directory], "searching 1 of 3 sessions"],
      ["verify", (directory) => ["verify", directory], "verifying 1 of 3 sessions, "],
      [
        "import",
        (directory) => ["import", directory, "-o", temporaryDirectory()],
        "importing 1 of 3 sessions, ",
      ],
    ];

  it.each(commands)("%s shows progress, and erases it at the end", async (_, words, shown) => {
    const err = new MemoryOutput({ isTerminal: true });
    await branchlog(words(sessions()), { err, monotonicMs: slowClock() });
    expect(err.text).toContain(`${erased}${shown}`);
    const last = err.text.lastIndexOf(erased);
    expect(err.text.slice(last)).not.toMatch(/ of 3 sessions/);
  });

  it.each(commands)("%s shows nothing of it in a pipe, or with --json", async (_, words) => {
    const pipe = new MemoryOutput();
    await branchlog(words(sessions()), { err: pipe, monotonicMs: slowClock() });
    expect(pipe.text).not.toContain(" of 3 ");
    const err = new MemoryOutput({ isTerminal: true });
    await branchlog([...words(sessions()), "--json"], { err, monotonicMs: slowClock() });
    expect(err.text).not.toContain(erased);
  });

  it("shows the progress within a file while it is read", async () => {
    const shown = new EventEmitter();
    const onWrite = (text: string): void => {
      if (text.includes("reading work.jsonl 0 %")) shown.emit("seen");
    };
    const err = new MemoryOutput({ isTerminal: true, onWrite });
    const io = { err, monotonicMs: slowClock(), showsProgress: () => true };
    const task = { what: "reading", path: "/a/work.jsonl", bytes: 1000 };
    await withProgress(io, task, () => once(shown, "seen"));
    expect(err.text.endsWith(erased)).toBe(true);
  });
});
