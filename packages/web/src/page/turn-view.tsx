/** One turn of a conversation, or a part of a long one: its prompt as heading, then its blocks. */
import type { VNode } from "preact";
import type { BranchPoint, SessionFacts, TurnBlock, TurnHead, TurnSection } from "../api.ts";
import { CallView } from "./call-view.tsx";
import { BlockView, Picture } from "./block-view.tsx";
import {
  formatCost,
  formatCount,
  formatDuration,
  formatShortTime,
  formatTime,
  plural,
  shortPath,
} from "./model/formatting.ts";
import { entriesPlace, sessionPlace } from "./model/route.ts";
import { Link } from "./navigation.tsx";
import { now } from "./session-catalog.ts";
import { ShareTurns } from "./share-turns.tsx";

export function sectionElementId(section: number): string {
  return `section-${section}`;
}

interface SectionProps {
  readonly facts: SessionFacts;
  readonly section: TurnSection;
  readonly isActive: boolean;
  readonly markedRow: number | null;
  readonly turnCount: number;
}

export function SectionView({
  facts,
  section,
  isActive,
  markedRow,
  turnCount,
}: SectionProps): VNode {
  const { head, blocks, branches, turn } = section;
  const { key } = facts.item;
  const first = head === null ? -1 : blocks.findIndex(({ kind }) => kind !== "mark");
  const prompt = blocks[first];
  const hasPrompt = prompt?.kind === "prompt";
  const rest = hasPrompt ? blocks.toSpliced(first, 1) : blocks;
  const pointsAt = new Map(branches.map((point) => [point.row, point]));
  const top = pointsAt.get(-1);
  return (
    <article
      class="turn"
      id={sectionElementId(section.section)}
      data-section={section.section}
      data-active={isActive}
      data-first={head !== null}
    >
      {top === undefined ? null : <Ways sessionKey={key} point={top} />}
      {head === null ? null : (
        <header class="turn-head" data-row={hasPrompt ? prompt.row : undefined}>
          <div class="turn-line">
            <HeadFacts head={head} turn={turn} turnCount={turnCount} />
            <ShareTurns
              sessionKey={key}
              turn={turn}
              firstRow={section.firstRow}
              lastRow={head.lastRow}
            />
          </div>
          <Prompt text={hasPrompt ? prompt.text : ""} label={labelAt(facts, prompt?.row)} />
          <Files head={head} />
        </header>
      )}
      {hasPrompt ? (
        <WaysBehind sessionKey={key} row={prompt.row} rest={rest} points={pointsAt} />
      ) : null}
      {rest.map((block, at) => (
        <>
          <div
            class="turn-block"
            key={`${block.row}/${at}`}
            data-kind={block.kind}
            data-row={block.row}
            data-wanted={block.row === markedRow}
          >
            <TurnBlockView block={block} facts={facts} />
            <Link
              class="entry-link"
              to={entriesPlace(key, block.row)}
              title={`Entry ${block.row} in the file`}
            >
              #{block.row}
            </Link>
          </div>
          <WaysBehind
            sessionKey={key}
            row={block.row}
            rest={rest.slice(at + 1)}
            points={pointsAt}
          />
        </>
      ))}
    </article>
  );
}

function labelAt({ labels }: SessionFacts, row: number | undefined): string | null {
  return labels.find((label) => label.row === row)?.label ?? null;
}

interface HeadProps {
  readonly head: TurnHead;
}

function HeadFacts({
  head,
  turn,
  turnCount,
}: HeadProps & { readonly turn: number; readonly turnCount: number }): VNode {
  const { usage } = head;
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
  const about = head.isPartial ? "≥ " : "";
  const split = [
    `${formatCount(usage.input)} in`,
    `${formatCount(usage.output)} out`,
    `${formatCount(usage.cacheRead)} read from cache`,
    `${formatCount(usage.cacheWrite)} written to cache`,
    ...head.models,
  ];
  return (
    <p class="turn-facts">
      <span class="turn-number" title={`Turn ${turn + 1} of ${turnCount}`}>
        {turn + 1}
      </span>
      <time title={formatTime(head.startedMs)}>{formatShortTime(head.startedMs, now.value)}</time>
      {head.durationMs > 0 ? <span>{formatDuration(head.durationMs)}</span> : null}
      {head.calls > 0 ? <span>{plural(head.calls, "call")}</span> : null}
      {head.errors > 0 ? <span class="failed">{head.errors} failed</span> : null}
      {tokens > 0 ? (
        <span title={split.join(", ")}>
          {about}
          {formatCount(tokens)} tokens
        </span>
      ) : null}
      {usage.cost === null ? null : (
        <strong class="turn-cost" title={head.isEstimate ? "by list prices" : "as stored"}>
          {about}
          {head.isEstimate ? "~" : ""}
          {formatCost(usage.cost)}
        </strong>
      )}
    </p>
  );
}

const promptUnitsMax = 360;
const promptLinesMax = 5;

/** A long prompt has its beginning as heading. */
function Prompt({ text, label }: { readonly text: string; readonly label: string | null }): VNode {
  const whole = text.trim();
  const lines = whole.split("\n");
  const isLong = whole.length > promptUnitsMax || lines.length > promptLinesMax;
  const start = lines.slice(0, promptLinesMax).join("\n").slice(0, promptUnitsMax);
  return (
    <>
      <h2>
        {label === null ? null : <span class="chip label">{label}</span>}
        {whole === "" ? "(no prompt)" : isLong ? `${start} …` : whole}
      </h2>
      {isLong ? (
        <details class="whole-prompt">
          <summary>The whole prompt, {formatCount(whole.length)} characters</summary>
          <div class="prompt-text">{whole}</div>
        </details>
      ) : null}
    </>
  );
}

const filesMax = 6;

function Files({ head: { files } }: HeadProps): VNode | null {
  if (files.length === 0) return null;
  return (
    <p class="turn-files">
      {files.slice(0, filesMax).map(({ path, added, removed }) => (
        <span key={path} title={path}>
          {shortPath(path).replace("…/", "")} <Change added={added} removed={removed} />
        </span>
      ))}
      {files.length > filesMax ? <span>{files.length - filesMax} more files</span> : null}
    </p>
  );
}

interface ChangeProps {
  readonly added: number;
  readonly removed: number;
}

function Change({ added, removed }: ChangeProps): VNode {
  return (
    <>
      <span class="added">+{added}</span> <span class="removed">−{removed}</span>
    </>
  );
}

interface WaysBehindProps {
  readonly sessionKey: string;
  readonly row: number;
  /** Blocks that follow: the ways come behind the last block of their entry. */
  readonly rest: readonly TurnBlock[];
  readonly points: ReadonlyMap<number, BranchPoint>;
}

function WaysBehind({ sessionKey, row, rest, points }: WaysBehindProps): VNode | null {
  if (rest.some((block) => block.row === row)) return null;
  const next = rest[0]?.row ?? Infinity;
  // A branch point may be a result, which has no block of its own.
  const point = [...points.values()].find((one) => one.row >= row && one.row < next);
  return point === undefined ? null : <Ways sessionKey={sessionKey} point={point} />;
}

function Ways({
  sessionKey,
  point: { ways, wayCount },
}: {
  readonly sessionKey: string;
  readonly point: BranchPoint;
}): VNode {
  return (
    <nav class="ways" aria-label="Branches">
      <p>
        <span class="chip forks">{plural(wayCount, "branch", "branches")} go on here</span>{" "}
        <kbd>[</kbd> <kbd>]</kbd>
      </p>
      <ol>
        {ways.map((way) => (
          <li key={way.row} data-on-path={way.isOnPath}>
            <Link to={sessionPlace(sessionKey, way.row)} isCurrent={way.isShown}>
              <span class="way-title">{way.title}</span>
              <span class="way-facts">
                {[
                  way.isShown ? "shown" : null,
                  way.isOnPath ? "to the leaf" : null,
                  plural(way.turns, "turn"),
                  `${way.isMore ? "> " : ""}${plural(way.entries, "entry", "entries")}`,
                  way.cost === null ? null : formatCost(way.cost),
                ]
                  .filter((fact) => fact !== null)
                  .join(" · ")}
              </span>
            </Link>
          </li>
        ))}
      </ol>
      {wayCount > ways.length ? (
        <p>{plural(wayCount - ways.length, "more branch", "more branches")}</p>
      ) : null}
    </nav>
  );
}

function TurnBlockView({
  block,
  facts,
}: {
  readonly block: TurnBlock;
  readonly facts: SessionFacts;
}): VNode | null {
  const { key: sessionKey, cwd } = facts.item;
  const whole = (text: string, cut: number): VNode => (
    <BlockView
      block={{ kind: "text", text, cut }}
      sessionKey={sessionKey}
      hasResults={false}
      onShowAll={undefined}
    />
  );
  switch (block.kind) {
    case "prompt":
      return <div class="further-prompt">{whole(block.text, block.cut)}</div>;
    case "answer":
      return whole(block.text, block.cut);
    case "error":
      return <p class="failed answer-error">{block.text}</p>;
    case "thinking":
      if (block.text.trim() === "") return null;
      return (
        <Folded title="Thinking" gist={block.text}>
          {whole(block.text, block.cut)}
        </Folded>
      );
    case "call":
      return <CallView call={block} sessionKey={sessionKey} cwd={cwd} />;
    case "note":
      return (
        <Folded title={block.title} gist={block.text}>
          {whole(block.text, block.cut)}
        </Folded>
      );
    case "compaction":
      return (
        <Folded
          title={
            block.tokensBefore > 0
              ? `Compaction of ${formatCount(block.tokensBefore)} tokens`
              : "Compaction"
          }
          gist={block.text}
        >
          {whole(block.text, block.cut)}
        </Folded>
      );
    case "branchSummary":
      return (
        <Folded title="Summary of another branch" gist={block.text}>
          {whole(block.text, block.cut)}
        </Folded>
      );
    case "image":
      return <Picture source={block.source} sizeBytes={block.sizeBytes} />;
    case "data":
      return (
        <BlockView block={block} sessionKey={sessionKey} hasResults={false} onShowAll={undefined} />
      );
    case "mark":
      return (
        <p class="mark-line">
          {block.title} <span>{block.text}</span>
        </p>
      );
  }
}

interface FoldedProps {
  readonly title: string;
  readonly gist: string;
  readonly children: VNode;
}

function Folded({ title, gist, children }: FoldedProps): VNode {
  return (
    <details class="folded">
      <summary>
        <b>{title}</b> <span class="gist">{gist.slice(0, 200)}</span>
      </summary>
      <div class="folded-text">{children}</div>
    </details>
  );
}
