/** The selected sessions of the list: archiving and restoring. */
import { signal } from "@preact/signals";
import type { ArchiveRequest, SessionItem } from "../api.ts";
import { requestArchive } from "./client.ts";
import { plural } from "./model/formatting.ts";
import { attempt, notify } from "./notice.tsx";
import { ask } from "./question.tsx";
import { archivedItems, loadArchived } from "./session-catalog.ts";

export const chosenKeys = signal<ReadonlySet<string>>(new Set());

export function toggleChosen(key: string): void {
  const next = new Set(chosenKeys.value);
  if (!next.delete(key)) next.add(key);
  chosenKeys.value = next;
}

export function archiveChosen(items: readonly SessionItem[]): void {
  ask({
    title: `Archive ${plural(items.length, "session")}`,
    detail: "Compressed into the archive of Branchlog; branchlog restore restores each one.",
    action: "Archive",
    text: null,
    onAnswer: () => send({ kind: "archive", keys: items.map(({ key }) => key) }),
  });
}

export function restoreChosen(items: readonly SessionItem[]): void {
  send({ kind: "restore", keys: items.map(({ key }) => key) });
}

function send(request: ArchiveRequest): void {
  attempt(async () => {
    const { message, failures } = await requestArchive(request);
    notify([message, ...failures].join(" "));
    chosenKeys.value = new Set();
    if (archivedItems.value !== undefined) await loadArchived();
  });
}
