/**
 * `@branchlog/postgres/blocking`: lets the session managers of pi and omp, which cannot wait,
 * accept addresses of PostgreSQL wherever they accept paths. Import it in the program, or before
 * any other with `node --import @branchlog/postgres/blocking`.
 */
import { registerBlockingStores } from "@branchlog/core/files";
import { postgresPlace } from "./blocking-store.ts";

registerBlockingStores("postgres", postgresPlace);
registerBlockingStores("postgresql", postgresPlace);
