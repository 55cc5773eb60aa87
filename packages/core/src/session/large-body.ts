/**
 * Reads inside one entry in bounded memory, for bodies that are too large to be built whole.
 */
import { bodyStream, pick, readRangeAsync } from "@branchlog/streaming";
import type { JsonToken, JsonValue } from "@branchlog/streaming";
import { BranchlogError } from "../errors.ts";
import type { Engine } from "./engine.ts";
import { requireRow } from "./named-entry.ts";

/** The tokens of one entry, in order. */
export type BodyPart = AsyncGenerator<JsonToken>;

/**
 * The tokens of an entry's JSON.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`; while reading, `ERR_ENTRY_DAMAGED`.
 */
export async function* openBodyStream(engine: Engine, id: string, signal?: AbortSignal): BodyPart {
  try {
    yield* bodyStream(bodyChunks(engine, id), signal === undefined ? {} : { signal });
  } catch (error) {
    throw bodyError(engine, id, error);
  }
}

/**
 * The value at a path inside an entry; undefined if there is none. Reads no further than needed.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, `ERR_ENTRY_DAMAGED`, `ERR_ENTRY_TOO_LARGE` for a
 * value that is too large to be built.
 */
export async function pickFromBody(
  engine: Engine,
  id: string,
  path: readonly (string | number)[],
  signal?: AbortSignal,
): Promise<JsonValue | undefined> {
  try {
    return await pick(bodyChunks(engine, id), path, signal === undefined ? {} : { signal });
  } catch (error) {
    throw bodyError(engine, id, error);
  }
}

function bodyChunks(engine: Engine, id: string): AsyncGenerator<Buffer> {
  const row = requireRow(engine, id);
  const { rows } = engine.index;
  return readRangeAsync(engine.log.file, rows.offset(row), rows.length(row));
}

/** Errors of the parser in terms of the entry; all others as they are. */
function bodyError({ path }: Engine, id: string, cause: unknown): unknown {
  if (cause instanceof SyntaxError) {
    const message = `Entry ${id} of ${path} does not parse: ${cause.message}. Verify the log.`;
    return new BranchlogError("ERR_ENTRY_DAMAGED", message, { path, id, cause });
  }
  if (cause instanceof RangeError) {
    const message = `A value of entry ${id} of ${path} is too large to build. Use bodyStream(id).`;
    return new BranchlogError("ERR_ENTRY_TOO_LARGE", message, { path, id, cause });
  }
  return cause;
}
