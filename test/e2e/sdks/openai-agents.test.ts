/** The real OpenAI Agents keeps its conversation in a session of ours. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as AgentsCore from "@openai/agents-core";
import { expect, it, onTestFinished } from "vitest";
import { openSession } from "branchlog";
import { openaiSession } from "branchlog/openai";
import { openaiAgents } from "../support/install.ts";
import { responsesServer } from "../support/responses-server.ts";
import { sandbox } from "../support/sandbox.ts";

/** What is used of `@openai/agents`, which exports all of its core. */
type Agents = typeof AgentsCore & {
  readonly OpenAIProvider: new (options: object) => AgentsCore.ModelProvider;
};

it.each([true, false])(
  "a conversation continues in another process, streamed: %s",
  async (stream) => {
    const url = pathToFileURL(join(openaiAgents(), "dist/index.mjs")).href;
    const { Agent, OpenAIProvider, Runner, tool } = (await import(url)) as Agents;
    const baseURL = await responsesServer();
    const modelProvider = new OpenAIProvider({ apiKey: "none", baseURL, useResponses: true });
    const runner = new Runner({ modelProvider, tracingDisabled: true, model: "local" });
    const weather = tool({
      name: "weather",
      description: "The weather in a city",
      strict: false,
      parameters: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: true,
      },
      execute: (input) => `rainy in ${String(Reflect.get(Object(input), "city"))}`,
    });
    const agent = new Agent({ name: "Forecast", instructions: "Be brief.", tools: [weather] });
    const path = join(sandbox().sessions, "forecast.jsonl");
    const ask = async (input: string): Promise<unknown> => {
      // As another process would: nothing but the log is common to them.
      const session = openaiSession(path);
      try {
        if (!stream) return (await runner.run(agent, input, { session })).finalOutput;
        const result = await runner.run(agent, input, { session, stream: true });
        await result.completed;
        return result.finalOutput;
      } finally {
        await session.close();
      }
    };

    expect(await ask("Which weather in city Bonn?")).toBe("It is rainy in Bonn");
    expect(await ask("And now?")).toBe("5 items");
    const session = openaiSession(path);
    expect(await session.popItem()).toMatchObject({ role: "assistant" });
    expect(await session.popItem()).toMatchObject({ role: "user", content: "And now?" });
    await session.close();
    expect(await ask("Once more")).toBe("5 items");

    const log = await openSession(path, { access: "read" });
    onTestFinished(() => log.close());
    const { messages } = await log.context();
    const roles = messages.map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant", "toolResult", "assistant", "user", "assistant"]);
    expect((await log.usage).total).toMatchObject({ input: 24, output: 20, cacheRead: 16 });
  },
);
