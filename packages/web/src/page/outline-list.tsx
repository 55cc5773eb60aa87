/** The turns of a conversation as lines beside its text: what was asked, and where it branched. */
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { VNode } from "preact";
import type { OutlineLine, TurnPlace } from "../api.ts";
import { fetchOutline } from "./client.ts";
import { PageCache } from "./model/page-cache.ts";
import { drawnRows, elementHeight } from "./model/scroll-scale.ts";
import { attempt } from "./notice.tsx";
import { RowScroller } from "./row-scroller.ts";

const overscan = 8;
const pagesMax = 20;

interface OutlineProps {
  readonly sessionKey: string;
  readonly place: TurnPlace;
  /** The turn that is read. */
  readonly turn: number;
  readonly onOpen: (section: number) => void;
}

export function Outline({ sessionKey, place, turn, onOpen }: OutlineProps): VNode {
  const { tip, turnCount, generation } = place;
  const store = useMemo(() => new OutlineStore(sessionKey, tip), [sessionKey, tip, generation]);
  const scroller = useMemo(() => new RowScroller(), [store]);
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (element.current === null) return undefined;
    return scroller.attach(element.current);
  }, [scroller]);
  useLayoutEffect(() => scroller.setRowCount(turnCount), [scroller, turnCount]);
  useLayoutEffect(() => scroller.reveal(turn, false), [scroller, turn]);
  const scale = { ...scroller.scale, rowCount: turnCount };
  const { first, end, shift } = drawnRows(scale, scroller.offset.value, overscan);
  const version = store.version.value;
  useEffect(() => store.require(first, end, turnCount), [store, version, first, end, turnCount]);
  const lines = Array.from({ length: end - first }, (_, at) => first + at);
  return (
    <nav class="outline" aria-label="Turns">
      <div class="outline-rows" ref={element}>
        <div class="rows-range" style={{ height: `${elementHeight(scale)}px` }}>
          <ol
            class="rows-drawn"
            start={first + 1}
            style={{ transform: `translateY(${Math.round(scroller.scrollTop + shift)}px)` }}
          >
            {lines.map((at) => (
              <Line
                key={at}
                at={at}
                line={store.line(at)}
                isCurrent={at === turn}
                onOpen={onOpen}
              />
            ))}
          </ol>
        </div>
      </div>
    </nav>
  );
}

interface LineProps {
  readonly at: number;
  readonly line: OutlineLine | undefined;
  readonly isCurrent: boolean;
  readonly onOpen: (section: number) => void;
}

function Line({ at, line, isCurrent, onOpen }: LineProps): VNode {
  return (
    <li>
      <button
        type="button"
        class="outline-line"
        aria-current={isCurrent}
        disabled={line === undefined}
        title={line?.text}
        onClick={() => line !== undefined && onOpen(line.section)}
      >
        <span class="turn-number">{at + 1}</span>
        <span class="outline-text">{line?.text ?? "…"}</span>
        {line === undefined || line.label === null ? null : (
          <span class="chip label">{line.label}</span>
        )}
        {line?.hasCompaction === true ? <span class="chip compacted">compacted</span> : null}
        {(line?.branches ?? 0) > 0 ? (
          <span class="chip forks">{(line?.branches ?? 0) + 1} branches</span>
        ) : null}
      </button>
    </li>
  );
}

class OutlineStore {
  readonly version = signal(0);
  readonly #key: string;
  readonly #tip: number | null;
  readonly #cache = new PageCache<OutlineLine>(pagesMax);
  readonly #requested = new Set<number>();
  #turnCount = 0;

  constructor(key: string, tip: number | null) {
    this.#key = key;
    this.#tip = tip;
  }

  line(turn: number): OutlineLine | undefined {
    return this.#cache.rowAt(turn);
  }

  require(first: number, end: number, turnCount: number): void {
    if (turnCount !== this.#turnCount) this.#cache.markStale();
    this.#turnCount = turnCount;
    for (const page of this.#cache.missing(first, end)) {
      if (this.#requested.has(page)) continue;
      this.#requested.add(page);
      attempt(async () => {
        try {
          this.#cache.put(page, (await fetchOutline(this.#key, page, this.#tip)).lines);
          this.version.value += 1;
        } finally {
          this.#requested.delete(page);
        }
      });
    }
  }
}
