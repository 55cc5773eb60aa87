/** `branchlog/library`. Every session there is: lists, search, the archive. */
import "@branchlog/agents";
export * from "@branchlog/library";
