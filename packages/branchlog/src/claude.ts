/** `branchlog/claude`. A `SessionStore` for the Claude Agent SDK. */
import "@branchlog/agents";
export * from "@branchlog/sdks/claude";
