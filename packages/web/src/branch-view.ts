/**
 * A session with its side branches collapsed: only the rows from the root to the leaf, numbered by
 * their place on that path. It answers what the whole session answers.
 */
import { BranchlogError } from "@branchlog/core";
import type { Conversation } from "@branchlog/library/catalogs";
import type { ContextView, EntryPlace, EntryView, Row, RowPage } from "./api.ts";

import { rowsMax } from "./shown-session.ts";
import type { ShownFacts, ShownSession } from "./shown-session.ts";

export class BranchView {
  readonly #shown: ShownSession;

  constructor(shown: ShownSession) {
    this.#shown = shown;
  }

  /** Of all branches, as in the whole session. */
  get conversation(): Conversation {
    return this.#shown.conversation;
  }

  facts(): ShownFacts {
    const facts = this.#shown.facts();
    const path = this.#shown.path();
    const labels = facts.labels.flatMap((label) => {
      const row = placeOn(path, label.row);
      return row === null ? [] : [{ ...label, row }];
    });
    const branchRows = facts.branchRows.flatMap((row) => placeOn(path, row) ?? []);
    const leafRow = path.length === 0 ? null : path.length - 1;
    return { ...facts, rowCount: path.length, leafRow, laneCount: 1, labels, branchRows };
  }

  async rows(from: number, count: number): Promise<RowPage> {
    const path = this.#shown.path();
    const first = Math.max(0, Math.min(from, path.length));
    const wanted = path.subarray(first, first + Math.min(count, rowsMax));
    const rows: Row[] = [];
    for (const [at, row] of wanted.entries()) {
      rows.push(shownAt(await this.#shown.row(row), first + at, path.length));
    }
    return { generation: this.#shown.generation, rowCount: path.length, from: first, rows };
  }

  /** Throws `ERR_ENTRY_NOT_FOUND`, also for an entry of another branch. */
  place(wanted: { readonly id?: string; readonly label?: string }): EntryPlace {
    const { row, id } = this.#shown.place(wanted);
    const place = placeOn(this.#shown.path(), row);
    if (place !== null) return { row: place, id };
    const message = `The entry ${id} is on another branch. Show all branches to go there.`;
    throw new BranchlogError("ERR_ENTRY_NOT_FOUND", message, { id });
  }

  async entry(place: number, isFull: boolean): Promise<EntryView> {
    const path = this.#shown.path();
    const view = await this.#shown.entry(rowAt(path, place), isFull);
    const placed = (row: number | null): number | null =>
      row === null ? null : placeOn(path, row);
    return {
      ...view,
      row: shownAt(view.row, place, path.length),
      parentRow: placed(view.parentRow),
      childRows: view.childRows.flatMap((row) => placeOn(path, row) ?? []),
      // A result may be on another branch.
      blocks: view.blocks.map((block) => ({ ...block, row: place })),
    };
  }

  async context(place: number | null): Promise<ContextView> {
    const path = this.#shown.path();
    const view = await this.#shown.context(place === null ? null : rowAt(path, place));
    return { ...view, row: place };
  }
}

/** Throws `ERR_ENTRY_NOT_FOUND`. */
function rowAt(path: Int32Array, place: number): number {
  const row = path[place];
  if (row !== undefined) return row;
  const message = `The branch has ${path.length} entries, and none at row ${place}.`;
  throw new BranchlogError("ERR_ENTRY_NOT_FOUND", message);
}

/** Rows of a path ascend. Null: it does not have the row. */
function placeOn(path: Int32Array, row: number): number | null {
  let [low, high] = [0, path.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((path[middle] ?? 0) < row) low = middle + 1;
    else high = middle;
  }
  return path[low] === row ? low : null;
}

/** In one lane; where other branches begin, they are drawn as beginning there. */
function shownAt(row: Row, place: number, count: number): Row {
  const { forks, down } = row.lanes;
  const others = forks.length + (down ? 1 : 0) - (place < count - 1 ? 1 : 0);
  const lanes = {
    lane: 0,
    up: place > 0,
    down: place < count - 1,
    forks: others > 0 ? Array.from({ length: others }, () => 0) : [],
    passing: [],
  };
  return { ...row, row: place, isOnPath: true, lanes };
}
