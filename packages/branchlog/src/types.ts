/** `branchlog/types`. The types of arguments and results. Types only. */
export * from "@branchlog/core/types";
