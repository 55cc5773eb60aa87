/** A model on this machine behind the Responses interface, that answers by rule. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

interface Asked {
  readonly model: string;
  readonly stream?: boolean;
  readonly input: readonly { readonly type?: string; readonly output?: unknown }[];
}

/**
 * Starts it for the running test; returns its URL. A prompt with `city X` calls the tool `weather`;
 * other answers say how many items they were asked with.
 */
export async function responsesServer(): Promise<string> {
  let answers = 0;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      if (request.url !== "/v1/responses") return void response.writeHead(404).end();
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
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

function said(output: unknown): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}

function answer({ model, stream, input }: Asked, number: number, response: ServerResponse): void {
  const last = input.at(-1);
  const city =
    last?.output === undefined ? /city (\w+)/.exec(JSON.stringify(last))?.[1] : undefined;
  const text = last?.output === undefined ? `${input.length} items` : `It is ${said(last.output)}`;
  const item =
    city === undefined
      ? {
          type: "message",
          id: `msg_${number}`,
          role: "assistant",
          status: "completed",
          content: [
            {
              type: "output_text",
              text,
              annotations: [],
            },
          ],
        }
      : {
          type: "function_call",
          id: `fc_${number}`,
          call_id: `call_${number}`,
          name: "weather",
          arguments: JSON.stringify({ city }),
          status: "completed",
        };
  const usage = {
    input_tokens: 10,
    output_tokens: 5,
    total_tokens: 15,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const head = { id: `resp_${number}`, object: "response", created_at: 1, model, tools: [] };
  const whole = { ...head, status: "completed", output: [item], usage };
  if (stream !== true) {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
    return;
  }
  const place = { item_id: item.id, output_index: 0 };
  const events: readonly { readonly type: string; readonly [field: string]: unknown }[] = [
    { type: "response.created", response: { ...head, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
    ...(city === undefined
      ? [{ type: "response.output_text.delta", ...place, content_index: 0, delta: text }]
      : []),
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: whole },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [sequence, event] of events.entries()) {
    const data = JSON.stringify({ ...event, sequence_number: sequence });
    response.write(`event: ${event.type}\ndata: ${data}\n\n`);
  }
  response.end();
}
