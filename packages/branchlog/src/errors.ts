/** `branchlog/errors`. The error class and its codes, without the engine. */
export * from "@branchlog/core/errors";
