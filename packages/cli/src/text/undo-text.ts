/** How to undo an operation, as a line. Pure. */

/** With its newline; empty if there is nothing to undo. */
export function undoText(operation: string | null): string {
  return operation === null ? "" : `to undo it: branchlog undo ${operation}\n`;
}
