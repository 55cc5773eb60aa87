/**
 * Stores for the session managers of agents, which cannot wait: a package registers which addresses
 * it opens, so that a manager takes an address wherever it takes a path.
 */
import { BranchlogError } from "../errors.ts";
import { requireNoAddress, schemeOf } from "../platform/address.ts";
import type { StoredFacts, StoredLog, StoredPosition } from "./log-store.ts";

/** A store whose methods block until it has answered. They throw as those of `LogStore`. */
export interface BlockingStore {
  /** Of the store, without secrets; it finds this store again. */
  readonly address: string;
  /** Gives a log that blocks. */
  openSync(name: string): StoredLog;
  createSync(name: string, bytes: Iterable<Buffer>): void;
  /**
   * In one step: another log with these bytes takes the place of one that ends at `expected`, or
   * none does. False: nothing changed, since it ends elsewhere, or is gone.
   */
  replaceSync(name: string, expected: StoredPosition, bytes: Buffer | undefined): boolean;
  /** All sessions, as their headers tell. */
  listSync(): readonly StoredFacts[];
}

/** A place in a store. */
export interface StorePlace {
  readonly store: BlockingStore;
  /** Without secrets; it finds this place again. */
  readonly address: string;
  /** The name of a log; undefined: the address is that of the store. */
  readonly name: string | undefined;
}

/** Finds the place of an address. Throws `ERR_INVALID_ARGUMENT`. Does not connect. */
export type FindPlace = (address: string) => StorePlace;

/** By scheme. */
const registered = new Map<string, FindPlace>();

/** What registers a scheme, for the message. */
const packages: ReadonlyMap<string, string> = new Map([
  ["postgres", "branchlog/postgres/blocking"],
  ["postgresql", "branchlog/postgres/blocking"],
]);

/** From then on, managers take addresses with this scheme. */
export function registerBlockingStores(scheme: string, find: FindPlace): void {
  registered.set(scheme, find);
}

/** Undefined: it is a path. Throws `ERR_INVALID_ARGUMENT`. */
export function storePlace(pathOrAddress: string): StorePlace | undefined {
  const scheme = schemeOf(pathOrAddress) ?? "";
  const find = registered.get(scheme);
  if (find !== undefined) return find(pathOrAddress);
  const missing = packages.get(scheme);
  if (missing === undefined) {
    requireNoAddress(pathOrAddress);
    return undefined;
  }
  const message =
    `This program cannot open an address of ${scheme} in a session manager yet. ` +
    `Install the package, and import "${missing}" first (node --import ${missing}).`;
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}
