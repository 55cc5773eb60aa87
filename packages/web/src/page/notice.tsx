/** One short sentence at the bottom of the page on what an action did; gone after some seconds. */
import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { messageOf } from "./client.ts";

const shownMs = 4000;
const text = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

export function notify(message: string): void {
  text.value = message;
  clearTimeout(timer);
  timer = setTimeout(() => (text.value = ""), shownMs);
}

/** Runs an action; a failure is shown as a notice. */
export function attempt(action: () => Promise<void>): void {
  void action().catch((error: unknown) => notify(messageOf(error)));
}

export function copy(what: string, value: string): void {
  attempt(async () => {
    await navigator.clipboard.writeText(value);
    notify(`Copied ${what}.`);
  });
}

export function Notice(): VNode {
  return (
    <div class="notice" role="status" aria-live="polite" data-shown={text.value !== ""}>
      {text.value}
    </div>
  );
}
