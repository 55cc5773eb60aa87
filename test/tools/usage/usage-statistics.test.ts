/** What sessions spent: every entry once, subagents with their parents, unknown prices unknown. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { forkSession } from "@branchlog/core";
import {
  assistantMessage,
  jsonLines,
  sampleHeader,
  sampleTimeMs,
  storedEntry,
  usageOf,
  userEntry,
} from "@branchlog/core/testing";
import { usageStatistics } from "@branchlog/tools";
import type { SpentSums, UsageStatistics } from "@branchlog/tools";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const fixtures = join(import.meta.dirname, "../../../fixtures");

function write(path: string, ...lines: readonly object[]): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, jsonLines(...lines));
  return path;
}

/** An answer for so many tokens, a half of them output, and dollars; 0 for an unknown price. */
function answer(id: string, parentId: string | null, tokens: number, dollars = 0): object {
  const usage = usageOf(tokens / 2, tokens / 2, dollars);
  const message = { ...assistantMessage("Done."), usage, timestamp: sampleTimeMs };
  return storedEntry("message", id, parentId, { message });
}

/** As `turns, requests, unpriced, tokens, dollars`. */
function shown({ turns, requests, unpriced, totalTokens, cost }: SpentSums): readonly number[] {
  return [turns, requests, unpriced, totalTokens, cost];
}

function byName(found: UsageStatistics, by: keyof UsageStatistics["groups"]): object {
  return Object.fromEntries(Array.from(found.groups[by], ([name, sums]) => [name, shown(sums)]));
}

describe("usageStatistics", () => {
  it("adds up turns, requests, tokens and costs by project, day, model and agent", async () => {
    const root = temporaryDirectory();
    const other = { id: "t", cwd: "/v" };
    const later = { timestamp: new Date(sampleTimeMs + 5 * 86_400_000).toISOString() };
    write(
      join(root, "a.jsonl"),
      sampleHeader(),
      userEntry("a1", null, "Go."),
      answer("a2", "a1", 10, 1),
    );
    write(join(root, "b.jsonl"), sampleHeader(other), { ...answer("b1", null, 4, 2), ...later });
    const found = await usageStatistics([root]);
    expect([found.sessions, ...shown(found.total)]).toEqual([2, 1, 2, 0, 14, 3]);
    expect(byName(found, "project")).toEqual({ "/w": [1, 1, 0, 10, 1], "/v": [0, 1, 0, 4, 2] });
    expect(byName(found, "model")).toEqual({ "anthropic/claude-test": [0, 2, 0, 14, 3] });
    expect(byName(found, "agent")).toEqual({ pi: [1, 2, 0, 14, 3] });
    expect([...found.groups.day.values()].map((sums) => sums.totalTokens)).toEqual([10, 4]);
    expect([found.unread, found.unlisted]).toEqual([[], []]);
  });

  it("counts a missing price as unknown, not as 0", async () => {
    const root = temporaryDirectory();
    const answers = [answer("a", null, 10, 1), answer("b", "a", 10), answer("c", "b", 10)];
    write(join(root, "a.jsonl"), sampleHeader(), ...answers);
    const { total } = await usageStatistics([root]);
    expect([total.requests, total.unpriced, total.cost]).toEqual([3, 2, 1]);
  });

  it("uses the days of the local time zone", async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    const root = temporaryDirectory();
    const atNight = { timestamp: "2026-03-01T02:30:00.000Z" };
    const without = { timestamp: "yesterday" };
    const entries = [
      { ...answer("a", null, 2), ...atNight },
      { ...answer("b", "a", 2), ...without },
    ];
    write(join(root, "a.jsonl"), sampleHeader(), ...entries);
    vi.stubEnv("TZ", "America/New_York");
    expect([...(await usageStatistics([root])).groups.day.keys()]).toEqual(["2026-02-28", ""]);
    vi.stubEnv("TZ", "Asia/Tokyo");
    expect([...(await usageStatistics([root])).groups.day.keys()]).toEqual(["2026-03-01", ""]);
  });

  it("counts only entries since a time, also of a session that changed later", async () => {
    const root = temporaryDirectory();
    const later = { timestamp: new Date(sampleTimeMs + 1000).toISOString() };
    const last = storedEntry("message", "c", "b", {
      message: { ...assistantMessage(""), usage: usageOf(0, 0), timestamp: sampleTimeMs + 2000 },
    });
    const entries = [answer("a", null, 10, 1), { ...answer("b", "a", 4, 2), ...later }, last];
    write(join(root, "a.jsonl"), sampleHeader(), ...entries);
    const { total } = await usageStatistics([root], { sinceMs: sampleTimeMs + 1 });
    expect(shown(total)).toEqual([0, 1, 0, 4, 2]);
  });

  it("counts a single session with its subagents on request", async () => {
    const root = temporaryDirectory();
    const only = write(join(root, "a.jsonl"), sampleHeader(), answer("a", null, 10));
    write(join(root, "a", "sub.jsonl"), sampleHeader({ id: "sub" }), answer("s", null, 6));
    write(join(root, "b.jsonl"), sampleHeader({ id: "t" }), answer("b", null, 100));
    const { total, sessions } = await usageStatistics([root], { only });
    expect([sessions, total.totalTokens]).toEqual([1, 16]);
  });
});

describe("subagents", () => {
  it("of omp count for the project of their session, once, without turns", async () => {
    const root = temporaryDirectory();
    const details = { usage: usageOf(3, 3) };
    const result = { role: "toolResult", toolName: "task", toolCallId: "c", content: [], details };
    const task = storedEntry("message", "a2", "a1", { message: result });
    write(
      join(root, "a.jsonl"),
      sampleHeader(),
      userEntry("a1", null, "Go."),
      task,
      answer("a3", "a2", 10),
    );
    const sub = [userEntry("s1", null, "Look."), answer("s2", "s1", 6)];
    write(join(root, "a", "0-Look.jsonl"), sampleHeader({ id: "sub", cwd: "/tmp/tree" }), ...sub);
    const found = await usageStatistics([root]);
    expect(found.sessions).toBe(1);
    expect(byName(found, "project")).toEqual({ "/w": [1, 2, 2, 16, 0] });
  });

  it("of Claude Code count for the project of their session, in its directory or next to it", async () => {
    const root = temporaryDirectory();
    write(join(root, `${claudeId}.jsonl`), ...conversation);
    const sub = (agentId: string): object[] => [
      claude("user", `${agentId}1`, null, { ...side, agentId }, { content: "Look." }),
      claude("assistant", `${agentId}2`, `${agentId}1`, { ...side, agentId }, said(agentId, 7)),
    ];
    write(join(root, "agent-a.jsonl"), ...sub("a"));
    write(join(root, claudeId, "subagents", "agent-b.jsonl"), ...sub("b"));
    const found = await usageStatistics([root]);
    expect(found.sessions).toBe(1);
    expect(byName(found, "project")).toEqual({ "/shop": [1, 3, 3, 7 + 7 + 30, 0] });
  });
});

/** Rollouts of Codex in a directory, and their records. */
function codexIn(root: string) {
  const id = (n: number): string => `0199bbbb-0000-7000-8000-00000000000${n}`;
  const at = (second: number): string => new Date(sampleTimeMs + second * 1000).toISOString();
  const head = (n: number, second: number, fields: object): object => ({
    timestamp: at(second),
    type: "session_meta",
    payload: { id: id(n), timestamp: at(second), cwd: "/w", ...fields },
  });
  const spent = (tokens: number, total: number, second: number, asked = second): object[] => {
    const last_token_usage = { input_tokens: tokens, output_tokens: 0, total_tokens: tokens };
    const info = { last_token_usage, total_token_usage: { total_tokens: total } };
    const content = [{ type: "input_text", text: `Ask ${asked}.` }];
    const message = { type: "message", role: "user", content };
    return [
      { timestamp: at(second), type: "response_item", payload: message },
      { timestamp: at(second), type: "event_msg", payload: { type: "token_count", info } },
    ];
  };
  const rollout = (n: number): string =>
    join(root, `rollout-2026-09-01T12-00-0${n}-${id(n)}.jsonl`);
  return { id, head, spent, rollout };
}

const claudeId = "c1a0de00-0000-4000-8000-000000000001";
const side = { isSidechain: true, cwd: "/tmp/tree" };

function said(id: string, tokens: number, text = "Done."): object {
  const usage = { input_tokens: tokens, output_tokens: 0 };
  return { id: `msg_${id}`, model: "claude-x", content: [{ type: "text", text }], usage };
}

function claude(
  type: string,
  uuid: string,
  parentUuid: string | null,
  fields: object,
  message: object,
): object {
  const shared = { sessionId: claudeId, cwd: "/shop", timestamp: "2026-01-01T10:00:00.000Z" };
  return { type, uuid, parentUuid, ...shared, ...fields, message: { role: type, ...message } };
}

/** One answer in three records, whose usage grows. */
const conversation = [
  claude("user", "u1", null, {}, { content: "Why?" }),
  claude("assistant", "u2", "u1", {}, said("1", 10, "First.")),
  claude("assistant", "u3", "u2", {}, said("1", 10, "Second.")),
  claude("assistant", "u4", "u3", {}, said("1", 30, "Third.")),
];

describe("copies", () => {
  it("in a fork count for their original project", async () => {
    const root = temporaryDirectory();
    const answers = [answer("a", null, 10, 1), answer("b", "a", 20, 1)];
    const path = write(join(root, "a.jsonl"), sampleHeader(), ...answers);
    const target = join(root, "fork.jsonl");
    await forkSession(path, { target, cwd: "/fork" });
    writeFileSync(target, `${readFileSync(target, "utf8")}${jsonLines(answer("c", "b", 6, 1))}`);
    const found = await usageStatistics([root]);
    expect(byName(found, "project")).toEqual({ "/w": [0, 2, 0, 30, 2], "/fork": [0, 1, 0, 6, 1] });
  });

  it.each(["claude/conversation.jsonl", "codex/conversation.jsonl"])(
    "in a fork of %s for pi, and in a fork of that, are not counted again",
    async (name) => {
      const root = temporaryDirectory();
      const places = [1, 2, 3].map((n) => join(root, `${claudeId.replace(/1$/, String(n))}.jsonl`));
      const [path = "", target = "", again = ""] = places;
      copyFileSync(join(fixtures, name), path);
      const alone = await usageStatistics([root]);
      await forkSession(path, { target, cwd: "/fork" });
      await forkSession(target, { target: again, cwd: "/again" });
      const found = await usageStatistics([root]);
      expect([found.sessions, shown(found.total)]).toEqual([3, shown(alone.total)]);
      expect(alone.total.requests).toBeGreaterThan(0);
    },
  );

  it.each([
    ["the same uuids", (uuid: string) => uuid],
    ["other uuids", (uuid: string) => `copy-${uuid}`],
  ])("in a resumed session of Claude Code are not counted again with %s", async (_what, named) => {
    const root = temporaryDirectory();
    write(join(root, `${claudeId}.jsonl`), ...conversation);
    const sessionId = claudeId.replace(/1$/, "2");
    const text = jsonLines(...conversation).replaceAll(claudeId, sessionId);
    const renamed = text.replaceAll(/"(u\d)"/g, (_all, uuid: string) => `"${named(uuid)}"`);
    const own = claude("assistant", "own", named("u4"), { sessionId }, said("2", 5));
    writeFileSync(join(root, `${sessionId}.jsonl`), `${renamed}${jsonLines(own)}`);
    const { total, sessions } = await usageStatistics([root]);
    expect([sessions, total.requests, total.totalTokens]).toEqual([2, 2, 35]);
  });

  it.each([
    ["says what it was forked from", { forked_from_id: "0199bbbb-0000-7000-8000-000000000001" }],
    ["does not say so", {}],
  ])("in a rollout of Codex are not counted again when it %s", async (_what, meta) => {
    const root = temporaryDirectory();
    const { rollout, head, spent } = codexIn(root);
    const history = [...spent(100, 100, 1), ...spent(50, 150, 2)];
    write(rollout(1), head(1, 0, {}), ...history);
    write(rollout(2), head(2, 10, meta), head(1, 0, {}), ...history, ...spent(7, 157, 11));
    const { total, sessions } = await usageStatistics([root]);
    expect([sessions, ...shown(total)]).toEqual([2, 3, 3, 3, 157, 0]);
  });

  it("in rollouts of Codex are not counted again when forks repeat them at their own time", async () => {
    const root = temporaryDirectory();
    const { rollout, head, spent, id } = codexIn(root);
    write(rollout(1), head(1, 0, {}), ...spent(100, 100, 1), ...spent(50, 150, 5));
    for (const n of [2, 3]) {
      const meta = { forked_from_id: id(1), thread_source: "subagent" };
      const repeated = [...spent(100, 100, 10, 1), ...spent(50, 150, 10, 5)];
      write(rollout(n), head(n, 10, meta), ...repeated, ...spent(7, 157, 12, n));
    }
    const { total, sessions } = await usageStatistics([root]);
    // Both forks asked for as many tokens, in different requests.
    expect([sessions, ...shown(total)]).toEqual([1, 2, 4, 4, 164, 0]);
    rmSync(rollout(1));
    const { total: ofForks } = await usageStatistics([root]);
    expect(ofForks.totalTokens).toBe(164);
  });

  it("in a fork of Codex that continues a file count, whatever was asked there", async () => {
    const root = temporaryDirectory();
    const { rollout, head, spent, id } = codexIn(root);
    write(rollout(1), head(1, 0, {}), ...spent(100, 100, 1));
    const base = { thread_id: id(9), end_ordinal_exclusive: 9 };
    write(
      rollout(2),
      head(2, 10, { forked_from_id: id(1), history_base: base }),
      ...spent(7, 7, 10, 1),
    );
    const { total } = await usageStatistics([root]);
    expect([total.turns, total.requests, total.totalTokens]).toEqual([2, 2, 107]);
  });

  it("with one id of a gateway count in each session, and copies of them once", async () => {
    const root = temporaryDirectory();
    const session = (n: number, second: number): readonly object[] => {
      const sessionId = claudeId.replace(/1$/, String(n));
      const timestamp = new Date(sampleTimeMs + second * 1000).toISOString();
      const of = { sessionId, timestamp };
      return [
        claude("user", `a${n}`, null, of, { role: "user", content: `Ask ${n}.` }),
        claude("assistant", `b${n}`, `a${n}`, of, said("same", 10)),
      ];
    };
    for (const n of [1, 2]) {
      write(join(root, `${claudeId.replace(/1$/, String(n))}.jsonl`), ...session(n, 100 * n));
    }
    const copy = jsonLines(...session(1, 100)).replaceAll(claudeId, claudeId.replace(/1$/, "3"));
    writeFileSync(join(root, `${claudeId.replace(/1$/, "3")}.jsonl`), copy);
    const { total, sessions } = await usageStatistics([root]);
    expect([sessions, ...shown(total)]).toEqual([3, 2, 2, 2, 20, 0]);
  });

  it("law: with any forks of a session, the total is that of all distinct entries", async () => {
    const forks = fc.array(fc.record({ of: fc.nat(), at: fc.nat(), own: fc.nat({ max: 3 }) }), {
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 4 }), forks, async (length, made) => {
        const root = temporaryDirectory();
        const logs = [Array.from({ length }, (_, n) => answer(`e${n}`, null, 2, n % 2))];
        for (const [n, { of, at, own }] of made.entries()) {
          const source = logs[of % logs.length] ?? [];
          const added = Array.from({ length: own }, (_, i) => answer(`f${n}.${i}`, null, 2, i % 2));
          logs.push([...source.slice(0, at % (source.length + 1)), ...added]);
        }
        for (const [n, entries] of logs.entries()) {
          write(join(root, `${n}.jsonl`), sampleHeader({ id: `s${n}`, cwd: `/${n}` }), ...entries);
        }
        const different = new Set(logs.flat().map((entry) => JSON.stringify(entry)));
        const found = await usageStatistics([root], { catalog: "off" });
        expect(found.total.requests).toBe(different.size);
        for (const by of ["project", "day", "model", "agent"] as const) {
          const sums = [...found.groups[by].values()];
          const add = (key: keyof SpentSums): number =>
            sums.reduce((sum, one) => sum + one[key], 0);
          expect([add("requests"), add("unpriced"), add("totalTokens"), add("cost")]).toEqual(
            shown(found.total).slice(1),
          );
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe("an unreadable part", () => {
  it("in a damaged session is omitted, and the rest counted", async () => {
    const root = temporaryDirectory();
    const path = write(join(root, "a.jsonl"), sampleHeader(), answer("a", null, 10, 1));
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, `${whole}{"type":"mess\n${jsonLines(answer("b", "a", 4, 1))}{"type":"me`);
    expect(shown((await usageStatistics([root])).total)).toEqual([0, 2, 0, 14, 2]);
  });

  it("law: is never an error, for any field values", async () => {
    const fields = fc.record({
      type: fc.constantFrom("message", "usage", "compaction", "model_usage"),
      id: fc.jsonValue(),
      parentId: fc.jsonValue(),
      timestamp: fc.jsonValue(),
      usage: fc.jsonValue(),
      message: fc.oneof(
        fc.jsonValue(),
        fc.record({
          role: fc.constantFrom("user", "assistant", "toolResult"),
          usage: fc.jsonValue(),
        }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fields, { maxLength: 8 }), async (entries) => {
        const root = temporaryDirectory();
        write(join(root, "a.jsonl"), sampleHeader(), ...entries, answer("last", null, 4));
        const { unread, total } = await usageStatistics([root], { catalog: "off" });
        expect([unread, total.totalTokens >= 4]).toEqual([[], true]);
      }),
      { numRuns: 50 },
    );
  });

  it("is an error when it is the only requested document", async () => {
    const root = temporaryDirectory();
    const only = join(root, "agent.yaml");
    writeFileSync(only, "name: oo\nturns:\n- turn: '1\n");
    const damaged = { code: "ERR_DOCUMENT_DAMAGED", path: only };
    await expect(usageStatistics([root], { only })).rejects.toMatchObject(damaged);
    const { unread, sessions } = await usageStatistics([root]);
    expect([unread, sessions]).toEqual([[], 0]);
  });

  it("is reported when a session is removed between listing and reading, and the others are counted", async () => {
    const root = temporaryDirectory();
    const gone = write(join(root, "a.jsonl"), sampleHeader(), answer("a", null, 10));
    write(join(root, "b.jsonl"), sampleHeader({ id: "t" }), answer("b", null, 4));
    let calls = 0;
    const onProgress = (): void => {
      calls += 1;
      if (calls === 3) rmSync(gone);
    };
    const { total, unread } = await usageStatistics([root], { onProgress, catalog: "off" });
    expect(total.totalTokens).toBe(4);
    expect(unread).toMatchObject([{ code: "ERR_LOG_MISSING", path: gone }]);
    expect(calls).toBe(4);
  });

  it("as a directory, or as the only session, is an error that names it", async () => {
    const root = temporaryDirectory();
    const missing = join(root, "missing");
    const of = { code: "ERR_LOG_MISSING", path: missing };
    await expect(usageStatistics([missing])).rejects.toMatchObject(of);
    await expect(usageStatistics([root], { only: missing })).rejects.toMatchObject(of);
    copyFileSync(join(fixtures, "README.md"), missing);
    const foreign = usageStatistics([root], { only: missing });
    await expect(foreign).rejects.toMatchObject({ code: "ERR_NOT_A_SESSION", path: missing });
  });

  it("ends with the reason of the signal", async () => {
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    await expect(usageStatistics([fixtures], { signal, catalog: "read" })).rejects.toBe(reason);
  });
});
