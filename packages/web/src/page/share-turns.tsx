/** Turns as a file for others: a reader chooses the first, then the last. Secrets are replaced. */
import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { fetchShared } from "./client.ts";
import { isExported } from "./exported.ts";
import { attempt, notify } from "./notice.tsx";

interface SharedStart {
  readonly key: string;
  readonly turn: number;
  readonly row: number;
}

const start = signal<SharedStart | null>(null);

interface ShareProps {
  readonly sessionKey: string;
  readonly turn: number;
  readonly firstRow: number;
  readonly lastRow: number;
}

export function ShareTurns({ sessionKey: key, turn, firstRow, lastRow }: ShareProps): VNode | null {
  if (isExported) return null;
  const chosen = start.value?.key === key ? start.value : null;
  if (chosen === null || turn < chosen.turn) {
    return (
      <button
        type="button"
        class="share-turns"
        title="Then choose the last turn. Secrets and images are omitted."
        onClick={() => (start.value = { key, turn, row: firstRow })}
      >
        Share from here
      </button>
    );
  }
  const isOne = turn === chosen.turn;
  return (
    <>
      <button
        type="button"
        class="share-turns primary"
        onClick={() => save(key, chosen.row, lastRow)}
      >
        {isOne ? "Share this turn" : `Share turns ${chosen.turn + 1} to ${turn + 1}`}
      </button>
      {isOne ? (
        <button type="button" class="share-turns" onClick={() => (start.value = null)}>
          Cancel
        </button>
      ) : null}
    </>
  );
}

function save(key: string, from: number, to: number): void {
  start.value = null;
  attempt(async () => {
    const address = URL.createObjectURL(await fetchShared(key, from, to));
    const link = document.createElement("a");
    link.href = address;
    link.download = `turns-${from}-${to}.html`;
    link.click();
    // The browser has taken the file by then.
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    notify("Saved as a file, with secrets replaced. Read it before you share it.");
  });
}
