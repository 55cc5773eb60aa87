/**
 * Where session managers keep sessions: in files of a directory, or as logs of a store, by its
 * address. Everything that they open or create goes through here.
 */
import { sessionPath, Engine } from "@branchlog/core/engine";
import { makeSessionDirectory, resolveSessionDir } from "./pi-directory.ts";
import type { SessionHeader } from "@branchlog/core";
import { BranchlogError } from "@branchlog/core";
import { engineSettings, createLog, storePlace, resolvePath } from "@branchlog/core/files";
import type { EngineOptions } from "@branchlog/core/types";
import type { StorePlace } from "@branchlog/core/files";

/**
 * An absolute path, or the address of a session in a store, without secrets.
 *
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`.
 */
export function resolvedSession(given: string): string {
  const place = storePlace(given);
  return place === undefined ? resolvePath(given) : logPlace(place).address;
}

/** Where the sessions next to one are kept: its store, or undefined. */
export function storeOf(session: string): string | undefined {
  return storePlace(session)?.store.address;
}

/** Creates a missing directory. Throws as {@link resolvedSession}, and `ERR_CREATE_FAILED`. */
export function madeDirectory(cwd: string, given: string | undefined, own: EngineOptions): string {
  const place = given === undefined ? undefined : storePlace(given);
  if (place !== undefined) return place.store.address;
  const directory = resolvePath(resolveSessionDir(cwd, given));
  makeSessionDirectory(engineSettings(own).ports.fs, directory);
  return directory;
}

/** In a store, the name of a session is its id. Throws `ERR_INVALID_SESSION_ID`. */
export function newSessionPath(directory: string, header: SessionHeader): string {
  const place = storePlace(directory);
  if (place === undefined) return sessionPath(directory, header);
  return `${place.store.address}#${encodeURIComponent(header.id)}`;
}

/** Throws as `openSession` of a file, and of a store. */
export function openEngine(session: string, options: EngineOptions): Engine {
  const place = storePlace(session);
  if (place === undefined) return Engine.openSync(session, options);
  const { store, name } = logPlace(place);
  return Engine.openStoredSync(store.openSync(name), options);
}

/** Whole or not at all. Throws as `createSession` of a file, and of a store. */
export function createSessionLog(
  session: string,
  chunks: Iterable<Buffer>,
  options: EngineOptions,
): void {
  const place = storePlace(session);
  if (place === undefined) {
    createLog(engineSettings(options).ports, session, chunks);
    return;
  }
  const { store, name } = logPlace(place);
  store.createSync(name, chunks);
}

function logPlace(place: StorePlace): StorePlace & { readonly name: string } {
  const { name, address } = place;
  if (name !== undefined && name !== "") return { ...place, name };
  const message = `${address} is a store, not a session. Append its name: ${address}#NAME.`;
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}
