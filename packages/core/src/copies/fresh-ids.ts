/** Ids for entries that a copy adds: neither the source has them nor the copy. */
import type { IdSource } from "../store/ports.ts";

const attemptsMax = 100;

/** Mints ids that are not taken, each once. */
export function freshIds(ids: IdSource, isTaken: (id: string) => boolean): () => string {
  const minted = new Set<string>();
  const isFree = (id: string): boolean => !isTaken(id) && !minted.has(id);
  return () => {
    let id = ids.entryId();
    for (let i = 0; i < attemptsMax && !isFree(id); i += 1) id = ids.entryId();
    if (!isFree(id)) id = ids.sessionId();
    minted.add(id);
    return id;
  };
}
