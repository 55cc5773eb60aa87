/**
 * Opens a session: from an existing log, a new one, either of both, or in memory.
 */
import type { OptionNames } from "@branchlog/streaming";
import type { SessionHeader } from "./entries/entry-types.ts";
import { BranchlogError, isBranchlogError } from "./errors.ts";
import { Session } from "./session/session.ts";
import { encodeHeader } from "./entries/encode-entry.ts";
import { Engine } from "./session/engine.ts";
import { engineOptionNames, engineSettings } from "./log/engine-options.ts";
import type { EngineOptions } from "./log/engine-options.ts";
import { newHeader } from "./session/new-header.ts";
import { requireOptions, requireNonEmpty } from "./argument-checks.ts";
import { isInStore } from "./store/log-store.ts";
import type { LogStore, StoredLog, StoredSession } from "./store/log-store.ts";
import { createPrivatePorts } from "./platform/private-ports.ts";

/** How a session is opened. */
export interface OpenOptions extends EngineOptions {
  /**
   * Whether the leaf moves with the tail of the log, until the first append or move. Default true;
   * else it stays where the tail is at the opening.
   */
  readonly follow?: boolean;
  /** Ends the opening with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Facts of a new session. */
export interface CreateOptions extends EngineOptions {
  /** The session's id. Default: a new UUIDv7. */
  readonly id?: string;
  /** The working directory of the session. Default: that of the process. */
  readonly cwd?: string;
  /** Path of the log that this session continues. */
  readonly parentSession?: string;
  /** The name of a new session of omp; name one of pi by {@link Session.setName}. */
  readonly title?: string;
}

/** How a session is opened, and its facts if it is created. */
export interface OpenOrCreateOptions extends OpenOptions, CreateOptions {}

/** What only files have. */
type FileOptions = "checkpoint" | "checkpointDir" | "checkpointEveryBytes" | "durability";

/** Which session of which store is opened, and how. */
export interface OpenStoredOptions extends StoredSession, Omit<OpenOptions, FileOptions> {}

/** Where a new session is kept, and its facts. */
export interface CreateStoredOptions extends Omit<CreateOptions, FileOptions> {
  /** See {@link StoredSession}. */
  readonly store: LogStore;
}

/** How a session in a store is opened, and its facts if it is created. */
export interface OpenOrCreateStoredOptions
  extends OpenStoredOptions, Omit<CreateStoredOptions, "id"> {}

const opening: OptionNames<Pick<OpenOptions, "follow" | "signal">> = { follow: true, signal: true };
const facts: OptionNames<Omit<CreateOptions, keyof EngineOptions>> = {
  id: true,
  cwd: true,
  parentSession: true,
  title: true,
};

const {
  checkpoint: _checkpoint,
  checkpointDir: _checkpointDir,
  checkpointEveryBytes: _checkpointEveryBytes,
  durability: _durability,
  ...storedEngineNames
} = engineOptionNames;

const openNames: OptionNames<OpenOptions> = { ...engineOptionNames, ...opening };
const createNames: OptionNames<CreateOptions> = { ...engineOptionNames, ...facts };
const openOrCreateNames: OptionNames<OpenOrCreateOptions> = { ...openNames, ...createNames };
const openStoredNames: OptionNames<OpenStoredOptions> = {
  ...storedEngineNames,
  ...opening,
  store: true,
  id: true,
};
const createStoredNames: OptionNames<CreateStoredOptions> = {
  ...storedEngineNames,
  ...facts,
  store: true,
};

/**
 * Opens a log of any version without changing it, in a file or in a store. Its leaf follows the
 * tail until the first append or move. The bytes of a log in a store are kept in memory,
 * above 8 MiB in a temporary file without a name.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_EMPTY`, `ERR_NOT_A_SESSION`,
 * `ERR_HEADER_DAMAGED`, `ERR_LOG_UNREADABLE`; of a store `ERR_STORE_DENIED`, `ERR_STORE_SCHEMA`,
 * `ERR_STORE_UNAVAILABLE`. A log of a newer version opens, but refuses appends.
 * @example
 * const session = await openSession("session.jsonl", { access: "read" });
 * const { messages } = await session.context();
 */
export function openSession(path: string, options?: OpenOptions): Promise<Session>;
export function openSession(options: OpenStoredOptions): Promise<Session>;
export async function openSession(
  place: string | OpenStoredOptions,
  options: OpenOptions = {},
): Promise<Session> {
  if (isInStore(place)) {
    const { store, id, signal } = requireOptions(place, openStoredNames);
    return openStoredSession(await store.open(id, signal), place);
  }
  const { signal } = requireOptions(options, openNames);
  return new Session(await Engine.open(place, options, signal), options);
}

/**
 * Creates a log with its header, at once and durably, in a file or in a store. The file has mode
 * 0600; missing directories are made, with mode 0700. If it fails, there is no part of a log.
 * @throws BranchlogError `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`, `ERR_INVALID_SESSION_ID`,
 * `ERR_UNSERIALIZABLE`; of a store `ERR_INVALID_ARGUMENT` for an id that cannot be a name there,
 * `ERR_STORE_DENIED`, `ERR_STORE_SCHEMA`, `ERR_STORE_UNAVAILABLE`.
 * @example
 * const session = await createSession("session.jsonl", { cwd: process.cwd() });
 * await session.append({ type: "message", message: { role: "user", content: "Hi", timestamp: 0 }
 * });
 */
export function createSession(path: string, options?: CreateOptions): Promise<Session>;
export function createSession(options: CreateStoredOptions): Promise<Session>;
export async function createSession(
  place: string | CreateStoredOptions,
  options: CreateOptions = {},
): Promise<Session> {
  if (isInStore(place)) {
    const { store, ...creation } = requireOptions(place, createStoredNames);
    const header = headerFor(creation);
    return openStoredSession(await store.create(header.id, [encodeHeader(header)]), creation);
  }
  return new Session(Engine.createSync(place, headerFor(options), options));
}

/**
 * Opens the log of this path, or with this name in a store, or creates it if there is none, for a
 * program that is started again.
 * Of several processes that do so at once, one creates the log and the others open it. An existing
 * log is not changed: `cwd` and the other facts are those of its header. With `access: "read"`
 * none is created.
 * @throws BranchlogError As `openSession` and `createSession`.
 * @example
 * const session = await openOrCreateSession("sessions/agent.jsonl", { cwd: process.cwd() });
 */
export function openOrCreateSession(path: string, options?: OpenOrCreateOptions): Promise<Session>;
export function openOrCreateSession(options: OpenOrCreateStoredOptions): Promise<Session>;
export async function openOrCreateSession(
  path: string | OpenOrCreateStoredOptions,
  options: OpenOrCreateOptions = {},
): Promise<Session> {
  if (isInStore<OpenOrCreateStoredOptions>(path)) return openOrCreateStored(path);
  const { signal, follow: _follow, ...creation } = requireOptions(options, openOrCreateNames);
  return openedOrCreated(options, {
    open: async () => new Session(await Engine.open(path, options, signal), options),
    create: async () => new Session(Engine.createSync(path, headerFor(creation), options), options),
  });
}

interface OpeningWays {
  readonly open: () => Promise<Session>;
  readonly create: () => Promise<Session>;
}

async function openedOrCreated(
  { access, signal }: Pick<OpenOptions, "access" | "signal">,
  { open, create }: OpeningWays,
): Promise<Session> {
  try {
    return await open();
  } catch (error) {
    const isCreated = isBranchlogError(error, "ERR_LOG_MISSING") && access !== "read";
    if (!isCreated) throw error;
  }
  signal?.throwIfAborted();
  try {
    return await create();
  } catch (error) {
    // Another process was faster.
    if (!isBranchlogError(error, "ERR_LOG_EXISTS")) throw error;
    return open();
  }
}

async function openOrCreateStored(options: OpenOrCreateStoredOptions): Promise<Session> {
  const { store, id, signal, follow, ...creation } = requireOptions(options, {
    ...openStoredNames,
    ...createStoredNames,
  });
  return openedOrCreated(options, {
    open: async () => openStoredSession(await store.open(id, signal), options),
    create: async () => {
      const header = headerFor({ ...creation, id });
      const stored = await store.create(id, [encodeHeader(header)]);
      return openStoredSession(stored, {
        ...creation,
        ...(follow === undefined ? {} : { follow }),
      });
    },
  });
}

/**
 * Opens a log of a store. Its bytes are kept here; appends are acknowledged once the store has
 * them. Rejects as `openSession`, and as the store does.
 */
export async function openStoredSession(
  stored: StoredLog,
  options: Omit<OpenOptions, FileOptions> = {},
): Promise<Session> {
  return new Session(await Engine.openStored(stored, options, options.signal), options);
}

/**
 * A session that never touches a disk and lives as long as it is referenced.
 * @throws BranchlogError `ERR_INVALID_SESSION_ID`, `ERR_UNSERIALIZABLE`; `ERR_CREATE_FAILED` if no
 * `cwd` is given and that of the process no longer exists.
 */
export async function memorySession(options: CreateOptions = {}): Promise<Session> {
  const ports = createPrivatePorts(options.ports);
  return new Session(
    Engine.createSync("/session.jsonl", headerFor(options), {
      ...options,
      ports,
      checkpoint: "off",
    }),
  );
}

function headerFor(options: CreateOptions): SessionHeader {
  const { cwd, parentSession } = requireOptions(options, createNames);
  if (cwd !== undefined) requireNonEmpty("cwd", cwd);
  if (parentSession !== undefined) requireNonEmpty("parentSession", parentSession);
  if (options.title !== undefined && options.dialect !== "omp") {
    const message = 'A title needs the dialect "omp"; call setName() to name a session of pi';
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
  }
  return newHeader(engineSettings(options).ports, cwd ?? workingDirectory(), options);
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const message =
      "The working directory of this process no longer exists, so a session cannot name it; " +
      "nothing was created. Pass cwd.";
    throw new BranchlogError("ERR_CREATE_FAILED", message, { cause });
  }
}
