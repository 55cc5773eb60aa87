/**
 * A model on this machine that answers by rule, through the streaming chat interface that pi knows
 * from its `models.json`. What it says depends only on what it is asked.
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Sandbox } from "./sandbox.ts";

interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
}

/** What the model answers: a text, a call of the `bash` tool, that it is overloaded, or nothing. */
type Answer =
  | { readonly text: string }
  | { readonly shell: string }
  | { readonly status: number; readonly error: string }
  | "nothing";

/** Starts the model for the running test and makes it the model of a sandbox. */
export async function modelFor(place: Sandbox): Promise<void> {
  const failures = new Map<string, number>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const asked = JSON.parse(Buffer.concat(pieces).toString()) as { messages: ChatMessage[] };
      const answer = answerTo(asked.messages, failures);
      if (answer === "nothing") return;
      if ("status" in answer) {
        const error = { message: answer.error };
        response.writeHead(answer.status).end(JSON.stringify({ error }));
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const chunk of chunksOf(answer)) {
        response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      }
      response.end("data: [DONE]\n\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // Listening on a port, a server always has an address of this kind.
  const { port } = server.address() as AddressInfo;
  configure(place, `http://127.0.0.1:${port}/v1`);
}

function configure(place: Sandbox, baseUrl: string): void {
  const models = ["echo", "other"].map((id) => ({ id, reasoning: id === "other" }));
  const provider = { baseUrl, api: "openai-completions", apiKey: "none", models };
  writeFileSync(
    join(place.agent, "models.json"),
    JSON.stringify({ providers: { here: provider } }),
  );
  const settings = {
    defaultProvider: "here",
    defaultModel: "echo",
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 },
    compaction: { enabled: false, reserveTokens: 1000, keepRecentTokens: 20 },
  };
  writeFileSync(join(place.agent, "settings.json"), JSON.stringify(settings));
}

const overloaded: Answer = { status: 503, error: "overloaded" };
const overflow: Answer = { status: 400, error: "This model's maximum context length is 9 tokens." };

/** @param failures How often each prompt that asks for it has failed so far. */
function answerTo(messages: readonly ChatMessage[], failures: Map<string, number>): Answer {
  const last = messages.at(-1);
  const said = textOf(last?.content);
  if (said.startsWith("Please say nothing")) return "nothing";
  const [, how = "", times = "0"] = /^Please (fail|overflow) (\d+) times/.exec(said) ?? [];
  const failed = failures.get(said) ?? 0;
  failures.set(said, failed + 1);
  if (failed < Number(times)) return how === "fail" ? overloaded : overflow;
  if (last?.role === "tool") return { text: `The tool said: ${said.trim()}` };
  const shell = /run: (.*)$/m.exec(said)?.[1];
  if (shell !== undefined) return { shell };
  return { text: `You said ${said.length} characters in ${messages.length} messages.` };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const blocks = content as { readonly text?: string }[];
  return blocks.map(({ text = "" }) => text).join("");
}

function chunksOf(answer: { readonly text: string } | { readonly shell: string }): object[] {
  const chunk = (delta: object, finish: string | null = null): object => ({
    id: "answer",
    object: "chat.completion.chunk",
    created: 1,
    model: "echo",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...(finish === null
      ? {}
      : { usage: { prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 } }),
  });
  if ("text" in answer) {
    return [chunk({ role: "assistant", content: answer.text }), chunk({}, "stop")];
  }
  const call = {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: "bash", arguments: JSON.stringify({ command: answer.shell }) },
  };
  return [chunk({ role: "assistant", tool_calls: [call] }), chunk({}, "tool_calls")];
}
