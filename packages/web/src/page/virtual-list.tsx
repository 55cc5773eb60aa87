/** A scrolled list of lines of different but known heights, of which only those in view exist. */
import {
  Virtualizer,
  elementScroll,
  observeElementOffset,
  observeElementRect,
} from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import type { VNode } from "preact";

interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  readonly heightOf: (index: number) => number;
  readonly keyOf: (index: number) => string;
  readonly render: (index: number) => VNode;
  /** The line that the keyboard chose, which is scrolled to and focused; null: none yet. */
  readonly chosen: number | null;
}

export function VirtualList(props: VirtualListProps): VNode {
  const { label, count, render, chosen, keyOf } = props;
  const element = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer(element, props);
  useLayoutEffect(() => {
    if (chosen !== null) virtualizer.scrollToIndex(chosen, { align: "auto" });
  }, [chosen]);
  useLayoutEffect(() => {
    if (chosen === null) return;
    // Lines that were not in view exist only after the scroll was drawn.
    requestAnimationFrame(() => {
      // A filter moves the line, and keeps what is typed.
      if (document.activeElement?.matches("input") === true) return;
      element.current
        ?.querySelector<HTMLElement>(`[data-index="${chosen}"] a`)
        ?.focus({ preventScroll: true });
    });
  }, [chosen]);
  return (
    <div class="virtual-list" ref={element}>
      <ul aria-label={label} style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {virtualizer.getVirtualItems().map(({ index, start, size }) => (
          <li
            key={keyOf(index)}
            data-index={index}
            aria-setsize={count}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start}px)`, height: `${size}px` }}
          >
            {render(index)}
          </li>
        ))}
      </ul>
    </div>
  );
}

function useVirtualizer(
  element: { readonly current: HTMLDivElement | null },
  { count, heightOf, keyOf }: VirtualListProps,
): Virtualizer<HTMLDivElement, HTMLElement> {
  const [, redraw] = useReducer((drawn: number) => drawn + 1, 0);
  const options = {
    count,
    getScrollElement: (): HTMLDivElement | null => element.current,
    estimateSize: heightOf,
    getItemKey: keyOf,
    overscan: 10,
    // The height before the first layout is a guess that draws enough lines.
    initialRect: { width: 0, height: window.innerHeight },
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: (): void => redraw(0),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, HTMLElement>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}
