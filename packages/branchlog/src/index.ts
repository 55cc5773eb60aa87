/** `branchlog`. Sessions: opened, created, forked. */
export * from "@branchlog/core";
