/** What the page says of costs, against sums that are made of the lines of the files alone. */
import { appendFileSync, cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import type { CostRow, CostTable, SessionList } from "@branchlog/web";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { testServer } from "./served.ts";
import type { TestServer } from "./served.ts";

interface Spent {
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cost: number;
}

type Line = Readonly<Record<string, never>>;

const piFiles = ["pi-branches.jsonl", "pi-linear.jsonl", "pi-compaction-boundaries.jsonl"];
const claudeFiles = ["claude/conversation.jsonl", "claude/branches.jsonl"];

function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
}

function linesOf(path: string): readonly Line[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

/** Of pi: all that spent, with the last prompt before it. */
function* piAnswers(paths: readonly string[]): Generator<{
  readonly path: string;
  readonly day: string;
  readonly model: string;
  readonly prompt: string | null;
  readonly spent: Spent;
}> {
  for (const path of paths) {
    let prompt: string | null = null;
    for (const line of linesOf(path)) {
      const message = line["message"] as Line | undefined;
      if (message?.["role"] === "user") prompt = line["id"] as unknown as string;
      // Summaries cost, too, and name no model.
      const isAnswer = message?.["role"] === "assistant";
      const usage = (isAnswer ? message["usage"] : line["usage"]) as Line | undefined;
      if (usage === undefined) continue;
      const number = (value: unknown): number => (typeof value === "number" ? value : 0);
      const spent = {
        requests: 1,
        input: number(usage["input"]),
        output: number(usage["output"]),
        cacheRead: number(usage["cacheRead"]),
        cacheWrite: number(usage["cacheWrite"]),
        cost: number((usage["cost"] as Line | undefined)?.["total"]),
      };
      const model = isAnswer ? `${String(message["provider"])}/${String(message["model"])}` : "";
      const time = new Date(String(line["timestamp"]));
      const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
      const day = parts.map((part) => String(part).padStart(2, "0")).join("-");
      yield { path, day, model, prompt, spent };
    }
  }
}

function summed<T extends { readonly spent: Spent }>(
  answers: readonly T[],
  nameOf: (answer: T) => string,
): Readonly<Record<string, Spent>> {
  const sums: Record<string, Spent> = {};
  for (const answer of answers) {
    const name = nameOf(answer);
    const known: Spent | undefined = sums[name];
    const { spent } = answer;
    sums[name] = {
      requests: (known?.requests ?? 0) + spent.requests,
      input: (known?.input ?? 0) + spent.input,
      output: (known?.output ?? 0) + spent.output,
      cacheRead: (known?.cacheRead ?? 0) + spent.cacheRead,
      cacheWrite: (known?.cacheWrite ?? 0) + spent.cacheWrite,
      cost: (known?.cost ?? 0) + spent.cost,
    };
  }
  return rounded(sums);
}

/** Sums of prices depend on their order. */
function rounded(sums: Readonly<Record<string, Spent>>): Readonly<Record<string, Spent>> {
  const near = (spent: Spent): Spent => ({ ...spent, cost: Math.round(spent.cost * 1e9) / 1e9 });
  return Object.fromEntries(Object.entries(sums).map(([name, spent]) => [name, near(spent)]));
}

function shown(rows: readonly CostRow[], nameOf = (row: CostRow): string => row.name): object {
  const sums = rows
    .filter(({ requests }) => requests > 0)
    .map((row) => {
      const { requests, input, output, cacheRead, cacheWrite, cost } = row;
      const spent = { requests, input, output, cacheRead, cacheWrite, cost: cost ?? 0 };
      return [nameOf(row), spent] as const;
    });
  return rounded(Object.fromEntries(sums));
}

async function served(names: readonly string[]): Promise<TestServer & { directory: string }> {
  const directory = temporaryDirectory();
  for (const name of names) cpSync(fixture(name), join(directory, name.replace(/.*\//, "")));
  const server = await testServer([directory]);
  await vi.waitFor(async () => {
    const list = await server.get<SessionList>("/api/sessions");
    expect(list.sessions.length).toBe(names.length);
  }, 10_000);
  return { ...server, directory };
}

describe("the costs of the page", () => {
  it("are those of the answers in the files, by day, model, session and turn", async () => {
    const server = await served(piFiles);
    const paths = piFiles.map((name) => join(server.directory, name));
    const answers = [...piAnswers(paths)].filter(({ spent }) => spent.input + spent.output > 0);
    expect(answers.length).toBeGreaterThan(5);
    const table = (query: string): Promise<CostTable> => server.get(`/api/costs?${query}`);
    const total = summed(answers, () => "all");
    const byDay = await table("by=day");
    expect(shown([byDay.total])).toEqual(total);
    expect(shown(byDay.rows)).toEqual(summed(answers, ({ day }) => day));
    expect(shown((await table("by=model")).rows)).toEqual(summed(answers, ({ model }) => model));
    const { sessions } = await server.get<SessionList>("/api/sessions");
    const pathOf = ({ key }: CostRow): string =>
      sessions.find((item) => item.key === key)?.path ?? "";
    const bySession = await table("by=session");
    expect(shown(bySession.rows, pathOf)).toEqual(summed(answers, ({ path }) => path));
    const ofTurn = (row: CostRow): string => `${pathOf(row)} ${row.entryId}`;
    expect(shown((await table("by=turn")).rows, ofTurn)).toEqual(
      summed(answers, ({ path, prompt }) => `${path} ${prompt}`),
    );
    const charted = byDay.days.map(({ day, models }) => [
      day,
      Object.values(models)
        .reduce((sum, cost) => sum + cost, 0)
        .toFixed(9),
    ]);
    const priced = answers.filter(({ spent }) => spent.cost > 0);
    const plain = summed(priced, ({ day }) => day);
    const wanted = Object.entries(plain).map(([day, { cost }]) => [day, cost.toFixed(9)]);
    expect(Object.fromEntries(charted.filter(([, cost]) => Number(cost) > 0))).toEqual(
      Object.fromEntries(wanted),
    );
  });

  it("of a day and of a session are parts of the whole", async () => {
    const server = await served(piFiles);
    const { rows } = await server.get<CostTable>("/api/costs?by=day");
    for (const { name, requests } of rows) {
      const table = await server.get<CostTable>(`/api/costs?by=session&day=${name}`);
      expect(table.total.requests).toBe(requests);
      expect(table.rows.reduce((sum, row) => sum + row.requests, 0)).toBe(requests);
      expect(table.days.length).toBe(rows.length);
    }
    const { rows: sessions } = await server.get<CostTable>("/api/costs?by=session");
    for (const { key, requests } of sessions) {
      const table = await server.get<CostTable>(`/api/costs?by=turn&session=${key}`);
      expect(table.rows.reduce((sum, row) => sum + row.requests, 0)).toBe(requests);
    }
  });

  it("of Claude Code count each answer once, for any number of records", async () => {
    const server = await served(claudeFiles);
    const answers = new Map<string, number>();
    for (const name of claudeFiles) {
      for (const line of linesOf(fixture(name))) {
        const message = line["message"] as Line | undefined;
        const usage = message?.["usage"] as Line | undefined;
        const id = message?.["id"] as unknown;
        if (line["type"] !== "assistant" || usage === undefined || typeof id !== "string") continue;
        const output = usage["output_tokens"] as unknown as number;
        answers.set(id, Math.max(answers.get(id) ?? 0, output));
      }
    }
    const { total } = await server.get<CostTable>("/api/costs?by=agent");
    expect(total.output).toBe([...answers.values()].reduce((sum, output) => sum + output, 0));
  });

  it("follow appends", async () => {
    const server = await served(["pi-linear.jsonl"]);
    const before = await server.get<CostTable>("/api/costs?by=day");
    const usage = { input: 1000, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: 2 } };
    const message = { role: "assistant", content: [], provider: "p", model: "m", usage };
    const entry = {
      type: "message",
      id: "costly01",
      parentId: null,
      timestamp: "2026-01-02T12:00:00Z",
    };
    appendFileSync(
      join(server.directory, "pi-linear.jsonl"),
      `${JSON.stringify({ ...entry, message })}\n`,
    );
    await vi.waitFor(async () => {
      const after = await server.get<CostTable>("/api/costs?by=day");
      expect(after.total.requests).toBe(before.total.requests + 1);
      expect(after.rows.find(({ name }) => name === "2026-01-02")?.cost).toBe(2);
      expect(after.turns[0]).toMatchObject({ cost: 2 });
    }, 10_000);
  });
});
