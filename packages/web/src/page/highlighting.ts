/** Sends code to the worker that highlights it, and puts the result into the page. */
import { isExported } from "./exported.ts";
import type { HighlightAnswer, HighlightRequest } from "./highlight-messages.ts";
import { renderHighlighted } from "./markdown.ts";

/** Longer code is shown plain: highlighting would double its memory. */
const charactersMax = 200_000;

const workerAddress = "/assets/highlight.js";

/** The part of Trusted Types that is used here; browsers without them have none. */
interface TrustedTypesWindow {
  readonly trustedTypes?: {
    createPolicy(
      name: string,
      rules: { readonly createScriptURL: (address: string) => string },
    ): { createScriptURL(address: string): object };
  };
}

// Decoding boundary: lib.dom lacks Trusted Types.
const { trustedTypes } = window as Window & TrustedTypesWindow;

/** Only one address of a script is trusted: that of the worker. */
const policy = trustedTypes?.createPolicy("branchlog", {
  createScriptURL: (address: string): string => {
    if (address !== workerAddress) throw new TypeError(`Not a script of this page: ${address}`);
    return address;
  },
});

const waiting = new Map<number, Element>();
let worker: Worker | undefined;
let nextId = 0;

/** Colours the text of an element; later, and not at all if it is gone or changed by then. */
export function highlight(element: Element, language: string): void {
  const text = element.textContent ?? "";
  // A file has no worker next to it.
  if (text.length > charactersMax || isExported) return;
  worker ??= startWorker();
  nextId += 1;
  waiting.set(nextId, element);
  worker.postMessage({ id: nextId, language, text } satisfies HighlightRequest);
}

function startWorker(): Worker {
  // Cast: the constructor takes an address that is trusted, which its type does not know.
  const address = (policy?.createScriptURL(workerAddress) ?? workerAddress) as unknown as string;
  const started = new Worker(address);
  started.addEventListener("message", ({ data }: MessageEvent<HighlightAnswer>) => {
    const element = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.html !== null && element?.isConnected === true) renderHighlighted(element, data.html);
  });
  return started;
}
