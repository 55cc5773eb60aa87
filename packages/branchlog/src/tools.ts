/**
 * `branchlog/tools`. Verification, repair, migration, removal with undo, comparison, statistics,
 * import, export and conversion.
 */
export * from "@branchlog/maintenance";
export * from "@branchlog/transfer";
