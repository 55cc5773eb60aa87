/** `branchlog/library`. All sessions: lists, search, the archive. */
import "@branchlog/agents";
export * from "@branchlog/library";
