/** Next to the list: what the session is about, how it went, and how it ended. */
import type { VNode } from "preact";
import type { Row, RowPage, SessionFacts, SessionItem } from "../api.ts";
import { archiveChosen, restoreChosen } from "./archiving.ts";
import { fetchFacts, fetchRows } from "./client.ts";
import { useLoaded } from "./loading.tsx";
import {
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatTime,
  plural,
} from "./model/formatting.ts";
import { rowsPerPage } from "./model/page-cache.ts";
import { sessionPlace } from "./model/route.ts";
import { titleOf } from "./model/session-title.ts";
import { Link } from "./navigation.tsx";
import { copy } from "./notice.tsx";
import { catalog } from "./session-catalog.ts";
import { Sparkline } from "./sparkline.tsx";

/** Longer sessions are not opened for a preview. */
const openedBytesMax = 32_000_000;
/** So long a session is pointed at before it is opened. */
const settleMs = 150;
const promptsMax = 6;

interface Opened {
  readonly facts: SessionFacts;
  readonly end: RowPage;
}

export function SessionPreview({ item }: { readonly item: SessionItem }): VNode {
  const firstPrompt = item.firstPrompt ?? item.firstMessage;
  const isOpened = !item.isArchived && item.sizeBytes <= openedBytesMax;
  return (
    <aside class="preview" aria-label="Preview">
      <h2>{titleOf(item)}</h2>
      <PreviewFacts item={item} />
      {item.activity === null ? null : <Busy item={item} />}
      {firstPrompt === null ? null : (
        <section>
          <h3>First prompt</h3>
          <p class="preview-text">{firstPrompt}</p>
        </section>
      )}
      {isOpened ? <PreviewEnd key={item.key} item={item} /> : null}
      <PreviewActions item={item} />
    </aside>
  );
}

function PreviewFacts({ item }: { readonly item: SessionItem }): VNode {
  const { activity, agent, models, cost, tokens } = item;
  const estimate = item.isEstimate ? " estimated" : "";
  const facts: readonly (readonly [string, string | null])[] = [
    ["Agent", [agent, ...models].join(" · ")],
    ["Project", item.cwd],
    ["Turns", activity === null ? null : formatCount(activity.turns)],
    ["Branches", activity === null ? null : formatCount(activity.branchCount)],
    ["Busy", activity === null ? null : formatDuration(activity.activeMs)],
    ["Cost", cost === null ? "unknown" : `${formatCost(cost)}${estimate}`],
    ["Tokens", tokens === null ? null : formatCount(tokens)],
    ["File", `${plural(item.messageCount, "message")}, ${formatBytes(item.sizeBytes)}`],
  ];
  return (
    <dl class="preview-facts">
      {facts.map(([name, value]) =>
        value === null || value === "" ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

function Busy({ item: { activity, modifiedMs } }: { readonly item: SessionItem }): VNode | null {
  if (activity === null) return null;
  return (
    <figure class="busy">
      <Sparkline activity={activity} />
      <figcaption>
        <span>{formatTime(activity.startedMs ?? modifiedMs).slice(0, 16)}</span>
        <span>{formatTime(modifiedMs).slice(0, 16)}</span>
      </figcaption>
    </figure>
  );
}

/** The last prompts and the last answer, from the last rows of the session. */
function PreviewEnd({ item }: { readonly item: SessionItem }): VNode | null {
  const name = `${item.key} ${item.sizeBytes}`;
  const { value, failure } = useLoaded<Opened>(
    name,
    async () => {
      const facts = await fetchFacts(item.key, false);
      const page = Math.floor(Math.max(0, facts.rowCount - 1) / rowsPerPage);
      return { facts, end: await fetchRows(item.key, page) };
    },
    settleMs,
  );
  if (failure !== null) return <p class="failed">{failure}</p>;
  if (value === null) return <span class="skeleton-bar" />;
  const prompts = value.end.rows.filter(({ role, text }) => role === "user" && text !== "");
  const answer = value.end.rows.findLast(isAnswer);
  const { findings, resume } = value.facts;
  return (
    <>
      {prompts.length < 2 ? null : (
        <section>
          <h3>Last prompts</h3>
          <ol class="preview-prompts">
            {prompts.slice(-promptsMax).map((row) => (
              <li key={row.row}>
                <Link to={sessionPlace(item.key, row.row)}>{row.text}</Link>
              </li>
            ))}
          </ol>
        </section>
      )}
      {answer === undefined ? null : (
        <section>
          <h3>Last answer</h3>
          <p class="preview-text">{answer.text}</p>
        </section>
      )}
      {findings.length === 0 ? null : (
        <p class="findings">{plural(findings.length, "finding")} in the file</p>
      )}
      {resume === null ? null : (
        <p class="preview-resume">
          <code>{resume}</code>
          <button type="button" onClick={() => copy("the command", resume)}>
            Copy
          </button>
        </p>
      )}
    </>
  );
}

function isAnswer({ role, text, tools }: Row): boolean {
  return role === "assistant" && text !== "" && tools.length === 0;
}

function PreviewActions({ item }: { readonly item: SessionItem }): VNode {
  const { canWrite } = catalog.value;
  if (item.isArchived) {
    return (
      <div class="buttons">
        {canWrite ? (
          <button type="button" class="primary" onClick={() => restoreChosen([item])}>
            Restore
          </button>
        ) : (
          <p class="count">
            In the archive. <code>branchlog restore {item.id}</code> restores it.
          </p>
        )}
      </div>
    );
  }
  return (
    <div class="buttons">
      <Link class="button primary" to={sessionPlace(item.key)}>
        Open
      </Link>
      {canWrite ? (
        <button type="button" onClick={() => archiveChosen([item])}>
          Archive
        </button>
      ) : null}
    </div>
  );
}
