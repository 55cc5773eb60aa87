/** Sessions in the two forms that hubs of datasets know. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { atifPieces, markdownPieces, shareGptPieces, traceLinePieces } from "@branchlog/tools";
import { collected } from "../../support/collected.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { rejection, typedError } from "../../support/typed-errors.ts";

const fixtures = join(import.meta.dirname, "../../../fixtures");

const sessions = [
  ...readdirSync(fixtures).filter((name) => name.endsWith(".jsonl")),
  "claude/conversation.jsonl",
  "codex/conversation.jsonl",
  "copilot/copilot-1.0.102.jsonl",
  "droid/droid-0.215.0.jsonl",
  "gemini/gemini-0.61.0.jsonl",
  "kimi/kimi-2.1.0.jsonl",
  "qwen/qwen-0.24.4.jsonl",
];

interface Line {
  readonly type: string;
  readonly harness?: string;
  readonly id?: string;
  readonly message?: {
    readonly role: string;
    readonly content: unknown;
    readonly toolCalls?: readonly { readonly id: string; readonly function: Call }[];
    readonly toolCallId?: string;
  };
}

interface Call {
  readonly name: string;
  readonly arguments: string;
}

async function linesOf(fixture: string): Promise<readonly Line[]> {
  const text = (await collected(traceLinePieces(join(fixtures, fixture)))).join("");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

describe("a session as lines of a trace", () => {
  it.each(sessions)(
    "has a header and messages with the fields of the format, from %s",
    async (fixture) => {
      const [header, ...lines] = await linesOf(fixture);
      expect(header).toMatchObject({ type: "session" });
      expect(header?.harness).toMatch(/^\w/);
      for (const { type, message } of lines) {
        expect(type).toBe("message");
        expect(["user", "assistant", "system", "tool"]).toContain(message?.role);
        expect(typeof message?.content).toBe("string");
        for (const { function: call } of message?.toolCalls ?? []) {
          expect(() => void JSON.parse(call.arguments)).not.toThrow();
        }
        const known = ["role", "content", "reasoningContent", "toolCalls", "toolCallId"];
        const names = Object.keys(message ?? {});
        expect(names.filter((name) => ![...known, "timestamp", "model"].includes(name))).toEqual(
          [],
        );
      }
    },
  );

  it("has each answered call of the path with its result", async () => {
    const lines = await linesOf("claude/conversation.jsonl");
    const messages = lines.flatMap(({ message }) => message ?? []);
    const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
    const results = messages.flatMap(({ toolCallId }) => toolCallId ?? []);
    expect(calls.length).toBeGreaterThan(0);
    expect(results).toEqual(calls);
    // By other means: what the users of the path said.
    const session = await openSession(join(fixtures, "claude/conversation.jsonl"), {
      access: "read",
      checkpoint: "off",
    });
    const path = await session.branch();
    await session.close();
    const asked = path.filter((one) => one.type === "message" && one.message.role === "user");
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(asked.length);
  });
});

describe("a session in the form of ShareGPT", () => {
  it.each(sessions)("is one line with alternating speakers, from %s", async (fixture) => {
    const text = (await collected(shareGptPieces(join(fixtures, fixture)))).join("");
    expect(text.indexOf("\n")).toBe(text.length - 1);
    const { id, conversations } = JSON.parse(text) as {
      readonly id: string;
      readonly conversations: readonly { readonly from: string; readonly value: string }[];
    };
    expect(id).not.toBe("");
    const speakers = conversations.map(({ from }) => from);
    for (const [at, speaker] of speakers.entries()) {
      expect(["system", "human", "gpt", "tool"]).toContain(speaker);
      expect(speaker).not.toBe(speakers[at - 1]);
    }
  });

  it("joins consecutive messages of a speaker", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const time = "2026-01-01T00:00:00.000Z";
    const header = { type: "session", version: 3, id: "s", timestamp: time, cwd: "/a" };
    const texts = Array.from({ length: 50 }, (_, at) => `${at} "${"x".repeat(1000)}\n`);
    const entries = texts.map((text, at) => {
      const message = { role: "user", content: text };
      const parentId = at === 0 ? null : `e${at - 1}`;
      return { type: "message", id: `e${at}`, parentId, timestamp: time, message };
    });
    writeFileSync(path, [header, ...entries].map((one) => `${JSON.stringify(one)}\n`).join(""));
    const pieces = await collected(shareGptPieces(path));
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1200);
    const { conversations } = JSON.parse(pieces.join("")) as { conversations: unknown };
    expect(conversations).toEqual([{ from: "human", value: texts.join("\n\n") }]);
  });

  it("has calls, results and thoughts as tags", async () => {
    const source = join(fixtures, "claude/conversation.jsonl");
    const text = (await collected(shareGptPieces(source, { redact: true }))).join("");
    const { conversations } = JSON.parse(text) as { conversations: readonly { value: string }[] };
    const values = conversations.map(({ value }) => value);
    expect(values.some((value) => /^<think>\n.+\n<\/think>\n/s.test(value))).toBe(true);
    const call = values.flatMap(
      (value) => /<tool_call>\n(.*)\n<\/tool_call>/.exec(value)?.[1] ?? [],
    );
    expect(JSON.parse(call[0] ?? "")).toMatchObject({ name: "Read" });
    expect(values.some((value) => value.startsWith("<tool_response>\n"))).toBe(true);
  });
});

it.each([atifPieces, markdownPieces, shareGptPieces, traceLinePieces])(
  "%o rejects with a code when an entry is nested too deeply",
  async (pieces) => {
    const path = join(temporaryDirectory(), "deep.jsonl");
    const time = "2026-01-01T00:00:00.000Z";
    const header = { type: "session", version: 3, id: "deep", timestamp: time, cwd: "/a" };
    const call = { type: "toolCall", id: "c", name: "bash", arguments: "DEEP" };
    const message = { role: "assistant", content: [call] };
    const entry = { type: "message", id: "a", parentId: null, timestamp: time, message };
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const line = JSON.stringify(entry).replace('"DEEP"', deep);
    writeFileSync(path, `${JSON.stringify(header)}\n${line}\n`);
    const error = typedError(await rejection(collected(pieces(path))));
    expect(error.code).toBe("ERR_UNSERIALIZABLE");
  },
);
