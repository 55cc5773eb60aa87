/** `branchlog/live`. `live()` of a session or a manager, `sessions$()`, `search$()`. */
import "@branchlog/agents";
export * from "@branchlog/core/live";
export * from "@branchlog/library/live";
