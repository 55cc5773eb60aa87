/** `branchlog/testing`. Ports in memory, a controlled clock, builders, contracts. */
export * from "@branchlog/core/testing";
