/** `branchlog`. Sessions: opened, created, listed, searched, forked. */
export * from "@branchlog/core";
