/** Loading something for a view, and what the view shows until it is there, or failed. */
import { useEffect, useState } from "preact/hooks";
import type { VNode } from "preact";
import { messageOf } from "./client.ts";
import { Link } from "./navigation.tsx";

export interface Loaded<T> {
  readonly value: T | null;
  readonly failure: string | null;
}

/**
 * The latest answer for `name`. While another one is loading the former is kept, so that views
 * do not collapse; after a delay only, so that a held key does not ask for every row it passes.
 */
export function useLoaded<T>(name: string, load: () => Promise<T>, delayMs = 0): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ value: null, failure: null });
  useEffect(() => {
    let isCurrent = true;
    const run = async (): Promise<void> => {
      try {
        const value = await load();
        if (isCurrent) setState({ value, failure: null });
      } catch (error) {
        if (isCurrent) setState({ value: null, failure: messageOf(error) });
      }
    };
    const timer = setTimeout(() => void run(), delayMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [name]);
  return state;
}

/** Shown in place of a view until its data is loaded, or instead of it after a failure. */
export function Pending({ failure }: { readonly failure: string | null }): VNode {
  if (failure === null) return <p class="pending">Loading…</p>;
  return (
    <>
      <Failure text={failure} />
      <p class="pending">
        <Link to={{ kind: "sessions" }}>All sessions</Link>
      </p>
    </>
  );
}

export function Failure({ text }: { readonly text: string }): VNode {
  return (
    <p class="failed" role="alert">
      {text}
    </p>
  );
}
