/**
 * A log in the slowest and plainest way, to check sessions against: rows in an array, every
 * question answered by walking over all of them. Shares no code with the engine.
 */

/** An entry as the model knows it; a damaged one has the envelope of an entry and no body. */
export interface NaiveRow {
  readonly id: string;
  readonly parentId: string | null;
  readonly type: string;
  readonly customType?: string;
  readonly isDamaged?: boolean;
  /** What a message says, what a label is, what the name is. */
  readonly text?: string;
  /** Of labels. */
  readonly targetId?: string;
}

/** See the file comment. */
export class NaiveLog {
  readonly rows: NaiveRow[] = [];
  /** The last row has no newline yet. */
  isPending = false;

  get revision(): number {
    return this.rows.length - (this.isPending ? 1 : 0);
  }

  get tail(): string | null {
    return this.rows.findLast((row) => row.isDamaged !== true)?.id ?? null;
  }

  /** The row that has an id: the last that can be read, else the last. */
  holder(id: string | null): NaiveRow | undefined {
    const rows = this.rows.filter((row) => row.id === id);
    return rows.findLast((row) => row.isDamaged !== true) ?? rows.at(-1);
  }

  get nodes(): readonly NaiveRow[] {
    return this.rows.filter((row) => row.isDamaged !== true && this.holder(row.id) === row);
  }

  path(id: string | null): readonly NaiveRow[] {
    const seen = new Set<NaiveRow>();
    for (let at = this.holder(id); at !== undefined && !seen.has(at);) {
      seen.add(at);
      at = at.parentId === null ? undefined : this.holder(at.parentId);
    }
    return [...seen].filter((row) => row.isDamaged !== true).reverse();
  }

  /** The node that a node is attached to; null for roots, undefined where a parent is missing. */
  parent(node: NaiveRow): NaiveRow | null | undefined {
    const seen = new Set<NaiveRow>([node]);
    for (let id = node.parentId; id !== null;) {
      const row = this.holder(id);
      if (row === undefined || seen.has(row)) return undefined;
      if (row.isDamaged !== true) return row;
      seen.add(row);
      id = row.parentId;
    }
    return null;
  }

  children(id: string | null): readonly string[] {
    const isBelow = (node: NaiveRow): boolean => {
      const parent = this.parent(node);
      return id === null ? parent === null : parent?.id === id;
    };
    return this.nodes.filter(isBelow).map((node) => node.id);
  }

  get tips(): readonly string[] {
    return this.nodes.filter(({ id }) => this.children(id).length === 0).map(({ id }) => id);
  }

  get labels(): ReadonlyMap<string, string> {
    const labels = new Map<string, string>();
    for (const { type, targetId = "", text = "" } of this.rows) {
      if (type === "label" && text !== "") labels.set(targetId, text);
      else if (type === "label") labels.delete(targetId);
    }
    return labels;
  }

  get name(): string | undefined {
    return this.rows.findLast(({ type }) => type === "session_info")?.text;
  }
}
