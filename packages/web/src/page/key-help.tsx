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
  ["j k", "next, previous"],
  ["Enter", "open"],
  ["p", "sessions by project, or by time"],
  ["g G", "first, last entry"],
  ["l", "leaf"],
  ["[ ]", "previous, next branch point"],
  ["b", "only this branch, or all of them"],
  ["c", "context at the entry"],
  ["x", "mark the entry, to compare another with it; in the list: tick the session"],
  ["Esc", "close, back"],
  ["t", "theme"],
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
