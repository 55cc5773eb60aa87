/**
 * The scroll position of a list of rows, in rows rather than in pixels of the element: exact even
 * where the range of the element is scaled down.
 */
import { signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import {
  contentHeight,
  isScaled,
  offsetOfRow,
  offsetOfScroll,
  scrollOfOffset,
} from "./model/scroll-scale.ts";
import type { ScrollScale } from "./model/scroll-scale.ts";

export const rowHeight = 30;

/** Pixels of one line, for wheels that count lines. */
const wheelLine = 20;

export class RowScroller {
  readonly #offset = signal(0);
  readonly #viewHeight = signal(0);
  #rowCount = 0;
  #element: HTMLElement | null = null;
  /** The position that was set here: its scroll event is ignored. */
  #ownTop = -1;

  get offset(): ReadonlySignal<number> {
    return this.#offset;
  }

  get scale(): ScrollScale {
    return { rowCount: this.#rowCount, rowHeight, viewHeight: this.#viewHeight.value };
  }

  get scrollTop(): number {
    return this.#element?.scrollTop ?? 0;
  }

  get isAtEnd(): boolean {
    return this.#offset.value >= this.#range - rowHeight / 2;
  }

  get #range(): number {
    return Math.max(0, contentHeight(this.scale) - this.#viewHeight.value);
  }

  /** Follows an element until the returned function is called. */
  attach(element: HTMLElement): () => void {
    this.#element = element;
    this.#viewHeight.value = element.clientHeight;
    const stop = new AbortController();
    const { signal: ended } = stop;
    element.addEventListener("scroll", this.#onScroll, { passive: true, signal: ended });
    element.addEventListener("wheel", this.#onWheel, { passive: false, signal: ended });
    const observer = new ResizeObserver(() => this.#onResize());
    observer.observe(element);
    return () => {
      stop.abort();
      observer.disconnect();
      this.#element = null;
    };
  }

  /** To be called when the element has its new height. A list at its end stays there. */
  setRowCount(rowCount: number): void {
    if (rowCount === this.#rowCount) return;
    const wasAtEnd = this.#rowCount > 0 && this.isAtEnd;
    this.#rowCount = rowCount;
    if (wasAtEnd) this.toEnd();
    else if (isScaled(this.scale)) this.#moveTo(this.#offset.value);
  }

  toEnd(): void {
    this.#moveTo(this.#range);
  }

  reveal(row: number, isCentred: boolean): void {
    const offset = this.#offset.value;
    const wanted = offsetOfRow(this.scale, row, { offset, isCentred });
    if (wanted !== offset) this.#moveTo(wanted);
  }

  #moveTo(offset: number): void {
    this.#offset.value = Math.max(0, Math.min(offset, this.#range));
    if (this.#element === null) return;
    this.#element.scrollTop = scrollOfOffset(this.scale, this.#offset.value);
    this.#ownTop = this.#element.scrollTop;
  }

  readonly #onScroll = (): void => {
    if (Math.abs(this.scrollTop - this.#ownTop) < 1) return;
    this.#ownTop = -1;
    this.#offset.value = offsetOfScroll(this.scale, this.scrollTop);
  };

  /** A wheel moves by pixels of rows, which a scaled range would multiply. */
  readonly #onWheel = (event: WheelEvent): void => {
    if (!isScaled(this.scale) || event.ctrlKey) return;
    event.preventDefault();
    const unit = [1, wheelLine, this.#viewHeight.value][event.deltaMode] ?? 1;
    this.#moveTo(this.#offset.value + event.deltaY * unit);
  };

  #onResize(): void {
    const wasAtEnd = this.isAtEnd;
    this.#viewHeight.value = this.#element?.clientHeight ?? 0;
    if (wasAtEnd) this.toEnd();
    // Without a height, as in a hidden element, any place was in its range.
    else this.#moveTo(this.#offset.value);
  }
}
