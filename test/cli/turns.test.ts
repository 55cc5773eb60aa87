/** What `branchlog turns` prints of logs and documents. */
import { copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession } from "@branchlog/core";
import type { AgentMessage } from "@branchlog/core";
import { assistantMessage, usageOf, userDraft } from "@branchlog/core/testing";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines, onTerminal } from "./command-run.ts";

describe("turns", () => {
  it("turns of a document are recognised by its content, not by its name", async () => {
    const directory = temporaryDirectory();
    const disguised = join(directory, "session.jsonl");
    copyFileSync(fixture("connectonion-dumped.yaml"), disguised);
    const { code, out } = await onTerminal(["turns", disguised]);
    expect(code).toBe(0);
    expect(out).toContain("2 turns, 852 tokens, $0.0022, 1 of 1 passed\n");
    const log = join(directory, "session.yaml");
    copyFileSync(fixture("pi-linear.jsonl"), log);
    expect((await onTerminal(["turns", log])).out).toMatch(/^3 turns|^1 turn|\n\d turns?, /);
    expect(readdirSync(directory).toSorted()).toEqual(["session.jsonl", "session.yaml"]);
  });

  it("turns and info report an unknown cost when no request has one, and null as JSON", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const session = await createSession(path, { cwd: "/w" });
    await session.append(userDraft("Hi"));
    const usage = { ...usageOf(10, 5), cacheRead: 7, cacheWrite: 3 };
    const message = { ...assistantMessage("Hello"), usage } as AgentMessage;
    await session.append({ type: "message", message });
    const turns = await onTerminal(["turns", path]);
    expect(turns.out).toMatch(/^turn +time +tokens +cost {2}input → result\n.* 15 +unknown {2}Hi/);
    const cached = "7 tokens read from cache, 3 written to it";
    expect(turns.out).toContain(`1 turn, 15 tokens, ${cached}, cost unknown\n`);
    expect((await branchlog(["turns", path, "--turn", "1"])).out).toContain(`15 tokens, ${cached}`);
    const info = await onTerminal(["info", path]);
    expect(info.out).toContain("cost unknown in 1 request");
    expect(info.out).toContain(`: cost unknown, 15 tokens, ${cached}`);
    expect(turns.out + info.out).not.toContain("$0.00");
    expect(jsonLines((await branchlog(["turns", path, "--json"])).out)).toMatchObject([
      {
        turns: [{ tokens: 15, cost: null, cache_read_tokens: 7, cache_write_tokens: 3 }],
        totals: { total_tokens: 15, total_cost: null, total_cache_read_tokens: 7 },
      },
    ]);
    expect(jsonLines((await branchlog(["info", path, "--json"])).out)).toMatchObject([
      { usage: { tokens: 15, totalTokens: 25, cost: null, models: [{ tokens: 15, cost: null }] } },
    ]);
  });

  it("turns fit the terminal, without control sequences", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const session = await createSession(path, { cwd: "/w" });
    const content = `\u001B[31mred ${"long ".repeat(100)}\nsecond line`;
    const { id } = await session.append({
      type: "message",
      message: { role: "user", content, timestamp: 1 },
    });
    const fields = { passed: false, expected: `\u0007bell ${"x".repeat(300)}`, "gr\u001Bade": 3 };
    const data = { targetId: id, fields };
    await session.append({ type: "custom", customType: "branchlog.turn", data });
    await session.close();
    for (const columns of [40, 80, 140]) {
      const { out } = await onTerminal(["turns", path], { columns });
      for (const steering of ["\u001B", "\u0007"]) expect(out).not.toContain(steering);
      for (const line of out.split("\n"))
        expect(line.length).toBeLessThanOrEqual(Math.max(columns, 80));
      expect(out).toContain("1 turn, 0 tokens, cost unknown, 0 of 1 passed\n");
    }
    const { out } = await branchlog(["turns", path, "--turn", "1"]);
    for (const steering of ["\u001B", "\u0007"]) expect(out).not.toContain(steering);
    expect(out).toMatch(/^passed {8}no$/m);
    expect(out).toMatch(/ade +3$/m);
  });

  it("are one object as JSON, as are a single turn and a replay", async () => {
    const file = fixture("connectonion-ideal.yaml");
    const json = async (...words: string[]): Promise<unknown> =>
      jsonLines((await branchlog(["turns", file, "--json", ...words])).out)[0];
    expect(await json()).toMatchObject({
      turns: [{ turn: 1 }, { turn: 2 }, { turn: 3 }],
      totals: { count: 3, total_cost: 0.0812, total_tokens: 33_500, passed: 0, failed: 0 },
      diagnostics: [{ kind: "total-cost-differs" }, {}, {}],
    });
    expect(await json("--turn", "2")).toMatchObject({
      turn: { turn: 2 },
      messages: [{ role: "user" }, { role: "assistant" }, { role: "tool" }, { role: "assistant" }],
    });
    const replayed = (await json("--replay", "2")) as { messages: { role: string }[] };
    expect(replayed.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
  });

  it("turns report errors: damage with its position, a turn that does not exist", async () => {
    const path = join(temporaryDirectory(), "s.yaml");
    writeFileSync(path, "name: oo\nturns:\n  - turn: 1\n    input: 'cut");
    const { code, err } = await branchlog(["turns", path, "--json"]);
    expect(code).toBe(1);
    expect(jsonLines(err)).toMatchObject([
      { error: { code: "ERR_DOCUMENT_DAMAGED", line: 4, column: 16 } },
    ]);
    const none = await branchlog(["turns", fixture("pi-linear.jsonl"), "--turn", "99"]);
    expect(none).toMatchObject({ code: 1 });
    expect(none.err).toContain("There is no turn 99");
    expect((await branchlog(["turns", "nowhere.yaml"])).err).toContain("ERR_LOG_MISSING");
    expect((await branchlog(["turns", path, "--turn", "1", "--replay", "1"])).code).toBe(2);
  });
});
