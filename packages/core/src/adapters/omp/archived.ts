/** Which entries of a session its user has put away, and the tree without what hangs from them. */
import type { Engine } from "../../session/engine.ts";
import type { SessionTreeNode } from "../pi/tree-nodes.ts";

/** The ids of the entries that are archived; of several records for one the last counts. */
export function archivedIds({ index, bodies }: Engine): ReadonlySet<string> {
  const archived = new Set<string>();
  for (let row = 0; row < index.count; row += 1) {
    if (index.kindOf(row).type !== "archive" || !index.isNode(row)) continue;
    const entry = bodies.entrySync(row);
    const targetId: unknown = entry && Reflect.get(entry, "targetId");
    if (entry === undefined || typeof targetId !== "string") continue;
    if (Reflect.get(entry, "archived") === true) archived.add(targetId);
    else archived.delete(targetId);
  }
  return archived;
}

/** The tree without the archived entries and all below them. Changes the lists of the nodes. */
export function withoutArchived(
  roots: SessionTreeNode[],
  archived: ReadonlySet<string>,
): SessionTreeNode[] {
  if (archived.size === 0) return roots;
  const lists = [roots];
  for (let list = lists.pop(); list !== undefined; list = lists.pop()) {
    let shown = 0;
    for (const node of list) if (!archived.has(node.entry.id)) list[shown++] = node;
    list.length = shown;
    for (const { children } of list) if (children.length > 0) lists.push(children);
  }
  return roots;
}
