/**
 * The sections of one conversation that are drawn: a window of pages, which grows at both ends as
 * its reader scrolls, and drops those far away. The shown content stays until newer content
 * arrives.
 */
import { signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { ServerEvent, TurnPage, TurnPlace, TurnSection } from "../api.ts";
import { fetchTurnPlace, fetchTurns, messageOf, sectionsPerPage } from "./client.ts";
import { coalesce } from "./model/coalesce.ts";

/** Together at most 80 sections. */
const pagesMax = 8;

/** What is in view is drawn first: the section that was asked for, and short ones around it. */
const firstBlocksMax = 40;

export interface TurnWindow {
  readonly place: TurnPlace;
  /** The first and the last page that are held. */
  readonly first: number;
  readonly last: number;
  readonly sections: readonly TurnSection[];
}

export class TurnStore {
  readonly key: string;
  readonly #window = signal<TurnWindow | null>(null);
  readonly #failure = signal<string | null>(null);
  #pages = new Map<number, TurnPage>();
  /** Answers to earlier requests are dropped. */
  #opened = 0;
  #isExtending = false;

  constructor(key: string) {
    this.key = key;
  }

  get window(): ReadonlySignal<TurnWindow | null> {
    return this.#window;
  }

  get failure(): ReadonlySignal<string | null> {
    return this.#failure;
  }

  /** The branch with this entry, around it; null: the end of the leaf's branch. */
  async open(row: number | null): Promise<TurnPlace | null> {
    return this.#open(() => fetchTurnPlace(this.key, row));
  }

  /** The same branch, around a section. */
  async openSection(section: number): Promise<TurnPlace | null> {
    const place = this.#window.peek()?.place;
    return place === undefined ? null : this.#open(async () => ({ ...place, section }));
  }

  async #open(find: () => Promise<TurnPlace>): Promise<TurnPlace | null> {
    const opened = (this.#opened += 1);
    try {
      const place = await find();
      const page = pageOf(place.section);
      const wanted = place.section % sectionsPerPage < 2 && page > 0 ? [page - 1, page] : [page];
      const read = await Promise.all(
        wanted.map(async (one) => [one, await fetchTurns(this.key, one, place.tip)] as const),
      );
      if (opened !== this.#opened) return null;
      // What was asked for meanwhile is of the branch that was shown until now.
      const shown = (this.#opened += 1);
      this.#pages = new Map(read);
      this.#failure.value = null;
      this.#show(place, firstBlocksMax);
      setTimeout(() => shown === this.#opened && this.#show(place));
      return place;
    } catch (error) {
      if (opened === this.#opened) this.#failure.value = messageOf(error);
      return null;
    }
  }

  /** One more page before or after those that are held. */
  async extend(step: 1 | -1): Promise<void> {
    const window = this.#window.peek();
    if (window === null || this.#isExtending) return;
    const page = step === 1 ? window.last + 1 : window.first - 1;
    if (page < 0 || page > pageOf(Math.max(0, window.place.sectionCount - 1))) return;
    this.#isExtending = true;
    const opened = this.#opened;
    try {
      const read = await fetchTurns(this.key, page, window.place.tip);
      if (opened !== this.#opened) return;
      this.#pages.set(page, read);
      if (this.#pages.size > pagesMax) {
        this.#pages.delete(step === 1 ? window.first : window.last);
      }
      this.#show(this.#window.peek()?.place ?? window.place);
    } catch (error) {
      this.#failure.value = messageOf(error);
    } finally {
      this.#isExtending = false;
    }
  }

  apply(event: ServerEvent): void {
    if (event.kind === "sessions" || event.key !== this.key) return;
    if (event.kind === "gone") this.#failure.value = event.message;
    else this.refresh();
  }

  /** Reads again what may have changed: sums, the last section that is held, what follows it. */
  readonly refresh: () => void = coalesce(async () => {
    const window = this.#window.peek();
    const opened = this.#opened;
    if (window === null) return;
    const { tip, section, turn, generation } = window.place;
    try {
      const place = await fetchTurnPlace(this.key, tip);
      if (opened !== this.#opened) return;
      if (place.generation !== generation) {
        await this.open(null);
        return;
      }
      const wasWhole = window.last === pageOf(Math.max(0, window.place.sectionCount - 1));
      const end = wasWhole ? pageOf(Math.max(0, place.sectionCount - 1)) : window.last;
      const reached = end - window.last < pagesMax ? end : window.last;
      const stale = [...this.#pages].flatMap(([page, { sections }]) =>
        page < window.last && sections.some(({ head }) => head?.isPartial === true) ? page : [],
      );
      for (let page = window.last; page <= reached; page += 1) stale.push(page);
      for (const page of stale) {
        const read = await fetchTurns(this.key, page, tip);
        if (opened !== this.#opened) return;
        this.#pages.set(page, read);
      }
      this.#show({ ...place, section, turn });
      this.#failure.value = null;
    } catch (error) {
      this.#failure.value = messageOf(error);
    }
  });

  /** @param blocksMax Further sections are left out where those nearer have so many blocks. */
  #show(place: TurnPlace, blocksMax = Infinity): void {
    const pages = [...this.#pages].toSorted(([one], [other]) => one - other);
    const [first, last] = [pages[0]?.[0] ?? 0, pages.at(-1)?.[0] ?? 0];
    const all = pages.flatMap(([, page]) => page.sections);
    const distance = ({ section }: TurnSection): number => Math.abs(section - place.section);
    let [reach, blocks] = [0, 0];
    for (const one of all.toSorted((a, b) => distance(a) - distance(b))) {
      blocks += one.blocks.length;
      if (blocks > blocksMax) break;
      reach = distance(one);
    }
    const sections = all.filter((one) => distance(one) <= reach);
    this.#window.value = { place, first, last, sections };
  }
}

function pageOf(section: number): number {
  return Math.floor(section / sectionsPerPage);
}
