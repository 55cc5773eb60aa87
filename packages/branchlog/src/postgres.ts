/** `branchlog/postgres`. Sessions in PostgreSQL. */
export * from "@branchlog/postgres";
