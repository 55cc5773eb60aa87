/**
 * What those who append in one process share of a lock: whose turn it is, and the lock that is kept
 * for a moment. Without it they would wait for each other as strangers do, and some forever: a
 * blocked thread for what only its own event loop can give back.
 */
import { LockLease } from "./lock-lease.ts";
import { lockfileLock } from "./lockfile-lock.ts";
import type { FileLock } from "./ports.ts";
import { Turns } from "./turns.ts";

/** See the file comment. */
export interface LockSharing {
  readonly turns: Turns;
  readonly lease: LockLease;
}

// Through the registry of symbols, so that two copies of this package in one process share it. The
// number changes when the methods of the classes do, or those of a held lock.
const sharedKey: unique symbol = Symbol.for("branchlog.lock-sharing.3");
const registry: Pick<typeof globalThis, "Symbol"> & { [sharedKey]?: LockSharing } = globalThis;
const sharingByLock = new WeakMap<FileLock, LockSharing>();

/** What is shared of a lock: one per process for the machine's own, one for each other. */
export function sharingOf(lock: FileLock): LockSharing {
  if (lock === lockfileLock) return (registry[sharedKey] ??= newSharing());
  const known = sharingByLock.get(lock);
  if (known !== undefined) return known;
  const sharing = newSharing();
  sharingByLock.set(lock, sharing);
  return sharing;
}

function newSharing(): LockSharing {
  return { turns: new Turns(), lease: new LockLease() };
}
