/** What `--since` and `--until` take, and what list, search and stats show then. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { timeRange } from "../../packages/cli/src/time-words.ts";
import { branchlog, fixture, jsonLines } from "./command-run.ts";

/** A Thursday. */
const now = new Date(2026, 10, 26, 15, 30).getTime();
const day = (month: number, date: number): number => new Date(2026, month - 1, date).getTime();

function sinceOf(since: string, nowMs: number = now): number | undefined {
  return timeRange({ since, until: undefined }, nowMs).sinceMs;
}

function untilOf(until: string, nowMs: number = now): number | undefined {
  return timeRange({ since: undefined, until }, nowMs).untilMs;
}

describe("a time on the command line", () => {
  it.each([
    ["30m", now - 30 * 60_000, now - 30 * 60_000],
    ["3d", now - 3 * 86_400_000, now - 3 * 86_400_000],
    ["today", day(11, 26), day(11, 27)],
    ["Yesterday", day(11, 25), day(11, 26)],
    ["monday", day(11, 23), day(11, 24)],
    ["mon", day(11, 23), day(11, 24)],
    ["friday", day(11, 20), day(11, 21)],
    // As git has it: the one before today.
    ["thursday", day(11, 19), day(11, 20)],
    ["2026-11-24", day(11, 24), day(11, 25)],
    ["2026-11-24T18:00:00Z", Date.UTC(2026, 10, 24, 18), Date.UTC(2026, 10, 24, 18)],
  ])("%s starts a range, and ends one with the full day", (word, start, end) => {
    expect([sinceOf(word), untilOf(word)]).toEqual([start, end]);
  });

  it.each(["", "0", "3x", "someday", "2026-02-30", "2026-13-01", "-3d", "1e3d", "mondayy"])(
    "%j is rejected with the valid forms",
    (word) => {
      expect(() => sinceOf(word)).toThrow(/--since takes 30m, .*monday.* not /);
      expect(() => untilOf(word)).toThrow(/--until takes/);
    },
  );

  it("is rejected when the range is empty", () => {
    const range = { since: "today", until: "monday" };
    expect(() => timeRange(range, now)).toThrow("--since today is not before --until monday");
  });

  it("law: a weekday is one of the seven days before today, in order", () => {
    const names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    const time = fc.integer({ min: 0, max: 4e12 });
    fc.assert(
      fc.property(time, fc.nat({ max: 6 }), (at, weekday) => {
        const [start = 0, end = 0] = [
          sinceOf(names[weekday] ?? "", at),
          untilOf(names[weekday] ?? "", at),
        ];
        expect(new Date(start).getDay()).toBe(weekday);
        expect(end).toBeLessThanOrEqual(sinceOf("today", at) ?? 0);
        expect(at - start).toBeLessThanOrEqual(8.1 * 86_400_000);
        expect(untilOf("yesterday", at)).toBe(sinceOf("today", at));
        const { [0]: date = "" } = localDate(start);
        expect(sinceOf(date, at)).toBe(start);
      }),
    );
  });
});

function localDate(timeMs: number): readonly string[] {
  const time = new Date(timeMs);
  const [month, date] = [time.getMonth() + 1, time.getDate()].map((part) =>
    String(part).padStart(2, "0"),
  );
  return [`${time.getFullYear()}-${month}-${date}`];
}

describe("--until", () => {
  it("omits later changes from a list, before a limit applies", async () => {
    const listed = async (...words: readonly string[]): Promise<readonly unknown[]> => {
      const { code, out } = await branchlog(["list", fixture("codex"), ...words, "--json"]);
      expect(code).toBe(0);
      return jsonLines(out)
        .map((line) => (line as { readonly modified: string }).modified)
        .sort();
    };
    const all = await listed();
    const last = String(all.at(-1));
    expect(await listed("--until", last)).toEqual(all.filter((time) => String(time) < last));
    expect(await listed("--since", last)).toEqual(all.filter((time) => String(time) >= last));
    expect(await listed("--until", last, "-n", "1")).toEqual(
      all.filter((time) => String(time) < last).slice(-1),
    );
  });

  it("omits later hits and costs of sessions that continue", async () => {
    const file = fixture("pi-branches.jsonl");
    const until = ["--until", "2025-06-04T09:00:05Z"];
    const hits = jsonLines((await branchlog(["search", "cache", file, "--json"])).out);
    const early = jsonLines((await branchlog(["search", "cache", file, ...until, "--json"])).out);
    expect(early.length).toBeLessThan(hits.length);
    const [total] = jsonLines((await branchlog(["stats", file, ...until, "--json"])).out);
    expect(total).toMatchObject({ kind: "total", turns: 2, requests: 1 });
  });

  it("is rejected when it is not a time", async () => {
    const { code, err } = await branchlog(["stats", fixture("codex"), "--until", "soon"]);
    expect(code).toBe(2);
    expect(err).toContain("--until takes");
  });
});
