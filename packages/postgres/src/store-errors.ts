/** Errors of PostgreSQL and its library, translated to errors with advice. Pure. */
import { BranchlogError } from "@branchlog/core";
import { withoutPasswords } from "@branchlog/core/addresses";

/** Undefined: not an error of a database, or one of another kind. */
export function sqlStateOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Codes of PostgreSQL's manual, appendix A. */
const uniqueViolation = "23505";
const readOnlyTransaction = "25006";
const diskFull = "53100";
const protocolViolation = "08P01";
const deniedStates: ReadonlySet<string> = new Set(["28000", "28P01", "42501"]);
const schemaStates: ReadonlySet<string> = new Set(["3F000", "42883", "42P01", "42703", "42804"]);
/** Statements that are prepared by a name which this connection does not have, or has already. */
const statementStates: ReadonlySet<string> = new Set(["26000", "42P05"]);

/**
 * Statements that were not executed for now: connections (08), idle transactions (25P03, 25P04),
 * serialization and deadlocks (40), limits that are not the disk's (53), locks and cancellation
 * (55P03, 57).
 */
const transientStates = /^(?:08|25P0[34]|40|53(?!100)|55P03|57)/;

/** The server, or a pooler, ends the connection; what it did before is unknown. */
const endingStates = /^(?:08|25P0[34]|57P0[125])/;

export function isTaken(error: unknown): boolean {
  return sqlStateOf(error) === uniqueViolation;
}

/** Whether the server reported that a statement was not executed. */
export function isAnswered(error: unknown): boolean {
  const cause = error instanceof BranchlogError ? error.cause : error;
  const state = sqlStateOf(cause);
  return state !== undefined && !endingStates.test(state);
}

export function isStatementLost(error: unknown): boolean {
  const cause = error instanceof BranchlogError ? error.cause : error;
  return statementStates.has(sqlStateOf(cause) ?? "");
}

/** @param shown The store, for the message. */
export function storeError(error: unknown, shown: string): BranchlogError {
  if (error instanceof BranchlogError) return error;
  const state = sqlStateOf(error);
  const reason = reasonOf(error);
  if (state !== undefined) {
    if (deniedStates.has(state)) return denied(shown, reason, error);
    if (schemaStates.has(state)) return schemaMissing(shown, reason, error);
    const isForNow = transientStates.test(state) && !isUnknownSetting(state, reason);
    if (!isForNow) return refused(shown, state, reason, error);
  }
  const message =
    `The store ${shown} failed or cannot be reached (${reason}). Check that the server runs and ` +
    "the address is right, and try again.";
  return new BranchlogError("ERR_STORE_UNAVAILABLE", message, { cause: error });
}

/** Of a commit whose outcome is unknown, or that may be on no standby. */
export function noAnswer(shown: string, cause: unknown): BranchlogError {
  const message =
    `The store ${shown} did not confirm that this is committed (${reasonOf(cause)}). Repeat it ` +
    "with the same ids, or the same name: nothing is stored twice.";
  return new BranchlogError("ERR_APPEND_UNCERTAIN", message, { cause });
}

function denied(shown: string, reason: string, cause: unknown): BranchlogError {
  const message =
    `The store ${shown} refuses this role (${reason}). Check user and password (PGPASSWORD, or ` +
    "~/.pgpass), and the rights that the owner gave with grant_access().";
  return new BranchlogError("ERR_STORE_DENIED", message, { cause });
}

function refused(shown: string, state: string, reason: string, cause: unknown): BranchlogError {
  const message =
    `The server of ${shown} rejected this (${reason}, SQLSTATE ${state}); nothing was ` +
    `stored. ${adviceFor(state, reason)}`;
  return new BranchlogError("ERR_STORE_REFUSED", message, { cause });
}

/** As PgBouncer says it. */
function isUnknownSetting(state: string, reason: string): boolean {
  return state === protocolViolation && reason.includes("startup parameter");
}

function adviceFor(state: string, reason: string): string {
  if (state === readOnlyTransaction) {
    return "It is a standby, or read-only: use the address of the primary.";
  }
  if (state === diskFull) return "Free space on the server's disk, then try again.";
  if (statementStates.has(state)) {
    return "A pooler shares its connections: append ?listen=false to the address.";
  }
  if (isUnknownSetting(state, reason)) {
    return (
      "A pooler does not forward this setting: remove it from the address, and set it for the " +
      "role (ALTER ROLE … SET …), or list it in ignore_startup_parameters of PgBouncer."
    );
  }
  return "See the log of the server, then try again.";
}

function schemaMissing(shown: string, reason: string, cause: unknown): BranchlogError {
  const message =
    `The database of ${shown} is not a store yet (${reason}). Its owner creates it with ` +
    `branchlog store init ${shown}, or store.migrate().`;
  return new BranchlogError("ERR_STORE_SCHEMA", message, { cause });
}

export function foreignSchema(shown: string, owner: string): BranchlogError {
  const message =
    `The schema of ${shown} belongs to ${owner}, and only that role can create or ` +
    "update the store: log in as it, or choose another schema with ?schema=.";
  return new BranchlogError("ERR_STORE_SCHEMA", message);
}

export function schemaOlder(shown: string, found: number, wanted: number): BranchlogError {
  const message =
    `The store ${shown} has schema version ${found}; this release requires ${wanted}. Its owner ` +
    `updates it with branchlog store init ${shown}, or store.migrate().`;
  return new BranchlogError("ERR_STORE_SCHEMA", message);
}

export function schemaNewer(shown: string, found: number, wanted: number): BranchlogError {
  const message =
    `The store ${shown} has schema version ${found}; this release supports ${wanted}. Update ` +
    "Branchlog.";
  return new BranchlogError("ERR_STORE_SCHEMA", message);
}

/** A failed connection to several addresses has its reasons inside. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const reason = error instanceof Error && error.message !== "" ? error.message : String(error);
  return withoutPasswords(reason);
}
