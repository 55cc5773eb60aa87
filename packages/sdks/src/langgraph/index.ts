/** `@branchlog/sdks/langgraph`: the checkpoint saver of LangGraph. */
export { BranchlogSaver } from "./checkpoint-saver.ts";
export type { BranchlogSaverOptions } from "./checkpoint-saver.ts";
