/**
 * `branchlog/tools`. Verification, repair, migration, comparison, statistics, import, export and
 * conversion.
 */
import "@branchlog/agents";
export * from "@branchlog/tools";
