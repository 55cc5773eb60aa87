/** The open entry: its content, its position in the tree, and its actions. */
import { useEffect, useState } from "preact/hooks";
import type { VNode } from "preact";
import type { EntryView, SessionFacts } from "../api.ts";
import { BlockView, RowLink } from "./block-view.tsx";
import { changeLabel, forkSession } from "./changes.ts";
import { fetchEntry } from "./client.ts";
import { Pending, useLoaded } from "./loading.tsx";
import { formatCost, formatCount, formatTime } from "./model/formatting.ts";
import { rowKind } from "./model/row-kind.ts";
import { entriesPlace } from "./model/route.ts";
import { Link, go } from "./navigation.tsx";
import { copy } from "./notice.tsx";
import { Code } from "./rich-text.tsx";

/** A held key passes many rows; the one it stops at is fetched. */
const settleMs = 60;

interface EntryPanelProps {
  readonly facts: SessionFacts;
  readonly row: number;
}

export function EntryPanel({ facts, row }: EntryPanelProps): VNode {
  const { key } = facts.item;
  const [fullRow, setFullRow] = useState(-1);
  const isFull = fullRow === row;
  // A longer session may have new children or results for this entry.
  const name = [key, facts.generation, facts.rowCount, row, isFull].join("/");
  const { value, failure } = useLoaded(name, () => fetchEntry(key, row, isFull), settleMs);
  const close = (): void => go(entriesPlace(key));
  return (
    <aside
      class="entry"
      id="entry"
      tabIndex={-1}
      aria-label="Entry"
      aria-busy={value?.row.row !== row}
    >
      <button type="button" class="close" aria-label="Close the entry" onClick={close}>
        ✕
      </button>
      {value === null ? (
        <Pending failure={failure} />
      ) : (
        <Entry facts={facts} entry={value} onShowAll={() => setFullRow(value.row.row)} />
      )}
    </aside>
  );
}

interface EntryProps {
  readonly facts: SessionFacts;
  readonly entry: EntryView;
  readonly onShowAll: () => void;
}

function Entry({ facts, entry, onShowAll }: EntryProps): VNode {
  const { row } = entry;
  useEffect(() => document.getElementById("entry")?.scrollTo(0, 0), [row.id]);
  return (
    <article>
      <EntryHeader facts={facts} entry={entry} />
      {row.isDamaged ? (
        <p class="failed">This line of the file is damaged. Its remains are below.</p>
      ) : null}
      {entry.blocks.map((block, index) => (
        <BlockView
          key={`${row.id}/${index}`}
          block={block}
          sessionKey={facts.item.key}
          cwd={facts.item.cwd}
          isOpen
        />
      ))}
      {entry.isCut ? (
        <button type="button" onClick={onShowAll}>
          Show all
        </button>
      ) : null}
      <details class="block" open={row.isDamaged}>
        <summary>Stored line</summary>
        <Code text={entry.raw} language={row.isDamaged ? "" : "json"} />
      </details>
    </article>
  );
}

function EntryHeader({ facts, entry }: Omit<EntryProps, "onShowAll">): VNode {
  const { row, parentRow, childRows, model, usage } = entry;
  const { key } = facts.item;
  const { mark, word } = rowKind(row);
  return (
    <header>
      <h2 data-mark={mark}>
        {word}
        {row.label === null ? null : <span class="chip label">{row.label}</span>}
        {row.isLeaf ? <span class="chip leaf">leaf</span> : null}
      </h2>
      <p class="facts">
        <span>#{row.row}</span>
        <time>{formatTime(row.timeMs)}</time>
        {model === null ? null : <span>{model}</span>}
        {usage === null ? null : (
          <span>
            {formatCount(usage.input + usage.cacheRead + usage.cacheWrite)} in,{" "}
            {formatCount(usage.output)} out
            {usage.cost === null ? "" : `, ${formatCost(usage.cost)}`}
          </span>
        )}
        <code>{row.id}</code>
      </p>
      <p class="facts">
        <RowLink sessionKey={key} row={parentRow} text="↑ parent" />
        {childRows.map((child, index) => (
          <RowLink
            key={child}
            sessionKey={key}
            row={child}
            text={childRows.length === 1 ? "↓ child" : `↓ branch ${index + 1}`}
          />
        ))}
      </p>
      <EntryActions facts={facts} entry={entry} />
    </header>
  );
}

function EntryActions({ facts, entry: { row } }: Omit<EntryProps, "onShowAll">): VNode {
  const { key } = facts.item;
  return (
    <div class="buttons">
      <Link class="button" to={{ kind: "context", key, row: row.row }}>
        Context here
      </Link>
      <button type="button" onClick={() => copy("the id", row.id)}>
        Copy id
      </button>
      {facts.canWrite ? (
        <>
          <button type="button" onClick={() => changeLabel(facts, row)}>
            Label…
          </button>
          <button type="button" onClick={() => forkSession(facts, row)}>
            Fork here…
          </button>
        </>
      ) : null}
    </div>
  );
}
