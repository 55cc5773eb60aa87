/**
 * The three ways to a session: open a log that exists, create one, or keep one in memory.
 */
import type { SessionHeader } from "./entries/entry-types.ts";
import { Engine } from "./session/engine.ts";
import { engineSettings } from "./session/engine-options.ts";
import type { EngineOptions } from "./session/engine-options.ts";
import { newHeader } from "./session/new-header.ts";
import { Session } from "./session/session.ts";
import { createMemoryPorts } from "./store/memory-ports.ts";

/** How a session is opened. */
export interface OpenOptions extends EngineOptions {
  /** Ends the opening with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What a new session says about itself. */
export interface CreateOptions extends EngineOptions {
  /** The session's id. Default: a new UUIDv7. */
  readonly id?: string;
  /** The working directory of the session. Default: that of the process. */
  readonly cwd?: string;
  /** Path of the log that this session continues. */
  readonly parentSession?: string;
}

/**
 * Opens a log of any version without changing it. Its leaf follows the tail until the first append
 * or move.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_EMPTY`, `ERR_NOT_A_SESSION`,
 * `ERR_HEADER_DAMAGED`, `ERR_LOG_UNREADABLE`. A log of a newer version opens, but refuses appends.
 * @example
 * const session = await openSession("session.jsonl", { access: "read" });
 * const { messages } = await session.context();
 */
export async function openSession(path: string, options: OpenOptions = {}): Promise<Session> {
  return new Session(await Engine.open(path, options, options.signal));
}

/**
 * Creates a log with its header, at once and durably; missing directories are made.
 * @throws BranchlogError `ERR_LOG_EXISTS`, `ERR_INVALID_SESSION_ID`.
 * @example
 * const session = await createSession("session.jsonl", { cwd: process.cwd() });
 * await session.append({ type: "message", message: { role: "user", content: "Hi", timestamp: 0 }
 * });
 */
export async function createSession(path: string, options: CreateOptions = {}): Promise<Session> {
  return new Session(Engine.createSync(path, headerFor(options), options));
}

/** A session that never touches a disk and is gone with its last reference. */
export async function memorySession(options: CreateOptions = {}): Promise<Session> {
  const ports = createMemoryPorts(options.ports);
  return new Session(
    Engine.createSync("/session.jsonl", headerFor(options), { ...options, ports }),
  );
}

function headerFor(options: CreateOptions): SessionHeader {
  return newHeader(engineSettings(options).ports, options.cwd ?? process.cwd(), options);
}
