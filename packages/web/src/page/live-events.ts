/** The one stream of events of the page. It is about all sessions, and about the open one. */
import { effect, signal } from "@preact/signals";
import type { ServerEvent } from "../api.ts";
import { isExported } from "./exported.ts";
import { sessionKey } from "./navigation.tsx";
import { pageKey } from "./page-key.ts";

interface EventListeners {
  readonly onEvent: (event: ServerEvent) => void;
  /** Events may have been missed before. */
  readonly onOpen: () => void;
}

/** Whether what the page shows is kept up to date. */
export const isConnected = signal(true);

const listeners = new Set<EventListeners>();

/** Follows the stream until the returned function is called. */
export function followEvents(follower: EventListeners): () => void {
  listeners.add(follower);
  return () => void listeners.delete(follower);
}

/** Connects, and again whenever another session is open. */
export function startEvents(): void {
  if (isExported) return;
  effect(() => {
    const key = sessionKey.value;
    const search = new URLSearchParams({ page: pageKey, ...(key === null ? {} : { key }) });
    const source = new EventSource(`/api/events?${search.toString()}`);
    source.addEventListener("error", () => (isConnected.value = false));
    source.addEventListener("open", () => {
      isConnected.value = true;
      for (const { onOpen } of listeners) onOpen();
    });
    source.addEventListener("message", ({ data }) => {
      // Decoding boundary: the events of our own server.
      const event = JSON.parse(String(data)) as ServerEvent;
      for (const { onEvent } of listeners) onEvent(event);
    });
    return () => source.close();
  });
}
