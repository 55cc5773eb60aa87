/** Visits every node of a tree, as whoever shows one does; no recursion, however deep it is. */
import type { PeerNode } from "./session-peers.ts";

/** Entries reached from the roots. */
export function countNodes(roots: readonly PeerNode[]): number {
  const pending = [...roots];
  let count = 0;
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    count += 1;
    for (const child of node.children) pending.push(child);
  }
  return count;
}
