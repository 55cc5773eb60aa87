/** `branchlog/library`. Every session there is: lists, search, the archive. */
export * from "@branchlog/library";
