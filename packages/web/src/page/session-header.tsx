/** The facts above the rows of a session, and the jumps within it. */
import type { ComponentChildren, VNode } from "preact";
import type { SessionFacts } from "../api.ts";
import { changeName, deleteSession } from "./changes.ts";
import { fetchPlace } from "./client.ts";
import { Failure } from "./loading.tsx";
import { nextBranch, previousBranch } from "./model/branch-jumps.ts";
import { formatBytes, formatCost, formatCount, plural, shortPath } from "./model/formatting.ts";
import { entriesPlace, sessionPlace } from "./model/route.ts";
import { Link } from "./navigation.tsx";
import { attempt, copy } from "./notice.tsx";
import { titleOf } from "./model/session-title.ts";
import { isFresh } from "./session-catalog.ts";

interface HeaderProps {
  readonly facts: SessionFacts;
  readonly failure: string | null;
  readonly view: "session" | "entries";
  /** The entry that the reader is at. */
  readonly row: number;
  /** The jumps of the view. */
  readonly children: ComponentChildren;
}

export function SessionHeader({ facts, failure, view, row, children }: HeaderProps): VNode {
  const { item } = facts;
  const branchCount = facts.tree?.tipCount ?? item.activity?.branchCount;
  return (
    <header class="session-header">
      <div class="session-title">
        <h1 title={item.path}>{titleOf(item)}</h1>
        {isFresh(item) ? <span class="chip live">live</span> : null}
      </div>
      <p class="facts">
        <span class={`agent agent-${item.agent}`}>{item.agent}</span>
        <span title={item.cwd}>{shortPath(item.cwd)}</span>
        <span>{plural(facts.rowCount, "entry", "entries")}</span>
        {branchCount === undefined ? null : (
          <strong class="branches">{plural(branchCount, "branch", "branches")}</strong>
        )}
        <span>{formatBytes(item.sizeBytes)}</span>
        {facts.usage === null ? null : <UsageFacts facts={facts} />}
        <span class="models">{item.models.join(", ")}</span>
      </p>
      {failure === null ? null : <Failure text={failure} />}
      <Findings findings={facts.findings} />
      <nav class="jumps" aria-label="Jumps">
        <Link
          class="button view-link"
          to={sessionPlace(item.key, row)}
          isCurrent={view === "session"}
        >
          Conversation
        </Link>
        <Link
          class="button view-link"
          to={entriesPlace(item.key, row)}
          isCurrent={view === "entries"}
        >
          Entries <kbd>t</kbd>
        </Link>
        {children}
        <SessionActions facts={facts} row={row} />
      </nav>
    </header>
  );
}

function UsageFacts({ facts: { usage } }: Pick<HeaderProps, "facts">): VNode | null {
  if (usage === null) return null;
  const tokens = usage.input + usage.output;
  const title = `${formatCount(usage.input)} in, ${formatCount(usage.output)} out, ${formatCount(
    usage.cacheRead,
  )} read from cache, ${formatCount(usage.cacheWrite)} written to cache`;
  return (
    <span title={title}>
      {formatCount(tokens)} tokens ·{" "}
      {usage.cost === null ? "price unknown" : formatCost(usage.cost)}
    </span>
  );
}

function Findings({ findings }: Pick<SessionFacts, "findings">): VNode | null {
  if (findings.length === 0) return null;
  return (
    <details class="findings">
      <summary>{plural(findings.length, "finding")}</summary>
      <ul>
        {findings.map((finding) => (
          <li key={finding}>{finding}</li>
        ))}
      </ul>
    </details>
  );
}

interface JumpsProps {
  readonly facts: SessionFacts;
  readonly active: number;
  readonly show: (row: number, isCentred: boolean) => void;
}

export function Jumps({ facts, active, show }: JumpsProps): VNode {
  const previous = previousBranch(facts.tree?.branchRows ?? [], active);
  const next = nextBranch(facts.tree?.branchRows ?? [], active);
  const jump = (row: number | null | undefined): void => {
    if (row !== null && row !== undefined) show(row, true);
  };
  return (
    <>
      <button type="button" disabled={facts.leafRow === null} onClick={() => jump(facts.leafRow)}>
        ◉ Leaf <kbd>l</kbd>
      </button>
      <button type="button" disabled={previous === undefined} onClick={() => jump(previous)}>
        ↑ Branch <kbd>[</kbd>
      </button>
      <button type="button" disabled={next === undefined} onClick={() => jump(next)}>
        ↓ Branch <kbd>]</kbd>
      </button>
      {facts.labels.length === 0 ? null : <LabelMenu facts={facts} jump={jump} />}
      <input
        class="entry-id"
        placeholder="entry id"
        aria-label="Go to the entry with this id"
        onKeyDown={({ key, currentTarget }) => {
          const id = currentTarget.value.trim();
          if (key !== "Enter" || id === "") return;
          attempt(async () => jump((await fetchPlace(facts.item.key, id)).row));
        }}
      />
    </>
  );
}

interface LabelMenuProps {
  readonly facts: SessionFacts;
  readonly jump: (row: number) => void;
}

function LabelMenu({ facts, jump }: LabelMenuProps): VNode {
  return (
    <select
      aria-label="Go to a label"
      value=""
      onChange={({ currentTarget }) => {
        jump(Number(currentTarget.value));
        currentTarget.value = "";
      }}
    >
      <option value="" disabled>
        Labels
      </option>
      {facts.labels.map(({ row, label }) => (
        <option key={row} value={row}>
          {label}
        </option>
      ))}
    </select>
  );
}

function SessionActions({ facts, row }: Pick<HeaderProps, "facts" | "row">): VNode {
  const { resume, item, canWrite } = facts;
  return (
    <>
      {facts.rowCount === 0 ? null : (
        <Link class="button" to={{ kind: "context", key: item.key, row }}>
          Context <kbd>c</kbd>
        </Link>
      )}
      {resume === null ? null : (
        <button type="button" title={resume} onClick={() => copy("the command", resume)}>
          Copy resume command
        </button>
      )}
      {canWrite ? (
        <>
          <button type="button" onClick={() => changeName(facts)}>
            Name…
          </button>
          <button type="button" class="danger" onClick={() => deleteSession(facts)}>
            Delete…
          </button>
        </>
      ) : null}
    </>
  );
}
