/**
 * Reads inside one entry in bounded memory, for bodies that are too large to be built whole.
 */
import { bodyStream, pick, readRangeAsync } from "@branchlog/streaming";
import type { JsonToken, JsonValue } from "@branchlog/streaming";
import { BranchlogError } from "../errors.ts";
import type { Engine } from "./engine.ts";

/** The tokens of one entry, in order. */
export type BodyPart = AsyncGenerator<JsonToken>;

/**
 * The tokens of an entry's JSON.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`.
 */
export function openBodyStream(engine: Engine, id: string, signal?: AbortSignal): BodyPart {
  return bodyStream(lineChunks(engine, id), signal === undefined ? {} : { signal });
}

/**
 * The value at a path inside an entry; undefined if there is none. Reads no further than needed.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`.
 */
export function pickFromBody(
  engine: Engine,
  id: string,
  path: readonly (string | number)[],
  signal?: AbortSignal,
): Promise<JsonValue | undefined> {
  return pick(lineChunks(engine, id), path, signal === undefined ? {} : { signal });
}

function lineChunks(engine: Engine, id: string): AsyncGenerator<Buffer> {
  const row = engine.index.rowOfId(id);
  if (row < 0) {
    const { path } = engine;
    throw new BranchlogError("ERR_ENTRY_NOT_FOUND", `Entry ${id} not found`, { path, id });
  }
  const { rows } = engine.index;
  return readRangeAsync(engine.log.file, rows.offset(row), rows.length(row));
}
