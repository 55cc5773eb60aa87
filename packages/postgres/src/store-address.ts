/**
 * Addresses of stores, and of logs in them: `postgres://user@host:port/database?schema=S#NAME`, as
 * PostgreSQL's own, where the schema and the name behind `#` are ours. Pure.
 */
import { BranchlogError } from "@branchlog/core";

export interface StoreAddress {
  /** For PostgreSQL's library; may hold a password. */
  readonly connection: string;
  readonly schema: string;
  /** Without password and name, for messages; it opens the same store. */
  readonly shown: string;
  /** The name of a log, if the address has one. */
  readonly name: string | undefined;
}

/** Where a store is if nothing else is said. */
export const defaultSchema = "branchlog";

export function isStoreAddress(word: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(word);
}

/** Throws `ERR_INVALID_ARGUMENT`. Its message does not repeat a password. */
export function storeAddress(text: string): StoreAddress {
  if (!isStoreAddress(text) || !URL.canParse(text)) throw malformed(text);
  const url = new URL(text);
  const name = url.hash === "" ? undefined : decoded(url.hash.slice(1), text);
  url.hash = "";
  const schema = url.searchParams.get("schema") ?? defaultSchema;
  url.searchParams.delete("schema");
  const connection = url.href;
  return { connection, schema, shown: shownAddress(url, schema), name };
}

/** As {@link storeAddress}, with a name. */
export function logAddress(text: string): StoreAddress & { readonly name: string } {
  const address = storeAddress(text);
  const { name } = address;
  if (name !== undefined && name !== "") return { ...address, name };
  const message =
    `${address.shown} is a store, not a session. Put the name of a session behind it: ` +
    `${address.shown}#NAME. branchlog store ls shows the names.`;
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}

export function shownAddress(connection: URL, schema: string): string {
  const url = new URL(connection);
  url.password = "";
  url.hash = "";
  // Others may hold secrets, as paths of keys.
  url.search = schema === defaultSchema ? "" : `?schema=${encodeURIComponent(schema)}`;
  return url.href;
}

function decoded(name: string, text: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw malformed(text);
  }
}

function malformed(text: string): BranchlogError {
  const shown = text.replace(/^([^:]*:\/\/[^:@/]*):[^@/]*@/, "$1@");
  const message =
    `${JSON.stringify(shown.slice(0, 200))} is not the address of a store. It has the form ` +
    "postgres://user@host:port/database, with #NAME for a session in it.";
  return new BranchlogError("ERR_INVALID_ARGUMENT", message);
}
