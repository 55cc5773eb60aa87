/** The conversation that the server answers: its pages, its branches, and what is odd. */
import { appendFileSync, mkdtempSync, writeFileSync, cpSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { htmlPieces } from "@branchlog/web";
import type {
  BranchComparison,
  OutlinePage,
  SessionList,
  TurnHead,
  TurnPage,
  TurnPlace,
} from "../../packages/web/src/api.ts";
import { events, testServer } from "./served.ts";
import type { TestServer } from "./served.ts";

const fixtures = fileURLToPath(new URL("../../fixtures/", import.meta.url));
const header = {
  type: "session",
  version: 3,
  id: "s1",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/a",
};

interface Opened {
  readonly server: TestServer;
  readonly base: string;
  readonly place: (row?: number) => Promise<TurnPlace>;
  readonly turns: (from: number, count: number, tip: number | null) => Promise<TurnPage>;
}

async function opened(directory: string): Promise<Opened> {
  const server = await testServer([directory]);
  let list = await server.get<SessionList>("/api/sessions");
  while (list.sessions.length === 0) list = await server.get<SessionList>("/api/sessions");
  const base = `/api/session/${list.sessions[0]?.key ?? ""}`;
  const of = (tip: number | null): string => (tip === null ? "" : `&tip=${tip}`);
  return {
    server,
    base,
    place: (row) => server.get(`${base}/turns/place${row === undefined ? "" : `?row=${row}`}`),
    turns: (from, count, tip) => server.get(`${base}/turns?from=${from}&count=${count}${of(tip)}`),
  };
}

function fixture(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), "branchlog-turns-"));
  cpSync(join(fixtures, name), join(directory, "session.jsonl"));
  return directory;
}

function written(entries: readonly object[]): string {
  const directory = mkdtempSync(join(tmpdir(), "branchlog-turns-"));
  const lines = [header, ...entries].map((one) => JSON.stringify(one));
  writeFileSync(join(directory, "session.jsonl"), `${lines.join("\n")}\n`);
  return directory;
}

function entry(at: number, parent: number | null, message: object): object {
  const timestamp = new Date(1_767_225_600_000 + 1000 * at).toISOString();
  const parentId = parent === null ? null : `e${parent}`;
  return { type: "message", id: `e${at}`, parentId, timestamp, message };
}

const asked = (text: string): object => ({ role: "user", content: text, timestamp: 1 });
const spent = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, cost: { total: 0.25 } };
const said = (text: string): object => ({
  role: "assistant",
  provider: "p",
  model: "m",
  content: [{ type: "text", text }],
  usage: spent,
});

describe("the conversation", () => {
  it("has the turns of the leaf's branch, and the others where they start", async () => {
    const { place, turns } = await opened(fixture("pi-branches.jsonl"));
    expect(await place()).toMatchObject({ tip: null, sectionCount: 1, turnCount: 1 });
    const leaf = await turns(0, 20, null);
    expect(leaf.sections[0]?.branches).toMatchObject([
      {
        row: -1,
        wayCount: 2,
        ways: [
          { row: 0, title: "Plan the cache.", turns: 4, isShown: false },
          { row: 9, title: "A second root.", turns: 1, isShown: true, isOnPath: true },
        ],
      },
    ]);
    const other = await place(2);
    const branch = await turns(0, 20, other.tip);
    expect(branch.sections.map(({ prompt }) => prompt)).toEqual([
      "Plan the cache.",
      "Try LRU.",
      "Measure it.",
    ]);
    expect(await place(0)).toMatchObject({ turnCount: 2 });
  });

  it("is the same in pages of any size, and sums each entry once", async () => {
    const entries = Array.from({ length: 300 }, (_, at) =>
      entry(
        at,
        at === 0 ? null : at - 1,
        at % 100 === 0 ? asked(`ask ${at}`) : said(`answer ${at}`),
      ),
    );
    const { server, base, turns } = await opened(written(entries));
    const whole = await turns(0, 40, null);
    expect(whole.turnCount).toBe(3);
    expect(whole.sectionCount).toBeGreaterThan(0);
    const single = await Promise.all(
      Array.from({ length: whole.sectionCount }, (_, at) => turns(at, 1, null)),
    );
    expect(single.flatMap(({ sections }) => sections)).toEqual(whole.sections);
    const rows = whole.sections.flatMap(({ blocks }) => blocks.map(({ row }) => row));
    expect(rows).toEqual(Array.from(entries.keys()));
    const heads = whole.sections.flatMap(({ head }) => (head === null ? [] : [head]));
    expect(heads.reduce((sum, head) => sum + (head.usage.cost ?? 0), 0)).toBeCloseTo(297 * 0.25);
    expect(heads.reduce((sum, head) => sum + head.entryCount, 0)).toBe(300);
    const outline = await server.get<OutlinePage>(`${base}/outline?from=1&count=1`);
    expect(outline.lines).toMatchObject([{ turn: 1, row: 100, text: "ask 100" }]);
    expect((await turns(999, 20, null)).sections).toEqual([]);
  });

  it("sums a turn of thousands of entries while it is read, and continues as it grows", async () => {
    const count = 5_000;
    const entries = Array.from({ length: count }, (_, at) =>
      entry(at, at === 0 ? null : at - 1, at === 0 ? asked("Do all of it.") : said(`step ${at}`)),
    );
    // A second branch leaves the turn in its middle.
    entries.push(entry(count, 2_499, said("elsewhere")));
    entries.push(entry(count + 1, count - 1, said("goes on")));
    const directory = written(entries);
    const { server, base, turns } = await opened(directory);
    const page = await events(server, `?key=${base.split("/").at(-1) ?? ""}`);
    const headOf = async (tip: number | null): Promise<TurnHead | null> =>
      (await turns(0, 1, tip)).sections[0]?.head ?? null;
    const first = await headOf(null);
    expect(first).toMatchObject({ entryCount: count + 1, isPartial: true });
    expect(first?.usage.cost).toBeLessThan(2_100 * 0.25);
    await vi.waitFor(async () => expect(await headOf(null)).toMatchObject({ isPartial: false }));
    await page.until((text) => text.includes(`"rowCount":${count + 2}`));
    expect(await headOf(null)).toMatchObject({
      entryCount: count + 1,
      usage: { requests: count, cost: count * 0.25 },
      durationMs: 1000 * (count + 1),
    });
    expect(await headOf(count)).toMatchObject({
      entryCount: 2_501,
      isPartial: false,
      usage: { requests: 2_500 },
    });
    const path = join(directory, "session.jsonl");
    appendFileSync(path, `${JSON.stringify(entry(count + 2, count + 1, said("the last")))}\n`);
    await page.until((text) => text.includes(`"rowCount":${count + 3}`));
    expect(await headOf(null)).toMatchObject({
      isPartial: false,
      usage: { requests: count + 1, cost: (count + 1) * 0.25 },
    });
    page.end();
    let exported = "";
    for await (const piece of htmlPieces(path)) exported += piece;
    expect(exported).toContain(`"requests":${count + 1}`);
    expect(exported).not.toContain('"isPartial":true');
  });

  it("sums each branch of a long turn separately when both are requested at once", async () => {
    const [shared, long, short] = [2_100, 3_000, 1_500];
    const entries = Array.from({ length: shared + long }, (_, at) =>
      entry(at, at === 0 ? null : at - 1, at === 0 ? asked("Do all of it.") : said(`step ${at}`)),
    );
    for (let at = 0; at < short; at += 1) {
      const parent = at === 0 ? shared - 1 : shared + long + at - 1;
      entries.push(entry(shared + long + at, parent, said(`other ${at}`)));
    }
    const { turns } = await opened(written(entries));
    const headOf = async (tip: number | null): Promise<TurnHead | null> =>
      (await turns(0, 1, tip)).sections[0]?.head ?? null;
    const [, other] = await Promise.all([headOf(shared + long - 1), headOf(null)]);
    expect(other).toMatchObject({
      isPartial: false,
      entryCount: shared + short,
      usage: { requests: shared + short - 1 },
    });
  });

  it("is shared from one turn to another as a file without secrets", async () => {
    const secret = "ghp_06A7b9XqLmNoPqRsTuVwXyZ0123456789Abc";
    const texts = ["first question", `the token is ${secret}`, "last question"];
    const entries = texts.flatMap((text, at) => [
      entry(2 * at, at === 0 ? null : 2 * at - 1, asked(text)),
      entry(2 * at + 1, 2 * at, said(`answer to ${at}`)),
    ]);
    const { server, base } = await opened(written(entries));
    const share = (range: string): ReturnType<TestServer["ask"]> =>
      server.ask(`${base}/share?${range}`, { headers: { cookie: server.cookie } });
    const { text, headers, status } = await share("from=2&to=3");
    expect(status).toBe(200);
    expect(headers["content-disposition"]).toContain("attachment");
    expect(headers["content-type"]).toBe("application/octet-stream");
    expect(text).toContain("the token is [redacted");
    expect(text).toContain("answer to 1");
    for (const absent of [secret, "first question", "answer to 2", "last question"]) {
      expect(text).not.toContain(absent);
    }
    expect((await share("from=3&to=2")).status).toBe(404);
    expect((await share("from=2&to=99")).status).toBe(404);
    expect((await server.ask(`${base}/share?from=2&to=3`)).status).toBe(401);
  });

  it("compares two branches: every entry is in the common part or in one branch", async () => {
    const entries = [
      entry(0, null, asked("start")),
      entry(1, 0, said("common")),
      entry(2, 1, asked("one way")),
      entry(3, 2, said("done so")),
      entry(4, 3, asked("further")),
      entry(5, 1, said("another")),
      entry(6, 5, asked("other way")),
    ];
    const { server, base } = await opened(written(entries));
    const compared = await server.get<BranchComparison>(`${base}/compare?from=2&to=5`);
    expect(compared.common).toEqual({
      entryCount: 2,
      turnCount: 1,
      turns: [{ row: 0, prompt: "start" }],
    });
    const [one, other] = compared.branches;
    expect(one).toMatchObject({ row: 2, lastRow: 4, turnCount: 2, sums: { entryCount: 3 } });
    expect(one.turns).toMatchObject([
      { prompt: "one way", answer: "done so", head: { usage: { cost: 0.25 } } },
      { prompt: "further", answer: "", head: { usage: { cost: null } } },
    ]);
    expect(other).toMatchObject({ row: 5, lastRow: 6, sums: { entryCount: 2, isPartial: false } });
    expect(other.turns).toMatchObject([
      { prompt: "", answer: "another", head: { entryCount: 1 } },
      { prompt: "other way" },
    ]);
    const same = await server.get<BranchComparison>(`${base}/compare?from=2&to=4`);
    expect(same.common.entryCount).toBe(5);
    expect(same.branches).toMatchObject([{ row: -1, turnCount: 0 }, { row: -1 }]);
    const absent = await server.ask(`${base}/compare?from=2&to=7`, {
      headers: { cookie: server.cookie },
    });
    expect(absent.status).toBe(404);
  });

  it("describes twenty of many branches at one entry, including the shown one", async () => {
    const entries = [
      entry(0, null, asked("start")),
      ...Array.from({ length: 5000 }, (_, at) => entry(at + 1, 0, asked(`way ${at + 1}`))),
    ];
    const { place, turns } = await opened(written(entries));
    const { tip } = await place(2500);
    const [point] = (await turns(0, 20, tip)).sections[0]?.branches ?? [];
    expect([point?.wayCount, point?.ways.length]).toEqual([5000, 20]);
    expect(point?.ways.find(({ isShown }) => isShown)).toMatchObject({ title: "way 2500" });
  });

  it("is exported in groups of answers, without single entries when there are too many", async () => {
    for (const [count, hasEntries] of [
      [250, true],
      [20_001, false],
    ] as const) {
      const entries = Array.from({ length: count }, (_, at) =>
        entry(
          at,
          at === 0 ? null : at - 1,
          at % 100 === 0 ? asked("<i>ask</i>") : said("</script>"),
        ),
      );
      const path = join(written(entries), "session.jsonl");
      let text = "";
      for await (const piece of htmlPieces(path)) text += piece;
      const groups = [...text.matchAll(/<script [^>]*data-addresses="([^"]*)">(.*)<\/script>/g)];
      const addresses = groups.flatMap(([, names = "", values = ""]) => {
        const given = names.split(" ");
        expect(JSON.parse(values)).toHaveLength(given.length);
        return given;
      });
      expect(new Set(addresses).size).toBe(addresses.length);
      const ofEntries = addresses.filter((one) => /\/entry\/\d+$/.test(one));
      expect(ofEntries).toHaveLength(hasEntries ? count : 0);
      const rows = addresses.filter((one) => one.includes("/rows?"));
      expect(rows).toHaveLength(Math.ceil(count / 200));
    }
  });

  it("is read from any file: damage, cycles, late and missing parents", async () => {
    for (const name of [
      "pi-cycles.jsonl",
      "pi-children-before-parents.jsonl",
      "pi-missing-parents.jsonl",
      "pi-malformed-bodies.jsonl",
      "pi-duplicate-ids.jsonl",
      "claude/damaged.jsonl",
      "codex/rollback.jsonl",
    ]) {
      const { server, base, turns } = await opened(fixture(name));
      const { rowCount } = await server.get<{ rowCount: number }>(base);
      for (let row = 0; row < rowCount; row += 1) {
        const place = await server.get<TurnPlace>(`${base}/turns/place?row=${row}`);
        const page = await turns(0, 40, place.tip);
        expect(page.sections.length).toBe(Math.min(40, page.sectionCount));
        await server.get(`${base}/outline?from=0&count=200`);
      }
      const absent = await server.ask(`${base}/turns/place?row=${rowCount}`, {
        headers: { cookie: server.cookie },
      });
      expect(absent.status).toBe(404);
    }
  });
});
