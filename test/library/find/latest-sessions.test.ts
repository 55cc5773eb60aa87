/** Lists of the latest sessions, which read no file that cannot be among them. */
import { copyFileSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSessions } from "@branchlog/library";
import type { FindOptions } from "@branchlog/library";
import { databaseOf, dumpOf } from "../../agents/opencode/opencode-fixtures.ts";
import { fixturePath } from "../../agents/read-session.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { linesOf } from "../../core/copies/session-files.ts";
import { stored } from "../../core/projections/sample-entries.ts";

const firstMs = Date.UTC(2026, 0, 1);
const minuteMs = 60_000;

/** Ends `minute` minutes after the first time, as its file does. */
function writeSession(directory: string, id: string, minute: number): void {
  const timeMs = firstMs + minute * minuteMs;
  const timestamp = new Date(timeMs).toISOString();
  const header = { type: "session", version: 3, id, timestamp, cwd: "/w" };
  const message = { role: "user", content: "hello", timestamp: timeMs };
  const entry = { ...stored("message", "1", null, { message }), timestamp };
  writeAt(join(directory, `${id}.jsonl`), [header, entry], minute);
}

function writeTranscript(path: string, sessionId: string, minute: number, agentId?: string): void {
  const timestamp = new Date(firstMs + minute * minuteMs).toISOString();
  const agent = agentId === undefined ? { isSidechain: false } : { isSidechain: true, agentId };
  const of = { parentUuid: null, sessionId, cwd: "/w", timestamp, ...agent };
  const usage = { input_tokens: 1, output_tokens: 2 };
  const content = [{ type: "text", text: "Done." }];
  const message = { id: "m", role: "assistant", model: "claude-x", content, usage };
  writeAt(path, [{ ...of, type: "assistant", uuid: `u-${path.length}`, message }], minute);
}

function writeAt(path: string, records: readonly object[], minute: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, linesOf(records));
  const time = (firstMs + minute * minuteMs) / 1000;
  utimesSync(path, time, time);
}

async function listed(place: string, options: FindOptions): Promise<string[]> {
  const { sessions } = await findSessions([place], { catalog: "off", ...options });
  return sessions.map(({ header }) => header.id);
}

describe("a list of the latest sessions", () => {
  it("is the start of the full list, in any order of the files", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.nat(500), { minLength: 1, maxLength: 12 }),
        fc.nat(14),
        async (minutes, limit) => {
          const place = temporaryDirectory();
          for (const [at, minute] of minutes.entries()) writeSession(place, `s${at}`, minute);
          const all = await listed(place, {});
          expect(await listed(place, { limit })).toEqual(all.slice(0, limit));
        },
      ),
      { numRuns: 30 },
    );
  });

  it("has the sessions changed since a time", async () => {
    const place = temporaryDirectory();
    for (const minute of [1, 2, 3]) writeSession(place, `s${minute}`, minute);
    expect(await listed(place, { sinceMs: firstMs + 2 * minuteMs })).toEqual(["s3", "s2"]);
  });

  it("counts only sessions of the requested agents", async () => {
    const place = temporaryDirectory();
    writeSession(place, "pi", 1);
    for (const minute of [2, 3])
      writeTranscript(join(place, `c${minute}.jsonl`), `c${minute}`, minute);
    expect(await listed(place, { agents: ["pi"], limit: 1 })).toEqual(["pi"]);
    expect(await listed(place, { agents: ["claude"] })).toEqual(["c3", "c2"]);
    expect(await listed(place, { agents: ["connectonion"] })).toEqual([]);
  });

  it("counts the tokens of subagents whose files are older than the last session", async () => {
    const place = temporaryDirectory();
    writeTranscript(join(place, "main.jsonl"), "main", 50);
    writeTranscript(join(place, "main", "subagents", "agent-a.jsonl"), "main", 51, "a");
    writeTranscript(join(place, "main", "subagents", "agent-b.jsonl"), "main", 20, "b");
    writeTranscript(join(place, "agent-c.jsonl"), "main", 52, "c");
    writeSession(place, "other", 10);
    const options = { catalog: "off", limit: 1 } as const;
    const { sessions } = await findSessions([place], options);
    expect(sessions.map(({ usage }) => usage?.total.totalTokens)).toEqual([12]);
  });

  it("counts the tokens of subagents of Codex, whose files are among all others", async () => {
    const place = temporaryDirectory();
    const meta = (id: string, minute: number, more: object): object => ({
      timestamp: new Date(firstMs + minute * minuteMs).toISOString(),
      type: "session_meta",
      payload: { id, cwd: "/w", ...more },
    });
    const spent = (minute: number): object => ({
      timestamp: new Date(firstMs + minute * minuteMs).toISOString(),
      type: "event_msg",
      payload: { type: "token_count", info: { last_token_usage: { input_tokens: 7 } } },
    });
    const said = (minute: number): object => ({
      timestamp: new Date(firstMs + minute * minuteMs).toISOString(),
      type: "event_msg",
      payload: { type: "agent_message", message: "Done." },
    });
    const source = { subagent: { thread_spawn: { parent_thread_id: "main" } } };
    const child = [meta("child", 10, { source }), spent(11)];
    writeAt(join(place, "rollout-main.jsonl"), [meta("main", 1, {}), said(50), spent(50)], 50);
    writeAt(join(place, "2026", "rollout-child.jsonl"), child, 11);
    for (const options of [{ limit: 1 }, { sinceMs: firstMs + 40 * minuteMs }]) {
      const { sessions } = await findSessions([place], { catalog: "off", ...options });
      expect(sessions.map(({ usage }) => usage?.total.totalTokens)).toEqual([14]);
    }
  });

  it("counts the tokens of subagents that are documents, or share a file", async () => {
    const cline = temporaryDirectory();
    const id = "1795941218519_16gyt";
    mkdirSync(join(cline, id));
    for (const name of readdirSync(fixturePath(`cline/${id}`))) {
      const seconds = name.startsWith("agent_") ? 1_795_941_240 : 1_795_941_260;
      copyFileSync(fixturePath(`cline/${id}/${name}`), join(cline, id, name));
      utimesSync(join(cline, id, name), seconds, seconds);
    }
    const opencode = await databaseOf(temporaryDirectory(), dumpOf("1.18.33"));
    for (const place of [cline, opencode]) {
      const { sessions: all } = await findSessions([place], { catalog: "off", artifacts: true });
      const called = all.find(({ transcript }) => transcript?.isSubagent);
      const callerId = called?.header.parentSession;
      const tokensOf = async (options: FindOptions): Promise<number | undefined> => {
        const { sessions } = await findSessions([place], { catalog: "off", ...options });
        return sessions.find(({ header }) => header.id === callerId)?.usage?.total.totalTokens;
      };
      const own = all.find(({ header }) => header.id === callerId);
      const whole = await tokensOf({});
      expect(whole).toBeGreaterThan(own?.usage?.total.totalTokens ?? 0);
      expect(await tokensOf({ sinceMs: own?.modifiedMs })).toBe(whole);
    }
  });

  it("reads no file that is older", async () => {
    const place = temporaryDirectory();
    // More than are read at once.
    for (let minute = 1; minute <= 20; minute += 1) writeSession(place, `s${minute}`, minute);
    // Were it read, it would be the session that changed last.
    writeSession(place, "misdated", 30);
    utimesSync(join(place, "misdated.jsonl"), firstMs / 1000, firstMs / 1000);
    expect(await listed(place, { limit: 1 })).toEqual(["s20"]);
    expect(await listed(place, {})).toContain("misdated");
  });
});
