/** Ctrl-K: go anywhere by typing. Sessions, entries, labels, other views, the theme. */
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { VNode } from "preact";
import { fetchPlace } from "./client.ts";
import { Modal } from "./modal.tsx";
import { formatAge, shortPath } from "./model/formatting.ts";
import { paletteMatches } from "./model/palette-matches.ts";
import type { PaletteItem } from "./model/palette-matches.ts";
import { sessionPlace } from "./model/route.ts";
import { go } from "./navigation.tsx";
import { attempt } from "./notice.tsx";
import { openSession } from "./open-session.ts";
import { titleOf } from "./model/session-title.ts";
import { now, sessionItems } from "./session-catalog.ts";
import { nextTheme, themeName } from "./theme.ts";

const isOpen = signal(false);
const shownMax = 12;

export function openPalette(): void {
  isOpen.value = true;
}

/** The key works everywhere, in fields too. */
export function startPalette(): void {
  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (document.querySelector("dialog[open]") === null) openPalette();
  });
}

export function Palette(): VNode | null {
  return isOpen.value ? <PaletteDialog /> : null;
}

function PaletteDialog(): VNode {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const items = itemsFor(text);
  const close = (): void => void (isOpen.value = false);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosen((chosen + step + items.length) % Math.max(1, items.length));
    else if (event.key === "Enter") {
      close();
      items[chosen]?.run();
    } else return;
    event.preventDefault();
  };
  return (
    <Modal label="Go to" class="palette" onClose={close}>
      <input
        role="combobox"
        aria-label="Go to"
        aria-expanded="true"
        aria-controls="palette-items"
        aria-activedescendant={items.length === 0 ? undefined : `palette-${chosen}`}
        placeholder="Session, label, entry id, words to search…"
        autoFocus
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette-items" role="listbox" aria-label="Places">
        {items.map((item, index) => (
          <li
            key={index}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => {
              close();
              item.run();
            }}
          >
            <span>{item.title}</span> <span class="count">{item.detail}</span>
          </li>
        ))}
      </ul>
    </Modal>
  );
}

function itemsFor(text: string): readonly PaletteItem[] {
  const query = text.trim();
  const places = [...treeItems(), ...viewItems(), ...sessionPaletteItems()];
  const found = paletteMatches(places, query, shownMax);
  if (query === "") return found;
  const search: PaletteItem = {
    title: `Search for “${query}”`,
    detail: "in all sessions",
    run: () => go({ kind: "search", query, isRegex: false }),
  };
  return [...found, ...entryItems(query), search];
}

function viewItems(): readonly PaletteItem[] {
  const detail = "view";
  return [
    { title: "Sessions", detail, run: () => go({ kind: "sessions" }) },
    { title: "Search", detail, run: () => go({ kind: "search", query: "", isRegex: false }) },
    { title: "Costs", detail, run: () => go({ kind: "costs", by: "project" }) },
    { title: "Next theme", detail: `now ${themeName()}`, run: nextTheme },
  ];
}

/** Places in the session on screen. */
function treeItems(): readonly PaletteItem[] {
  const open = openSession.value;
  if (open === null) return [];
  const { facts, showRow } = open;
  const labels = facts.labels.map(({ label, row }) => ({
    title: label,
    detail: `label, entry #${row}`,
    run: () => showRow(row),
  }));
  const { leafRow } = facts;
  if (leafRow === null) return labels;
  return [{ title: "Leaf", detail: `entry #${leafRow}`, run: () => showRow(leafRow) }, ...labels];
}

/** Whether an entry has this id is known only to the server. */
function entryItems(query: string): readonly PaletteItem[] {
  const open = openSession.value;
  if (open === null || !/^[\w-]{4,}$/.test(query)) return [];
  const { key } = open.facts.item;
  const run = (): void => attempt(async () => open.showRow((await fetchPlace(key, query)).row));
  return [{ title: `Entry ${query}`, detail: "in this session", run }];
}

function sessionPaletteItems(): readonly PaletteItem[] {
  return sessionItems.value
    .toSorted((a, b) => b.modifiedMs - a.modifiedMs)
    .map((item) => ({
      title: titleOf(item),
      detail: [
        item.agent,
        shortPath(item.cwd),
        formatAge(item.modifiedMs, now.value),
        item.id,
      ].join(" · "),
      run: () => go(sessionPlace(item.key)),
    }));
}
