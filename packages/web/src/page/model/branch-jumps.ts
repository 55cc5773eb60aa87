/** The nearest branch points around a row, out of all in ascending order. */

export function nextBranch(branchRows: readonly number[], row: number): number | undefined {
  return branchRows.find((branch) => branch > row);
}

export function previousBranch(branchRows: readonly number[], row: number): number | undefined {
  return branchRows.findLast((branch) => branch < row);
}
