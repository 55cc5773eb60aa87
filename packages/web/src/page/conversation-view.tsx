/** One session as a conversation: its turns as text, and next to them their outline. */
import { signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { VNode } from "preact";
import type { BranchPoint, BranchWay, SessionFacts, TurnSection } from "../api.ts";
import { fetchPlace } from "./client.ts";
import { moveKeys, useKeys } from "./keyboard.ts";
import { followEvents } from "./live-events.ts";
import { Pending } from "./loading.tsx";
import { entriesPlace, sessionPlace } from "./model/route.ts";
import { Link, go, refine } from "./navigation.tsx";
import { attempt, notify } from "./notice.tsx";
import { openSession } from "./open-session.ts";
import { Outline } from "./outline-list.tsx";
import { RowStore } from "./row-store.ts";
import { SessionHeader } from "./session-header.tsx";
import { TimelineStrip } from "./timeline-strip.tsx";
import { SectionView, sectionElementId } from "./turn-view.tsx";
import { TurnScroller } from "./turn-scroller.ts";
import { TurnStore } from "./turn-store.ts";
import type { TurnWindow } from "./turn-store.ts";

interface ConversationViewProps {
  readonly sessionKey: string;
  /** The entry that is shown, on its branch; null: the end of the leaf's. */
  readonly row: number | null;
  readonly entryId: string | null;
}

export function ConversationView({ sessionKey, row, entryId }: ConversationViewProps): VNode {
  const facts = useMemo(() => new RowStore(sessionKey, { hasTree: false }), [sessionKey]);
  const store = useMemo(() => new TurnStore(sessionKey), [sessionKey]);
  // Not after the first paint: the requests begin earlier.
  useLayoutEffect(() => {
    facts.refresh();
    return followEvents({
      onEvent: (event) => {
        facts.apply(event);
        store.apply(event);
      },
      onOpen: () => {
        facts.refresh();
        store.refresh();
      },
    });
  }, [facts, store]);
  useLayoutEffect(() => {
    if (entryId === null) void store.open(row);
    else {
      attempt(async () => {
        try {
          refine(sessionPlace(sessionKey, (await fetchPlace(sessionKey, entryId)).row));
        } catch (error) {
          refine(sessionPlace(sessionKey));
          throw error;
        }
      });
    }
  }, [store, row, entryId]);
  const [known, window] = [facts.facts.value, store.window.value];
  const failure = facts.failure.value ?? store.failure.value;
  if (known === null || window === null) return <Pending failure={failure} />;
  return (
    <Conversation
      key={sessionKey}
      facts={known}
      store={store}
      window={window}
      row={row}
      failure={failure}
    />
  );
}

interface ConversationProps {
  readonly facts: SessionFacts;
  readonly store: TurnStore;
  readonly window: TurnWindow;
  readonly row: number | null;
  readonly failure: string | null;
}

/** Whether settings, usage and records of programs are shown between the blocks. */
const isMarksShown = signal(false);

/** In a narrow window the outline is above the text, and only on request. */
const isOutlineOpen = signal(false);

function showOutline(): void {
  isOutlineOpen.value = !isOutlineOpen.peek();
  if (!isOutlineOpen.peek()) return;
  requestAnimationFrame(() => document.querySelector<HTMLElement>(".outline-rows")?.focus());
}

function Conversation({ facts, store, window, row, failure }: ConversationProps): VNode {
  const { key } = facts.item;
  const { place, sections } = window;
  const active = useSignal(place.section);
  const scroller = useMemo(() => new TurnScroller(store, active), [store]);
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (element.current === null) return undefined;
    return scroller.attach(element.current);
  }, [scroller]);
  // Each place that was opened is shown once; then the reader scrolls.
  useLayoutEffect(() => scroller.show(place, row), [scroller, place.section, place.tip, row]);
  useLayoutEffect(() => scroller.onDrawn(), [scroller, window]);

  const section = sections.find((one) => one.section === active.value) ?? sections.at(-1);
  const activeRow = section?.firstRow ?? 0;
  const openRow = (wanted: number): void => {
    isOutlineOpen.value = false;
    go(sessionPlace(key, wanted));
  };
  useEffect(() => {
    openSession.value = { facts, showRow: openRow };
  });
  useEffect(() => () => void ([openSession.value, isOutlineOpen.value] = [null, false]), []);
  useConversationKeys({ facts, window, scroller, active: active.value, openRow, activeRow });
  return (
    <section class="session conversation-page">
      <SessionHeader facts={facts} failure={failure} view="session" row={section?.lastRow ?? 0}>
        <button
          type="button"
          class="show-outline"
          aria-expanded={isOutlineOpen.value}
          aria-controls="outline"
          onClick={showOutline}
        >
          Turns <kbd>o</kbd>
        </button>
        <button
          type="button"
          aria-pressed={isMarksShown.value}
          onClick={() => (isMarksShown.value = !isMarksShown.value)}
        >
          Settings and records <kbd>m</kbd>
        </button>
      </SessionHeader>
      <TimelineStrip
        sessionKey={key}
        tip={place.tip}
        generation={place.generation}
        sectionCount={place.sectionCount}
        active={active.value}
        onOpen={(one) => scroller.goTo(one)}
      />
      <div class="conversation-body" data-outline={isOutlineOpen.value}>
        <Outline
          sessionKey={key}
          place={place}
          turn={section?.turn ?? 0}
          onOpen={(one) => {
            isOutlineOpen.value = false;
            scroller.goTo(one);
          }}
          onBranch={openRow}
        />
        <div
          class="conversation"
          ref={element}
          tabIndex={0}
          role="region"
          aria-label="Conversation"
          data-marks={isMarksShown.value}
        >
          <ReadingLine
            section={section}
            isLeafBranch={place.tip === null}
            goToStart={(turn) => scroller.goTo(turn)}
            sessionKey={key}
          />
          <PrintNote window={window} />
          <div class="turns">
            {facts.rowCount === 0 ? <p class="pending">No messages yet.</p> : null}
            {sections.map((one) => (
              <SectionView
                key={`${place.tip}/${one.section}`}
                facts={facts}
                section={one}
                isActive={one.section === active.value}
                markedRow={row}
                turnCount={place.turnCount}
              />
            ))}
          </div>
        </div>
      </div>
    </section>
  );
}

interface ReadingLineProps {
  readonly section: TurnSection | undefined;
  readonly isLeafBranch: boolean;
  readonly sessionKey: string;
  readonly goToStart: (section: number) => void;
}

/** The request, while its answer is read. */
function ReadingLine(props: ReadingLineProps): VNode | null {
  const { section, isLeafBranch, sessionKey, goToStart } = props;
  if (section === undefined) return null;
  return (
    <div class="reading-line">
      <button type="button" onClick={() => goToStart(section.turnSection)}>
        <span class="turn-number">{section.turn + 1}</span> {section.prompt || "(no prompt)"}
      </button>
      {isLeafBranch ? null : (
        <Link class="chip forks" to={sessionPlace(sessionKey)}>
          not the branch of the leaf · go to the leaf <kbd>l</kbd>
        </Link>
      )}
    </div>
  );
}

/** Only on paper: what is drawn is printed, which is not all of a long branch. */
function PrintNote({ window }: { readonly window: TurnWindow }): VNode {
  const { place, sections } = window;
  const [first, last] = [sections[0]?.turn ?? 0, sections.at(-1)?.turn ?? 0];
  const isWhole = sections.length === place.sectionCount;
  return (
    <p class="print-note">
      {`Turns ${first + 1} to ${last + 1} of ${place.turnCount}.`}
      {isWhole ? null : " The command “branchlog export” writes the whole branch."}
    </p>
  );
}

interface ConversationKeys {
  readonly facts: SessionFacts;
  readonly window: TurnWindow;
  readonly scroller: TurnScroller;
  readonly active: number;
  readonly activeRow: number;
  readonly openRow: (row: number) => void;
}

function useConversationKeys(props: ConversationKeys): void {
  const { facts, window, scroller, active, activeRow, openRow } = props;
  const { key } = facts.item;
  useKeys({
    ...moveKeys((step) => scroller.moveTurn(step)),
    g: () => scroller.goTo(0),
    Home: () => scroller.goTo(0),
    G: () => scroller.goTo(window.place.sectionCount - 1),
    End: () => scroller.goTo(window.place.sectionCount - 1),
    l: () => go(sessionPlace(key)),
    t: () => go(entriesPlace(key, activeRow)),
    o: showOutline,
    m: () => (isMarksShown.value = !isMarksShown.value),
    e: () => toggleCalls(active),
    c: () => go({ kind: "context", key, row: activeRow }),
    "]": () => changeWay(1),
    "[": () => changeWay(-1),
    x: compareWays,
    Escape: () => {
      if (isOutlineOpen.peek()) isOutlineOpen.value = false;
      else go({ kind: "sessions" });
    },
  });

  function changeWay(step: 1 | -1): void {
    const ways = waysHere(step);
    if (ways === undefined) return;
    notify(`Branch ${ways.at + 1} of ${ways.count}: ${ways.next.title}`);
    openRow(ways.next.row);
  }

  function compareWays(): void {
    const ways = waysHere(1);
    if (ways === undefined) return;
    go({ kind: "compare", key, from: ways.shown.row, to: ways.next.row });
  }

  function waysHere(step: 1 | -1): WaysHere | undefined {
    const point = nearestPoint(window, active);
    const at = point?.ways.findIndex((way) => way.isShown) ?? -1;
    const shown = point?.ways[at];
    const next = point?.ways.at((at + step) % point.ways.length);
    if (point !== undefined && shown !== undefined && next !== undefined) {
      return { shown, next, at: point.ways.indexOf(next), count: point.wayCount };
    }
    notify("There are no other branches here.");
    return undefined;
  }
}

interface WaysHere {
  readonly shown: BranchWay;
  readonly next: BranchWay;
  /** The place of the next one among so many. */
  readonly at: number;
  readonly count: number;
}

/** The branch point in the section that is read, or else the last before it, or the next. */
function nearestPoint({ sections }: TurnWindow, active: number): BranchPoint | undefined {
  const points = sections.flatMap(({ section, branches }) =>
    branches.map((point) => ({ section, point })),
  );
  const found = points.findLast(({ section }) => section <= active) ?? points[0];
  return found?.point;
}

/** All calls and thoughts of a section are opened, or closed if all are open. */
function toggleCalls(section: number): void {
  const element = document.getElementById(sectionElementId(section));
  const all = [...(element?.querySelectorAll<HTMLDetailsElement>("details") ?? [])];
  const isOpen = all.every((one) => one.open);
  for (const one of all) one.open = !isOpen;
}
