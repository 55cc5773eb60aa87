/**
 * `@branchlog/postgres`: sessions in PostgreSQL, appended to, followed and branched from many
 * machines, with the same `Session` as on a file.
 */
export { postgresStore } from "./postgres-store.ts";
export type { PostgresStore, PostgresStoreOptions, PullOptions } from "./postgres-store.ts";
export type { PostgresPool } from "./connections.ts";
export type { StoredSessionFacts } from "./stored-session.ts";
export { isStoreAddress, logAddress, storeAddress } from "./store-address.ts";
export type { StoreAddress } from "./store-address.ts";
