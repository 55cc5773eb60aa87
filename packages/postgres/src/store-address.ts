/**
 * Addresses of stores, and of logs in them: `postgres://user@host:port/database?schema=S#NAME`, as
 * PostgreSQL's own, where the name after `#` and some options are ours. Pure.
 */
import { BranchlogError } from "@branchlog/core";
import { readAddress, schemeOf, withoutSecrets } from "@branchlog/core/addresses";

export interface StoreAddress extends AddressOptions {
  /** For PostgreSQL's library; may hold a password. */
  readonly connection: string;
  /** Without password and name, for messages; it opens the same store. */
  readonly shown: string;
  /** The name of a log, if the address has one. */
  readonly name: string | undefined;
}

/** Options of the store after `?`; others are for PostgreSQL's library. */
export interface AddressOptions {
  readonly schema: string;
  readonly listen: boolean | undefined;
  readonly answerWaitMs: number | undefined;
  readonly lockWaitMs: number | undefined;
}

/** The default location of a store. */
export const defaultSchema = "branchlog";

/** Also if it is malformed. */
export function isStoreAddress(word: string): boolean {
  const scheme = schemeOf(word);
  return scheme === "postgres" || scheme === "postgresql";
}

/** Throws `ERR_INVALID_ARGUMENT`. Its message does not repeat the address. */
export function storeAddress(text: string): StoreAddress {
  const { url, name } = readAddress(text);
  if (!isStoreAddress(text)) {
    const message = `Sessions are kept in PostgreSQL (postgres://…), not in ${url.protocol}//….`;
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
  }
  const options = optionsIn(url);
  for (const option of ownOptions) url.searchParams.delete(option);
  return { ...options, connection: url.href, shown: shownStore(url, options.schema), name };
}

/** As {@link storeAddress}, with a name. */
export function logAddress(text: string): StoreAddress & { readonly name: string } {
  const address = storeAddress(text);
  const { name } = address;
  if (name !== undefined && name !== "") return { ...address, name };
  const message =
    `${address.shown} is a store, not a session. Append the name of a session: ` +
    `${address.shown}#NAME. branchlog store ls shows the names.`;
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}

/** The address of a store without password, name and other options than its schema. */
export function shownStore(connection: URL, schema: string): string {
  const query = schema === defaultSchema ? "" : `?schema=${encodeURIComponent(schema)}`;
  return withoutSecrets(connection, query);
}

const ownOptions = ["schema", "listen", "answer_wait", "lock_wait"] as const;

function optionsIn({ searchParams }: URL): AddressOptions {
  const listen = searchParams.get("listen");
  if (listen !== null && listen !== "true" && listen !== "false") {
    throw wrongOption("listen", "true or false");
  }
  return {
    schema: searchParams.get("schema") ?? defaultSchema,
    listen: listen === null ? undefined : listen === "true",
    answerWaitMs: milliseconds(searchParams, "answer_wait"),
    lockWaitMs: milliseconds(searchParams, "lock_wait"),
  };
}

function milliseconds(options: URLSearchParams, name: string): number | undefined {
  const text = options.get(name);
  if (text === null) return undefined;
  const [, digits = "", unit = "ms"] = /^(\d{1,9})(ms|s|min)?$/.exec(text) ?? [];
  const factor = { ms: 1, s: 1000, min: 60_000 }[unit];
  if (digits === "" || factor === undefined) {
    throw wrongOption(name, "a time such as 500ms, 20s or 1min; in ms without a unit");
  }
  return Number(digits) * factor;
}

function wrongOption(name: string, takes: string): BranchlogError {
  const message = `The option ${name} of an address takes ${takes}.`;
  return new BranchlogError("ERR_INVALID_ARGUMENT", message);
}
