/** `branchlog/pi`. pi's `SessionManager` on the engine. */
export * from "@branchlog/agents/pi";
