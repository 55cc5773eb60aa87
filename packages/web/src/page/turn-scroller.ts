/**
 * Where the reader of a conversation is. Sections have any height: the one at the top of the view
 * stays where it is on the screen when others are drawn before it, and a reader at the end stays
 * there.
 */
import type { Signal } from "@preact/signals";
import type { TurnPlace } from "../api.ts";
import type { TurnStore } from "./turn-store.ts";
import { sectionElementId } from "./turn-view.tsx";

/** Pixels from an end of what is drawn at which more is asked for. */
const edge = 1200;
/** Pixels below the top of the view at which a section counts as read. */
const readingLine = 90;
/** Below the line that says which turn is read. */
const topMargin = 40;

export class TurnScroller {
  readonly #store: TurnStore;
  readonly #active: Signal<number>;
  #element: HTMLElement | null = null;
  #anchor: { readonly section: number; readonly top: number } | null = null;
  #isAtEnd = false;

  constructor(store: TurnStore, active: Signal<number>) {
    this.#store = store;
    this.#active = active;
  }

  attach(element: HTMLElement): () => void {
    this.#element = element;
    element.addEventListener("scroll", this.#onScroll, { passive: true });
    const observer = new ResizeObserver(() => this.onDrawn());
    observer.observe(element);
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", this.#onScroll);
      this.#element = null;
    };
  }

  /** The entry that was asked for, else the section; the last section from its end. */
  show(place: TurnPlace, row: number | null): void {
    const element = this.#element;
    if (element === null) return;
    const wanted = row === null ? null : element.querySelector(`[data-row="${row}"]`);
    const section = document.getElementById(sectionElementId(place.section));
    if (row === null && place.section === place.sectionCount - 1) {
      element.scrollTop = element.scrollHeight;
    } else if (wanted !== null) {
      wanted.scrollIntoView({ block: wanted.clientHeight > 400 ? "start" : "center" });
    } else section?.scrollIntoView({ block: "start" });
    this.#remember();
    // What is drawn first may be too short for it to be at the top.
    const isTop = wanted === null && !this.#isAtEnd;
    if (isTop) this.#anchor = { section: place.section, top: topMargin };
    this.#active.value = place.section;
  }

  /** To be called when other sections were drawn. */
  onDrawn(): void {
    const element = this.#element;
    if (element === null) return;
    if (this.#isAtEnd) element.scrollTop = element.scrollHeight;
    else if (this.#anchor !== null) {
      const drawn = document.getElementById(sectionElementId(this.#anchor.section));
      const moved = drawn === null ? 0 : topIn(element, drawn) - this.#anchor.top;
      if (Math.abs(moved) >= 1) element.scrollTop += moved;
    }
    this.#remember();
    this.#extend();
  }

  /** To a section, which is fetched if it is not drawn. */
  goTo(section: number): void {
    const drawn = document.getElementById(sectionElementId(section));
    this.#anchor = null;
    this.#isAtEnd = false;
    if (drawn === null) void this.#store.openSection(section);
    else {
      drawn.scrollIntoView({ block: "start" });
      this.#remember();
      this.#active.value = section;
    }
  }

  /** To the next turn, or the one before. */
  moveTurn(step: 1 | -1): void {
    const window = this.#store.window.peek();
    const heads = (window?.sections ?? []).flatMap((one) =>
      one.head === null ? [] : [one.section],
    );
    const active = this.#active.peek();
    const next =
      step === 1 ? heads.find((one) => one > active) : heads.findLast((one) => one < active);
    if (next !== undefined) this.goTo(next);
    else if (active + step >= 0 && active + step < (window?.place.sectionCount ?? 0)) {
      this.goTo(active + step);
    }
  }

  readonly #onScroll = (): void => {
    this.#remember();
    const element = this.#element;
    if (element === null) return;
    const top = element.getBoundingClientRect().top + readingLine;
    let active = this.#active.peek();
    for (const section of sectionsIn(element)) {
      if (section.getBoundingClientRect().top > top) break;
      active = Number(section.dataset["section"]);
    }
    if (this.#isAtEnd && element.scrollHeight > element.clientHeight) {
      active = Math.max(active, this.#lastTurn(active));
    }
    this.#active.value = active;
    this.#extend();
  };

  /** At the end, a short last turn is the one that is read. */
  #lastTurn(active: number): number {
    return this.#store.window.peek()?.sections.at(-1)?.section ?? active;
  }

  get #isWhole(): boolean {
    const window = this.#store.window.peek();
    const last = window?.sections.at(-1)?.section ?? -1;
    // Sections are read after they were counted: there may be more by then.
    return window !== null && last >= window.place.sectionCount - 1;
  }

  #remember(): void {
    const element = this.#element;
    if (element === null) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    // The end of what is drawn is mostly not the end of the branch.
    this.#isAtEnd = below < 24 && this.#isWhole;
    const view = element.getBoundingClientRect();
    for (const section of sectionsIn(element)) {
      if (section.getBoundingClientRect().bottom <= view.top) continue;
      const number = Number(section.dataset["section"]);
      this.#anchor = { section: number, top: topIn(element, section) };
      return;
    }
  }

  #extend(): void {
    const element = this.#element;
    if (element === null) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (below < edge) void this.#store.extend(1);
    if (element.scrollTop < edge) void this.#store.extend(-1);
  }
}

function topIn(view: HTMLElement, element: HTMLElement): number {
  return element.getBoundingClientRect().top - view.getBoundingClientRect().top;
}

function sectionsIn(element: HTMLElement): NodeListOf<HTMLElement> {
  return element.querySelectorAll<HTMLElement>(".turn");
}
