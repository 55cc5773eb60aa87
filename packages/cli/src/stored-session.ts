/** Sessions in a store, by the address of a database. The library for it is loaded on demand. */
import { BranchlogError } from "@branchlog/core";
import type { StoredSession } from "@branchlog/core";
import type { PostgresStore } from "@branchlog/postgres";
import { isAddress } from "./path-form.ts";

/**
 * Undefined: the word is not an address. Throws `ERR_INVALID_ARGUMENT` for one without a session.
 */
export async function addressedSession(word: string): Promise<StoredSession | undefined> {
  if (!isAddress(word)) return undefined;
  const { logAddress, postgresStore } = await import("@branchlog/postgres");
  const { name } = logAddress(word);
  return { store: postgresStore(word), id: name };
}

/** Undefined: the word is not an address. Throws `ERR_INVALID_ARGUMENT` for that of a session. */
export async function addressedStore(
  word: string,
): Promise<{ readonly store: PostgresStore } | undefined> {
  if (!isAddress(word)) return undefined;
  const { postgresStore, storeAddress } = await import("@branchlog/postgres");
  const { name, shown } = storeAddress(word);
  if (name === undefined) return { store: postgresStore(word) };
  const message = `${shown}#${name} is a session; give the address of a store, without #NAME.`;
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}

/** The store behind an address, or the session behind its `#`. */
export async function addressedPlace(
  word: string,
): Promise<{ readonly store: PostgresStore } | StoredSession> {
  const { postgresStore, storeAddress } = await import("@branchlog/postgres");
  const [{ name }, store] = [storeAddress(word), postgresStore(word)];
  return name === undefined ? { store } : { store, id: name };
}
