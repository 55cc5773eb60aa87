/** The sign of the page, and of branches in it. */
import type { VNode } from "preact";

export function BranchSign(): VNode {
  return (
    <svg class="logo" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M4 2V14M4 9Q4 7 7 7H9Q12 7 12 3" />
    </svg>
  );
}
