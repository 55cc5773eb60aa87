/**
 * The turns of a conversation as a tree next to its text: what was asked, and below a turn the
 * other branches that begin in it. The arrow keys of a tree move in it; Enter opens.
 */
import { signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { VNode } from "preact";
import type { OutlineLine, TurnPlace } from "../api.ts";
import { fetchOutline } from "./client.ts";
import { isExported } from "./exported.ts";
import { outlineRow, outlineRowCount, rowOfTurn, withTurn } from "./model/outline-rows.ts";
import type { OpenTurns, OutlineRow } from "./model/outline-rows.ts";
import { PageCache } from "./model/page-cache.ts";
import { drawnRows, elementHeight } from "./model/scroll-scale.ts";
import { attempt } from "./notice.tsx";
import { RowScroller, rowHeight } from "./row-scroller.ts";

const overscan = 8;
const pagesMax = 20;

interface OutlineProps {
  readonly sessionKey: string;
  readonly place: TurnPlace;
  /** The turn that is read. */
  readonly turn: number;
  readonly onOpen: (section: number) => void;
  /** To another branch, at its first entry. */
  readonly onBranch: (row: number) => void;
}

export function Outline({ sessionKey, place, turn, onOpen, onBranch }: OutlineProps): VNode {
  const { tip, turnCount, generation } = place;
  const store = useMemo(() => new OutlineStore(sessionKey, tip), [sessionKey, tip, generation]);
  const scroller = useMemo(() => new RowScroller(), [store]);
  const element = useRef<HTMLDivElement>(null);
  const opened = useSignal<OpenTurns>(new Map());
  /** The row that has the keys; null: that of the turn that is read. */
  const chosen = useSignal<number | null>(null);
  useLayoutEffect(() => {
    [opened.value, chosen.value] = [new Map(), null];
    if (element.current === null) return undefined;
    return scroller.attach(element.current);
  }, [scroller]);
  const open = opened.value;
  const rowCount = outlineRowCount(turnCount, open);
  const active = Math.min(chosen.value ?? rowOfTurn(turn, open), Math.max(0, rowCount - 1));
  useLayoutEffect(() => scroller.setRowCount(rowCount), [scroller, rowCount]);
  useLayoutEffect(() => scroller.reveal(rowOfTurn(turn, open), false), [scroller, turn]);
  const scale = { ...scroller.scale, rowCount };
  const { first, end, shift } = drawnRows(scale, scroller.offset.value, overscan);
  const [firstTurn, endTurn] = [outlineRow(first, open).turn, outlineRow(end, open).turn];
  const version = store.version.value;
  useEffect(
    () => store.require(firstTurn, endTurn, turnCount),
    [store, version, firstTurn, endTurn, turnCount],
  );
  const turns = Array.from(
    { length: Math.min(turnCount, endTurn + 1) - firstTurn },
    (_, at) => firstTurn + at,
  );
  // The first turn is drawn with all of its branches, also with those above the view.
  const top = scroller.scrollTop + shift + (rowOfTurn(firstTurn, open) - first) * rowHeight;

  function choose(row: number): void {
    chosen.value = Math.max(0, Math.min(row, rowCount - 1));
    scroller.reveal(chosen.value, false);
  }

  function toggle(at: number, isOpen: boolean): void {
    opened.value = withTurn(open, at, isOpen ? (store.line(at)?.branches.length ?? 0) : 0);
    chosen.value = rowOfTurn(at, opened.value);
  }

  function openRow({ turn: at, branch }: OutlineRow): void {
    const line = store.line(at);
    const way = branch === null ? undefined : line?.branches[branch];
    if (way !== undefined) onBranch(way.row);
    else if (branch === null && line !== undefined) onOpen(line.section);
  }

  const keys: Readonly<Record<string, (row: OutlineRow) => void>> = {
    ArrowDown: () => choose(active + 1),
    ArrowUp: () => choose(active - 1),
    Home: () => choose(0),
    End: () => choose(rowCount - 1),
    ArrowRight: ({ turn: at, branch }) => {
      if (branch === null && open.has(at)) choose(active + 1);
      else if (branch === null) toggle(at, true);
    },
    ArrowLeft: ({ turn: at, branch }) => {
      if (branch !== null) choose(rowOfTurn(at, open));
      else toggle(at, false);
    },
    Enter: openRow,
    " ": openRow,
  };

  return (
    <nav class="outline" id="outline" aria-label="Turns">
      <div
        class="outline-rows"
        ref={element}
        role="tree"
        aria-label="Turns"
        tabIndex={0}
        aria-activedescendant={itemId(outlineRow(active, open))}
        onBlur={() => (chosen.value = null)}
        onKeyDown={(event) => {
          const command = keys[event.key];
          if (command === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
          event.preventDefault();
          command(outlineRow(active, open));
        }}
      >
        <div class="rows-range" role="none" style={{ height: `${elementHeight(scale)}px` }}>
          <ul
            class="rows-drawn"
            role="none"
            style={{ transform: `translateY(${Math.round(top)}px)` }}
          >
            {turns.map((at) => (
              <Line
                key={at}
                at={at}
                turnCount={turnCount}
                line={store.line(at)}
                isCurrent={at === turn}
                isOpen={open.has(at)}
                chosen={outlineRow(active, open)}
                onOpen={openRow}
                onToggle={toggle}
              />
            ))}
          </ul>
        </div>
      </div>
    </nav>
  );
}

function itemId({ turn, branch }: OutlineRow): string {
  return branch === null ? `outline-${turn}` : `outline-${turn}-${branch}`;
}

interface LineProps {
  readonly at: number;
  readonly turnCount: number;
  readonly line: OutlineLine | undefined;
  readonly isCurrent: boolean;
  readonly isOpen: boolean;
  readonly chosen: OutlineRow;
  readonly onOpen: (row: OutlineRow) => void;
  readonly onToggle: (turn: number, isOpen: boolean) => void;
}

function Line(props: LineProps): VNode {
  const { at, turnCount, line, isCurrent, isOpen, chosen, onOpen, onToggle } = props;
  // A file has no other branch.
  const hasBranches = line !== undefined && line.branches.length > 0 && !isExported;
  const turnRow = { turn: at, branch: null };
  return (
    <li
      id={itemId(turnRow)}
      role="treeitem"
      aria-level={1}
      aria-setsize={turnCount}
      aria-posinset={at + 1}
      aria-current={isCurrent}
      aria-expanded={hasBranches ? isOpen : undefined}
      aria-labelledby={`${itemId(turnRow)}-line`}
    >
      <div
        class="outline-line"
        id={`${itemId(turnRow)}-line`}
        data-chosen={chosen.turn === at && chosen.branch === null}
        title={line?.text}
        onClick={() => onOpen(turnRow)}
      >
        <span class="turn-number">{at + 1}</span>
        <span class="outline-text">{line?.text ?? "…"}</span>
        {line === undefined ? null : <Signs line={line} />}
        {hasBranches ? (
          <button
            type="button"
            class="outline-toggle"
            tabIndex={-1}
            title={`${line.branchCount} more branches start here`}
            onClick={(event) => {
              event.stopPropagation();
              onToggle(at, !isOpen);
            }}
          >
            {isOpen ? "▾" : "▸"} {line.branchCount + 1}
          </button>
        ) : null}
      </div>
      {isOpen && line !== undefined ? (
        <ul role="group">
          {line.branches.map(({ row, title }, branch) => (
            <li
              key={row}
              id={itemId({ turn: at, branch })}
              role="treeitem"
              aria-level={2}
              aria-setsize={line.branches.length}
              aria-posinset={branch + 1}
              class="outline-line outline-branch"
              data-chosen={chosen.turn === at && chosen.branch === branch}
              title={title}
              onClick={() => onOpen({ turn: at, branch })}
            >
              <span class="outline-text">{title}</span>
            </li>
          ))}
        </ul>
      ) : null}
    </li>
  );
}

/** Small, so that the prompt has the room. */
function Signs({ line: { label, hasCompaction } }: { readonly line: OutlineLine }): VNode {
  return (
    <>
      {label === null ? null : <span class="chip label">{label}</span>}
      {hasCompaction ? (
        <span
          class="outline-sign"
          role="img"
          aria-label="compacted"
          title="The context was compacted"
        >
          ◇
        </span>
      ) : null}
    </>
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
