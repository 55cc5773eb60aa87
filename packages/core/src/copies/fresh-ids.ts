/** Ids for entries that a copy adds: neither the source has them nor the copy. */
import type { Appender } from "../append/appender.ts";

const attemptsMax = 100;

/** Mints ids as the agent of the source makes them, that are not taken, each once. */
export function freshIds(
  source: Pick<Appender, "mintEntryId" | "settings">,
  isTaken: (id: string) => boolean,
): () => string {
  const minted = new Set<string>();
  const isFree = (id: string): boolean => !isTaken(id) && !minted.has(id);
  return () => {
    let id = source.mintEntryId();
    for (let i = 0; i < attemptsMax && !isFree(id); i += 1) id = source.mintEntryId();
    if (!isFree(id)) id = source.settings.ports.ids.sessionId();
    minted.add(id);
    return id;
  };
}
