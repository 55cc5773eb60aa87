/** The rows of an outline: a row for each turn, and after open turns one for each branch. Pure. */

export interface OutlineRow {
  readonly turn: number;
  /** Of the turn's branches; null: the turn itself. */
  readonly branch: number | null;
}

/** How many branches are drawn below each open turn, by turns in ascending order. */
export type OpenTurns = ReadonlyMap<number, number>;

export function outlineRowCount(turnCount: number, open: OpenTurns): number {
  return rowOfTurn(turnCount, open);
}

export function rowOfTurn(turn: number, open: OpenTurns): number {
  let row = turn;
  for (const [one, branches] of open) if (one < turn) row += branches;
  return row;
}

export function outlineRow(row: number, open: OpenTurns): OutlineRow {
  let before = 0;
  for (const [turn, branches] of open) {
    const at = turn + before;
    if (row <= at) break;
    if (row <= at + branches) return { turn, branch: row - at - 1 };
    before += branches;
  }
  return { turn: row - before, branch: null };
}

export function withTurn(open: OpenTurns, turn: number, branches: number): OpenTurns {
  const changed = new Map(open);
  if (branches > 0) changed.set(turn, branches);
  else changed.delete(turn);
  return new Map([...changed].toSorted(([one], [other]) => one - other));
}
