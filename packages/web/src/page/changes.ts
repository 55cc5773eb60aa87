/** The changes that a reader can ask for, each after a question. The server decides. */
import type { Change, Row, SessionFacts } from "../api.ts";
import { requestChange } from "./client.ts";
import { sessionPlace } from "./model/route.ts";
import { go } from "./navigation.tsx";
import { attempt, notify } from "./notice.tsx";
import { ask } from "./question.tsx";
import { titleOf } from "./model/session-title.ts";

export function changeLabel({ item }: SessionFacts, row: Row): void {
  ask({
    title: "Label this entry",
    detail: "An empty label removes the current one.",
    action: "Set label",
    text: row.label ?? "",
    onAnswer: (label) => send(item.key, { kind: "label", id: row.id, label: label.trim() }),
  });
}

export function changeName({ item }: SessionFacts): void {
  ask({
    title: "Name this session",
    detail: "The name is written to the session, where its agent finds it too.",
    action: "Set name",
    text: item.name ?? "",
    onAnswer: (name) => send(item.key, { kind: "name", name: name.trim() }),
  });
}

export function forkSession({ item }: SessionFacts, row: Row): void {
  ask({
    title: "Fork here",
    detail: "Creates a session with the entries from the root to this one.",
    action: "Fork",
    text: null,
    onAnswer: () => send(item.key, { kind: "fork", id: row.id }),
  });
}

export function deleteSession({ item }: SessionFacts): void {
  ask({
    title: "Delete this session",
    detail: `“${titleOf(item)}” is moved to the trash of Branchlog.`,
    action: "Delete",
    text: null,
    onAnswer: () => send(item.key, { kind: "delete" }, () => go({ kind: "sessions" })),
  });
}

/** A fork that is in the list is opened. */
function send(key: string, change: Change, afterwards: () => void = () => undefined): void {
  attempt(async () => {
    const result = await requestChange(key, change);
    notify(result.message);
    afterwards();
    if (result.key !== null && result.key !== key) {
      go(sessionPlace(result.key));
    }
  });
}
