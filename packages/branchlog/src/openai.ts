/** `branchlog/openai`. A `Session` for OpenAI Agents. */
import "@branchlog/agents";
export * from "@branchlog/sdks/openai";
