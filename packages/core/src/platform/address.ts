/**
 * Addresses of stores, and of sessions in them: `scheme://user@host:port/database?option=…#NAME`.
 * Nothing else reads an address that was given, and nothing else prints one: it may hold a
 * password, also where it is malformed. Pure. As `@branchlog/core/addresses` it is there for
 * programs that show an address without loading the engine.
 */
import { BranchlogError } from "../errors.ts";

/** The parts of an address. */
export interface Address {
  /** Without its fragment; may hold a password. */
  readonly url: URL;
  /** After `#`, decoded; undefined: the address is that of a store. */
  readonly name: string | undefined;
}

/** Schemes recognised as addresses even without slashes. */
const storeSchemes = "postgres(?:ql)?";

const scheme = /^([a-z][a-z0-9+.-]+):\/\//i;
const storeScheme = new RegExp(`^(${storeSchemes}):`, "i");
/** Of addresses that a path was made of, as by `path.resolve()`. */
const resolvedScheme =
  /(?:^|[\\/])(postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|https?|ssh|s3|ftp):[\\/]/i;

/** In lower case; undefined: the text is a path, a name or an id. */
export function schemeOf(text: string): string | undefined {
  const found = (scheme.exec(text) ?? storeScheme.exec(text))?.[1]?.toLowerCase();
  return found === "file" ? undefined : found;
}

/** Throws `ERR_INVALID_ARGUMENT` for a text that is not an address, without repeating it. */
export function readAddress(text: string): Address {
  // In a password, these would end it.
  const isPlain = scheme.test(text) && !/[\s\\]/.test(text) && text.split("@").length <= 2;
  const [authority = ""] = text.replace(scheme, "").split(/[/?#]/, 1);
  const isWhole =
    isPlain && authority.includes("@") === text.includes("@") && !authority.endsWith(":");
  const url = isWhole && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.pathname.split("/").length > 2) throw malformed(text);
  const { hash, username, password, pathname } = url;
  url.hash = "";
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return { url, name: hash === "" ? undefined : decodeURIComponent(hash.slice(1)) };
  } catch {
    throw malformed(text);
  }
}

/**
 * Of an address as {@link readAddress} takes it: user, host, port and path; of any other one its
 * scheme.
 */
export function shownAddress(text: string): string {
  try {
    const { url, name } = readAddress(text);
    const shown = withoutSecrets(url);
    return name === undefined ? shown : `${shown}#${encodeURIComponent(name)}`;
  } catch {
    return `${schemeOf(text) ?? ""}://…`;
  }
}

/** @param query What is to be kept after `?`: other options may hold secrets, as paths of keys. */
export function withoutSecrets(address: URL, query = ""): string {
  const url = new URL(address);
  url.password = "";
  url.hash = "";
  url.search = query;
  return url.href;
}

/** A text of others, as a message of a library, without the passwords of the addresses in it. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(/\b([a-z][a-z0-9+.-]+:\/*)([^\s@]*:\S*)@/gi, (_all, start: string) => {
    return `${start}…@`;
  });
}

/**
 * Throws `ERR_INVALID_ARGUMENT` for an address in the place of a path: as a path it would be a
 * directory with that name, and a password in it.
 */
export function requireNoAddress(path: string): void {
  const found = schemeOf(path) ?? resolvedScheme.exec(path)?.[1]?.toLowerCase();
  if (found === undefined) return;
  const message =
    `Expected a path, not an address (${found}://…). Sessions in a database are opened ` +
    "with a store, by session managers with branchlog/postgres/blocking; branchlog store pull " +
    "copies them to files.";
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}

function malformed(text: string): BranchlogError {
  const message =
    `This is not the address of a store (${schemeOf(text) ?? "without a scheme"}). It has the ` +
    "form postgres://user@host:port/database, with #NAME for a session in it. In a password, " +
    "write @ : / ? # % and spaces as %40 %3A %2F %3F %23 %25 %20, or use PGPASSWORD or " +
    "~/.pgpass.";
  return new BranchlogError("ERR_INVALID_ARGUMENT", message);
}
