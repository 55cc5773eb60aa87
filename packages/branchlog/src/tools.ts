/**
 * `branchlog/tools`. Verification, repair, migration, comparison, statistics, import, export and
 * conversion.
 */
export * from "@branchlog/tools";
