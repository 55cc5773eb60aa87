/** `branchlog/live`. `live()` of a session or a manager, `sessions$()`. */
export * from "@branchlog/core/live";
