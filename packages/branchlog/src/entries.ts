/** `branchlog/entries`. What sessions hold: types of drafts, entries and messages. */
export * from "@branchlog/core/entries";
