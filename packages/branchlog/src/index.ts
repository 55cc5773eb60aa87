/** `branchlog`. Sessions: opened, created, forked. */
import "@branchlog/agents";
export * from "@branchlog/core";
