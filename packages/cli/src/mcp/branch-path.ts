/** The entries of one branch, with the turn of each, by the index alone. Pure. */
import type { Envelope, TreeView } from "@branchlog/core";

export interface BranchEntry extends Envelope {
  /** From 1 on, as `branchlog turns` counts; 0 before the first message of the user. */
  readonly turn: number;
}

/** Root first; empty for an unknown tip. Ends on cycles of parents. */
export function branchTo(tree: TreeView, tip: string | null): readonly BranchEntry[] {
  const found = new Map<string, Envelope>();
  for (let id = tip; id !== null && !found.has(id);) {
    const node = tree.node(id);
    if (node === undefined) break;
    found.set(id, node);
    id = node.parentId;
  }
  let turn = 0;
  return [...found.values()].toReversed().map((node) => {
    if (node.type === "message" && node.role === "user") turn += 1;
    return { ...node, turn };
  });
}

/** The end of the branch that an entry is on: below it, always the last child. */
export function tipBelow(tree: TreeView, id: string): string {
  const seen = new Set<string>();
  let tip = id;
  for (let next: string | undefined = id; next !== undefined && !seen.has(next);) {
    tip = next;
    seen.add(next);
    next = tree.children(next).at(-1);
  }
  return tip;
}
