/** The entries of one session: facts, their tree, and next to it the open entry. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { VNode } from "preact";
import type { SessionFacts } from "../api.ts";
import { EntryPanel } from "./entry-panel.tsx";
import { moveKeys, useKeys } from "./keyboard.ts";
import { followEvents } from "./live-events.ts";
import { Pending } from "./loading.tsx";
import { nextBranch, previousBranch } from "./model/branch-jumps.ts";
import { plural } from "./model/formatting.ts";
import { entriesPlace, sessionPlace } from "./model/route.ts";
import { go, refine } from "./navigation.tsx";
import { notify } from "./notice.tsx";
import { openSession } from "./open-session.ts";
import { RowList } from "./row-list.tsx";
import { RowScroller } from "./row-scroller.ts";
import { RowStore } from "./row-store.ts";
import { Jumps, SessionHeader } from "./session-header.tsx";

interface EntriesViewProps {
  readonly sessionKey: string;
  /** The open entry; null: none. */
  readonly row: number | null;
}

export function EntriesView({ sessionKey, row }: EntriesViewProps): VNode {
  const store = useMemo(() => new RowStore(sessionKey, { hasTree: true }), [sessionKey]);
  useEffect(() => {
    store.refresh();
    return followEvents({ onEvent: (event) => store.apply(event), onOpen: store.refresh });
  }, [store]);
  const facts = store.facts.value;
  if (facts === null) return <Pending failure={store.failure.value} />;
  return <SessionTree key={sessionKey} store={store} facts={facts} row={row} />;
}

interface SessionTreeProps {
  readonly store: RowStore;
  readonly facts: SessionFacts;
  readonly row: number | null;
}

function SessionTree({ store, facts, row }: SessionTreeProps): VNode {
  const scroller = useMemo(() => new RowScroller(), []);
  const active = useSignal(row ?? facts.leafRow ?? Math.max(0, facts.rowCount - 1));
  const key = store.key;

  const show = (wanted: number, isCentred: boolean): void => {
    const target = Math.max(0, Math.min(wanted, facts.rowCount - 1));
    active.value = target;
    scroller.reveal(target, isCentred);
    if (row !== null) refine(entriesPlace(key, target));
  };
  const open = (target: number): void => {
    if (row !== null) show(target, false);
    else go(entriesPlace(key, target));
  };

  useEffect(() => {
    if (row === null || row === active.peek()) return;
    active.value = row;
    scroller.reveal(row, false);
  }, [row]);
  useFirstPlace(scroller, facts, active.peek());
  useOpenSession(facts, (target) => show(target, true));
  useTreeKeys({ facts, active: active.value, isOpen: row !== null, show, open });

  return (
    <section class="session" data-open={row !== null}>
      <SessionHeader facts={facts} failure={store.failure.value} view="entries" row={active.value}>
        <Jumps facts={facts} active={active.value} show={show} />
      </SessionHeader>
      <div class="session-body">
        <div class="tree">
          <RowList
            store={store}
            facts={facts}
            scroller={scroller}
            active={active.value}
            onOpen={open}
          />
          <NewEntries facts={facts} scroller={scroller} />
        </div>
        {row === null ? null : <EntryPanel facts={facts} row={row} />}
      </div>
    </section>
  );
}

/** The end, if the leaf is there, so that new entries are followed; else the row that was asked. */
function useFirstPlace(scroller: RowScroller, facts: SessionFacts, row: number): void {
  useLayoutEffect(() => {
    if (row >= facts.rowCount - 1) scroller.toEnd();
    else scroller.reveal(row, true);
  }, []);
}

function useOpenSession(facts: SessionFacts, showRow: (row: number) => void): void {
  useEffect(() => {
    openSession.value = { facts, showRow };
  });
  useEffect(() => () => void (openSession.value = null), []);
}

interface TreeKeys {
  readonly facts: SessionFacts;
  readonly active: number;
  readonly isOpen: boolean;
  readonly show: (row: number, isCentred: boolean) => void;
  readonly open: (row: number) => void;
}

function useTreeKeys({ facts, active, isOpen, show, open }: TreeKeys): void {
  const { key } = facts.item;
  const showIfAny = (row: number | null | undefined): void => {
    if (row === null || row === undefined) notify("There are no more.");
    else show(row, true);
  };
  useKeys({
    ...moveKeys((step) => show(active + step, false)),
    PageDown: () => show(active + 20, false),
    PageUp: () => show(active - 20, false),
    g: () => show(0, false),
    Home: () => show(0, false),
    G: () => show(facts.rowCount - 1, false),
    End: () => show(facts.rowCount - 1, false),
    l: () => showIfAny(facts.leafRow),
    "]": () => showIfAny(nextBranch(facts.tree?.branchRows ?? [], active)),
    "[": () => showIfAny(previousBranch(facts.tree?.branchRows ?? [], active)),
    Enter: () => (isOpen ? document.getElementById("entry")?.focus() : open(active)),
    t: () => go(sessionPlace(key, active)),
    c: () => go({ kind: "context", key, row: active }),
    Escape: () => {
      if (isOpen) go(entriesPlace(key));
      else go({ kind: "sessions" });
    },
  });
}

interface NewEntriesProps {
  readonly facts: SessionFacts;
  readonly scroller: RowScroller;
}

/** The number of entries that were appended since the reader left the end of the list. */
function NewEntries({ facts, scroller }: NewEntriesProps): VNode | null {
  const seen = useRef(facts.rowCount);
  const isAtEnd = useComputed(() => scroller.isAtEnd).value;
  if (isAtEnd) seen.current = facts.rowCount;
  const count = facts.rowCount - seen.current;
  if (count <= 0) return null;
  return (
    <button type="button" class="new-entries" onClick={() => scroller.toEnd()}>
      {plural(count, "new entry", "new entries")} ↓
    </button>
  );
}
