/** All sessions that the server knows, kept up to date by its events. */
import { computed, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { ServerEvent, SessionItem } from "../api.ts";
import { fetchArchived, fetchSessions, messageOf } from "./client.ts";
import { followEvents } from "./live-events.ts";
import { coalesce } from "./model/coalesce.ts";

interface Catalog {
  readonly items: ReadonlyMap<string, SessionItem>;
  readonly isComplete: boolean;
  readonly canWrite: boolean;
  readonly isLoaded: boolean;
  readonly failure: string | null;
}

const state = signal<Catalog>({
  items: new Map(),
  isComplete: false,
  canWrite: false,
  isLoaded: false,
  failure: null,
});

export const catalog: ReadonlySignal<Catalog> = state;

export const sessionItems: ReadonlySignal<readonly SessionItem[]> = computed(() => [
  ...state.value.items.values(),
]);

/** The time that ages are relative to. */
export const now = signal(Date.now());
const tickMs = 5000;

/** How long a change is marked. */
const freshMs = 10_000;

export function isFresh(item: SessionItem): boolean {
  return !item.isArchived && Math.abs(now.value - item.modifiedMs) < freshMs;
}

const load = coalesce(async () => {
  try {
    const { sessions, isComplete, canWrite } = await fetchSessions();
    const items = new Map(sessions.map((item) => [item.key, item]));
    state.value = { items, isComplete, canWrite, isLoaded: true, failure: null };
  } catch (error) {
    state.value = { ...state.value, failure: messageOf(error) };
  }
});

export function startCatalog(): void {
  load();
  let isFirst = true;
  followEvents({
    onEvent: applyEvent,
    onOpen: () => {
      if (!isFirst) load();
      isFirst = false;
    },
  });
  setInterval(() => (now.value = Date.now()), tickMs);
}

function applyEvent(event: ServerEvent): void {
  if (event.kind !== "sessions") return;
  const items = new Map(state.value.items);
  for (const item of event.changed) items.set(item.key, item);
  for (const key of event.removed) items.delete(key);
  now.value = Date.now();
  state.value = { ...state.value, items, isComplete: event.isComplete };
}

/** Undefined until they were asked for. */
export const archivedItems = signal<readonly SessionItem[] | undefined>(undefined);

export async function loadArchived(): Promise<void> {
  archivedItems.value = (await fetchArchived()).sessions;
}
