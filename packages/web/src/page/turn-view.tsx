/** One turn of a conversation, or a part of a long one: its prompt as heading, then its blocks. */
import type { VNode } from "preact";
import type { BranchPoint, BranchWay, SessionFacts, TurnBlock, TurnSection } from "../api.ts";
import { BlockView } from "./block-view.tsx";
import { isExported } from "./exported.ts";
import { formatCost, formatCount, plural } from "./model/formatting.ts";
import { entriesPlace, sessionPlace } from "./model/route.ts";
import { Link } from "./navigation.tsx";
import { ShareTurns } from "./share-turns.tsx";
import { Files, HeadFacts } from "./turn-facts.tsx";

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
            <HeadFacts head={head}>
              <span class="turn-number" title={`Turn ${turn + 1} of ${turnCount}`}>
                {turn + 1}
              </span>
            </HeadFacts>
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
            <BlockView block={block} sessionKey={key} cwd={facts.item.cwd} />
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

interface WaysBehindProps {
  readonly sessionKey: string;
  readonly row: number;
  /** Blocks that follow: the ways come after the last block of their entry. */
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
  const shown = ways.find(({ isShown, row }) => isShown && row >= 0);
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
              <span class="way-facts">{wayFacts(way)}</span>
            </Link>
            {shown === undefined || way === shown || way.row < 0 || isExported ? null : (
              <Link
                class="way-compare"
                to={{ kind: "compare", key: sessionKey, from: shown.row, to: way.row }}
                title="Other than the branch shown"
              >
                compare
              </Link>
            )}
          </li>
        ))}
      </ol>
      {wayCount > ways.length ? (
        <p>{plural(wayCount - ways.length, "more branch", "more branches")}</p>
      ) : null}
    </nav>
  );
}

function wayFacts(way: BranchWay): string {
  const facts = [
    way.isShown ? "shown" : null,
    way.isOnPath ? "to the leaf" : null,
    plural(way.turns, "turn"),
    `${way.isMore ? "> " : ""}${plural(way.entries, "entry", "entries")}`,
    way.cost === null ? null : formatCost(way.cost),
  ];
  return facts.filter((fact) => fact !== null).join(" · ");
}
