/** The current place of the page, kept in step with the address and the history of the browser. */
import { computed, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { isExported } from "./exported.ts";
import { parseRoute, routePath, sessionPlace } from "./model/route.ts";
import type { Route } from "./model/route.ts";

const current = signal(placeOfAddress());

export const route: ReadonlySignal<Route> = current;

/** The session that the page is about; null: it is about all. */
export const sessionKey: ReadonlySignal<string | null> = computed(() =>
  "key" in current.value ? current.value.key : null,
);

/** Browsers refuse addresses that change with every repeated key. */
const quietMs = 150;
let pending: ReturnType<typeof setTimeout> | undefined;

addEventListener("popstate", () => {
  clearTimeout(pending);
  current.value = placeOfAddress();
});

/** The address of a file cannot change: its places are after the `#`. */
function placeOfAddress(): Route {
  if (!isExported) return parseRoute(location.pathname, location.search);
  const [path = "", query = ""] = location.hash.slice(1).split("?");
  return path === "" ? sessionPlace("exported") : parseRoute(path, query);
}

function addressOf(place: Route): string {
  return isExported ? `#${routePath(place)}` : routePath(place);
}

/** A new place, to which the browser's Back button returns. */
export function go(next: Route): void {
  if (pending !== undefined) writeAddress();
  history.pushState(null, "", addressOf(next));
  current.value = next;
}

/** The same place with a detail changed. */
export function refine(next: Route): void {
  current.value = next;
  clearTimeout(pending);
  pending = setTimeout(writeAddress, quietMs);
}

function writeAddress(): void {
  clearTimeout(pending);
  pending = undefined;
  history.replaceState(null, "", addressOf(current.value));
}

interface LinkProps {
  readonly to: Route;
  readonly class?: string | undefined;
  readonly title?: string | undefined;
  readonly isCurrent?: boolean;
  readonly children: ComponentChildren;
}

/** A link within the page: a plain click changes the place, every other one is the browser's. */
export function Link({ to, class: name, title, isCurrent, children }: LinkProps): VNode {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a
      href={addressOf(to)}
      class={name}
      title={title}
      aria-current={isCurrent === true ? "page" : undefined}
      onClick={follow}
    >
      {children}
    </a>
  );
}
