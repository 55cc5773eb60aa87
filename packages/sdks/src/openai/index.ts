/** `@branchlog/sdks/openai`: the `Session` of OpenAI Agents. */
export { openaiSession } from "./session.ts";
export type { OpenaiSession, OpenaiSessionOptions } from "./session.ts";
