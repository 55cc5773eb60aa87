/** `branchlog/testing`. Ports in memory, a controlled clock, builders, contracts. */
export * from "@branchlog/core/testing";
export * from "@branchlog/agents/testing";
