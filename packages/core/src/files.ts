/**
 * `@branchlog/core/files`: files, locks, stores and saved pages, for the packages of this
 * workspace. It is not an API: names come and go with any version.
 */
export {
  requireBoolean,
  requireOneOf,
  requireOptions,
  requireText,
  requireAtLeast,
  requireList,
  invalidArgument,
  shown,
} from "./argument-checks.ts";
export {
  bodyBytesMax,
  diagnosticsMax,
  lockStaleMs,
  commitConflictsMax,
  yieldEveryMs,
} from "./limits.ts";
export {
  AtomicFile,
  isLinkUnsupported,
  linkOrCopy,
  makeDurableDirectory,
  createLog,
  createStreamedLog,
  inBatches,
  requireFree,
  creating,
  logExists,
  inLargeChunksAsync,
  inLargeChunks,
  directoryFailed,
} from "./platform/atomic-file.ts";
export { errorCodeOf, isSameFile, isUnchanged, reasonOf, quietly } from "./platform/ports.ts";
export { descriptorPoolOf } from "./platform/descriptor-pool.ts";
export { LogFile } from "./platform/log-file.ts";
export { removeAbandonedTickets } from "./platform/lock-queue.ts";
export { isLiveProcess, ownProcessName, processState } from "./platform/process-name.ts";
export { nodeFileSystem } from "./platform/node-file-system.ts";
export {
  hashedName,
  keptPaths,
  nameBytesMax,
  sidecarPath,
  isOwnDirectory,
} from "./platform/sidecar.ts";
export { checkpointPath } from "./checkpoint/checkpoint-file.ts";
export {
  cachedCatalog,
  cachedCheckpoints,
  cachedSearchIndexes,
  makeCacheDirectory,
  removeOldFiles,
} from "./platform/cache-directory.ts";
export { checkpointKind } from "./checkpoint/page-file.ts";
export { engineSettings, engineOptionNames } from "./log/engine-options.ts";
export type { EngineSettings } from "./log/engine-options.ts";
export { acquireLock } from "./platform/lock.ts";
export { matchesFingerprint, FingerprintingReader, fingerprintOf } from "./log/fingerprint.ts";
export type { LogFingerprint } from "./log/fingerprint.ts";
export { decodedName, encodedName, shortName } from "./store/encoded-name.ts";
export { requireStoredName, storedLogError } from "./store/stored-names.ts";
export { registerBlockingStores, storePlace } from "./store/blocking-stores.ts";
export type { BlockingStore, StorePlace } from "./store/blocking-stores.ts";
export { isInStore } from "./store/log-store.ts";
export { waitBlocking } from "./platform/blocking-wait.ts";
export { resolvePath, expandPath } from "./platform/user-paths.ts";
export { dialectFinder, foreignPlaceCheck, requireOwnPlace } from "./platform/foreign-places.ts";
export { createPrivatePorts } from "./platform/private-ports.ts";
export { lockfileLock } from "./platform/lockfile-lock.ts";
export { poll } from "./platform/polled-hints.ts";
export { loadBytes, saveBytes } from "./checkpoint/saved-bytes.ts";
export type { BytesKind } from "./checkpoint/saved-bytes.ts";
