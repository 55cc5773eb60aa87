/** What PostgreSQL and its library report, as errors that say what to do. Pure. */
import { BranchlogError } from "@branchlog/core";

/** Undefined: not an error of a database, or one of another kind. */
export function sqlStateOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** Codes of PostgreSQL's manual, appendix A. */
const uniqueViolation = "23505";
const deniedStates: ReadonlySet<string> = new Set(["28000", "28P01", "42501"]);
const schemaStates: ReadonlySet<string> = new Set(["3F000", "42883", "42P01", "42703", "42804"]);

export function isTaken(error: unknown): boolean {
  return sqlStateOf(error) === uniqueViolation;
}

/** @param shown The store, for the message. */
export function storeError(error: unknown, shown: string): BranchlogError {
  if (error instanceof BranchlogError) return error;
  const state = sqlStateOf(error) ?? "";
  const reason = reasonOf(error);
  if (deniedStates.has(state)) return denied(shown, reason, error);
  if (schemaStates.has(state)) return schemaMissing(shown, reason, error);
  const message =
    `The store ${shown} cannot be reached, or failed (${reason}). Check that the server runs and ` +
    "the address is right, and try again.";
  return new BranchlogError("ERR_STORE_UNAVAILABLE", message, { cause: error });
}

function denied(shown: string, reason: string, cause: unknown): BranchlogError {
  const message =
    `The store ${shown} refuses this role (${reason}). Check user and password (PGPASSWORD, or ` +
    "~/.pgpass), and the rights that the owner gave with grant_access().";
  return new BranchlogError("ERR_STORE_DENIED", message, { cause });
}

function schemaMissing(shown: string, reason: string, cause: unknown): BranchlogError {
  const message =
    `The database of ${shown} is no store yet (${reason}). Its owner makes it one with ` +
    `branchlog store init ${shown}, or store.migrate().`;
  return new BranchlogError("ERR_STORE_SCHEMA", message, { cause });
}

export function schemaOlder(shown: string, found: number, wanted: number): BranchlogError {
  const message =
    `The store ${shown} has schema version ${found}; this release needs ${wanted}. Its owner ` +
    `updates it with branchlog store init ${shown}, or store.migrate().`;
  return new BranchlogError("ERR_STORE_SCHEMA", message);
}

export function schemaNewer(shown: string, found: number, wanted: number): BranchlogError {
  const message =
    `The store ${shown} has schema version ${found}; this release knows ${wanted}. Update ` +
    "Branchlog.";
  return new BranchlogError("ERR_STORE_SCHEMA", message);
}

/** A failed connection to several addresses has its reasons inside. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error && error.message !== "" ? error.message : String(error);
}
