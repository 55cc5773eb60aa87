/** A model on this machine behind the Messages interface, streaming, that answers by rule. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

interface Asked {
  readonly model: string;
  readonly tools?: readonly object[];
  readonly messages: readonly { readonly content: unknown }[];
}

/** Starts it for the running test; returns its URL. A prompt with `please-run: X` calls Bash with X,
 * one with `please-ask: X` a subagent. */
export async function messagesServer(): Promise<string> {
  let answers = 0;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      if (!request.url?.startsWith("/v1/messages?")) return void response.writeHead(404).end();
      answers += 1;
      answer(JSON.parse(Buffer.concat(pieces).toString()) as Asked, answers, response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // Listening on a port, a server always has an address of this kind.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function answer({ model, messages, tools = [] }: Asked, number: number, response: ServerResponse) {
  const last = JSON.stringify(messages.at(-1)?.content);
  const isResult = last.includes('"tool_result"');
  const canCall = !isResult && tools.length > 0;
  const command = canCall ? /please-run: (\w+ [\w-]+)/.exec(last)?.[1] : undefined;
  const prompt = canCall ? /please-ask: (\w+)/.exec(last)?.[1] : undefined;
  const said = isResult ? `The tool said ${/from-[\w-]+/.exec(last)?.[0] ?? "nothing"}.` : "Hello.";
  const [name, given] = prompt === undefined ? ["Bash", { command }] : ["Agent", { prompt }];
  const input = JSON.stringify({ ...given, description: "Something to do" });
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: `msg_${number}`, type: "message", role: "assistant", model, usage };
  const isText = command === undefined && prompt === undefined;
  const events: readonly { readonly type: string; readonly [field: string]: unknown }[] = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    {
      type: "content_block_start",
      index: 0,
      content_block: isText
        ? { type: "text", text: "" }
        : { type: "tool_use", id: `toolu_${number}`, name, input: {} },
    },
    {
      type: "content_block_delta",
      index: 0,
      delta: isText
        ? { type: "text_delta", text: said }
        : { type: "input_json_delta", partial_json: input },
    },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: isText ? "end_turn" : "tool_use" },
      usage: { output_tokens: 5 },
    },
    { type: "message_stop" },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}
