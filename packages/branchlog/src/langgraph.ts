/** `branchlog/langgraph`. A checkpoint saver for LangGraph. */
import "@branchlog/agents";
export * from "@branchlog/sdks/langgraph";
