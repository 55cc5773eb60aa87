/** A line that is a message by its beginning, and truncated after two closing brackets. */
import { storedEntry } from "@branchlog/core/testing";

export function tornEntry(id: string, parentId: string | null): string {
  const envelope = JSON.stringify(storedEntry("message", id, parentId, {}));
  return `${envelope.slice(0, -1)},"message":{"role":"assistant","content":[{"a":{"b":1}}`;
}
