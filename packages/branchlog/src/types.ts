/** `branchlog/types`. The names of what functions and methods take and return. Types only. */
export * from "@branchlog/core/types";
