/** The list of keys: what `?` shows. */
import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { Modal } from "./modal.tsx";

const isOpen = signal(false);

export function openKeyHelp(): void {
  isOpen.value = true;
}

const keys: readonly (readonly [string, string])[] = [
  ["Ctrl K", "go to a session, label, entry or view"],
  ["/", "search, or filter the sessions"],
  ["j k", "next, previous; in a conversation: turn"],
  ["Enter", "open"],
  ["p", "sessions by project, or by time"],
  ["t", "conversation or entries of a session"],
  ["e", "open or close the calls of the turn"],
  ["o", "outline: its arrow keys move, right and left open and close branches"],
  ["m", "show or hide settings and records"],
  ["g G", "first, last entry or turn"],
  ["l", "leaf"],
  ["[ ]", "previous, next branch; in entries: branch point"],
  ["c", "context at the entry"],
  ["x", "compare the branch with the next one; in the list: tick the session"],
  ["Esc", "close, back"],
  ["T", "theme"],
];

export function KeyHelp(): VNode | null {
  if (!isOpen.value) return null;
  return (
    <Modal label="Keys" onClose={() => (isOpen.value = false)}>
      <h2>Keys</h2>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
