/** Which entries of a session a search includes, by its tree. */
import { isBranchlogError, openSession } from "@branchlog/core";
import type { TreeView } from "@branchlog/core";
import type { SearchHit, SearchOptions } from "./search-terms.ts";

/** Reports whether hits are on a branch of their session. Those of one session come together. */
export class BranchFilter {
  readonly #branch: string;
  #path: string | undefined;
  #ids: ReadonlySet<string> = new Set();

  /** @param branch An id, or `leaf`. */
  constructor(branch: string) {
    this.#branch = branch;
  }

  /** @param onUnread Called with the reason for a session that can no longer be read. */
  async has({ path, entryId }: SearchHit, onUnread: SearchOptions["onUnread"]): Promise<boolean> {
    if (path !== this.#path) {
      this.#path = path;
      this.#ids = new Set();
      try {
        this.#ids = await this.#idsIn(path);
      } catch (error) {
        if (!isBranchlogError(error)) throw error;
        onUnread?.(error);
      }
    }
    return this.#ids.has(entryId);
  }

  async #idsIn(path: string): Promise<ReadonlySet<string>> {
    const session = await openSession(path, { access: "read", checkpoint: "index" });
    try {
      const tip = this.#branch === "leaf" ? session.leaf : this.#branch;
      return idsTo(session.tree(), tip);
    } finally {
      await session.close();
    }
  }
}

/** Empty for an unknown tip. Ends on cycles of parents. */
function idsTo(tree: TreeView, tip: string | null): ReadonlySet<string> {
  const ids = new Set<string>();
  for (let id = tip; id !== null && !ids.has(id);) {
    const node = tree.node(id);
    if (node === undefined) break;
    ids.add(id);
    id = node.parentId;
  }
  return ids;
}
