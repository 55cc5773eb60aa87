/** `branchlog/postgres`. Sessions in PostgreSQL. */
import "@branchlog/agents";
export * from "@branchlog/postgres";
