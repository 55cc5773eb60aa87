/** List facts of a session in a store, from its first lines. Pure. */
import { decodeLine } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import type { StoredFacts } from "@branchlog/core/types";
import { readHeader } from "@branchlog/core/rows";

/** A session in a list. */
export interface StoredSessionFacts extends StoredFacts {
  readonly createdAt: Date;
  /** When `removeExpired` may remove it; null: never. */
  readonly expiresAt: Date | null;
}

export interface ListedRow {
  readonly name: string;
  readonly bytes: string;
  readonly created_at: Date;
  readonly changed_at: Date;
  /** The same, exact. */
  readonly changed: string;
  readonly expires_at: Date | null;
  readonly head: string | null;
}

export function storedSession(row: ListedRow, address: string): StoredSessionFacts {
  const header = headerIn(row.head ?? "");
  return {
    name: row.name,
    address,
    sessionId: header?.id,
    cwd: header?.cwd,
    sizeBytes: Number(row.bytes),
    createdAt: row.created_at,
    changedAt: row.changed_at,
    expiresAt: row.expires_at,
  };
}

/** A title slot may stand in front. */
function headerIn(head: string): SessionHeader | undefined {
  for (const line of head.split("\n", 3)) {
    const decoded = decodeLine(Buffer.from(line));
    const found = decoded.ok ? readHeader(decoded.value) : undefined;
    if (found?.kind === "header") return found.header;
  }
  return undefined;
}
