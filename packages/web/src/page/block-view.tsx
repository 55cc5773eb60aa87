/** One block of a conversation, of an entry or of a context, in the form that suits it. */
import type { VNode } from "preact";
import type { TurnBlock } from "../api.ts";
import { CallView } from "./call-view.tsx";
import { formatCount } from "./model/formatting.ts";
import { entriesPlace, sessionPlace } from "./model/route.ts";
import { titleOf as sessionTitle } from "./model/session-title.ts";
import { Link } from "./navigation.tsx";
import { Code, Markdown, Picture } from "./rich-text.tsx";
import { sessionItems } from "./session-catalog.ts";

/** Longer text is shown plain: parsing of hostile text takes time with the square of its length. */
const markdownMax = 20_000;

interface BlockViewProps {
  readonly block: TurnBlock;
  readonly sessionKey: string;
  /** The directory of the session. */
  readonly cwd: string;
  /** Whether calls, notes and thoughts are opened. */
  readonly isOpen?: boolean;
}

export function BlockView({
  block,
  sessionKey,
  cwd,
  isOpen = false,
}: BlockViewProps): VNode | null {
  switch (block.kind) {
    case "prompt":
      return (
        <div class="further-prompt">
          <Text block={block} sessionKey={sessionKey} />
        </div>
      );
    case "answer":
      return <Text block={block} sessionKey={sessionKey} />;
    case "error":
      return <p class="failed answer-error">{block.text}</p>;
    case "thinking":
    case "note":
    case "compaction":
    case "branchSummary":
      if (block.text.trim() === "") return null;
      return (
        <details class="folded" open={isOpen}>
          <summary>
            <b>{titleOf(block)}</b> <span class="gist">{block.text.slice(0, 200)}</span>
          </summary>
          <div class="folded-text">
            {"isOutput" in block && block.isOutput ? (
              <Code text={block.text} language="" />
            ) : (
              <Text block={block} sessionKey={sessionKey} />
            )}
          </div>
        </details>
      );
    case "call":
      return <CallView call={block} sessionKey={sessionKey} cwd={cwd} isOpen={isOpen} />;
    case "image":
      return <Picture source={block.source} sizeBytes={block.sizeBytes} />;
    case "data":
      return (
        <details class="block">
          <summary>{block.title}</summary>
          <Code text={block.text} language="json" />
          <Cut block={block} sessionKey={sessionKey} />
        </details>
      );
    case "mark":
      return (
        <p class="mark-line">
          {block.title} <span>{block.text}</span>
        </p>
      );
  }
}

function titleOf(block: TurnBlock): string {
  if (block.kind === "thinking") return "Thinking";
  if (block.kind === "branchSummary") return "Summary of another branch";
  if (block.kind !== "compaction") return "title" in block ? block.title : block.kind;
  return block.tokensBefore > 0
    ? `Compaction of ${formatCount(block.tokensBefore)} tokens`
    : "Compaction";
}

interface TextProps {
  readonly block: { readonly row: number; readonly text: string; readonly cut: number };
  readonly sessionKey: string;
}

function Text({ block, sessionKey }: TextProps): VNode {
  const { text } = block;
  return (
    <>
      {text.length > markdownMax ? <Code text={text} language="" /> : <Markdown text={text} />}
      <Cut block={block} sessionKey={sessionKey} />
    </>
  );
}

function Cut({ block: { row, cut }, sessionKey }: TextProps): VNode | null {
  if (cut === 0) return null;
  return (
    <p class="cut">
      {formatCount(cut)} more characters{" "}
      {row < 0 ? null : <Link to={entriesPlace(sessionKey, row)}>Show the entry</Link>}
    </p>
  );
}

interface SessionLinkProps {
  readonly sessionKey: string;
  readonly row: number;
}

/** Back to the conversation that a view is of. */
export function SessionLink({ sessionKey, row }: SessionLinkProps): VNode {
  const item = sessionItems.value.find(({ key }) => key === sessionKey);
  return (
    <Link to={sessionPlace(sessionKey, row)}>
      {item === undefined ? "Conversation" : sessionTitle(item)}
    </Link>
  );
}

interface RowLinkProps {
  readonly sessionKey: string;
  readonly row: number | null;
  readonly text: string;
}

export function RowLink({ sessionKey, row, text }: RowLinkProps): VNode | null {
  if (row === null) return null;
  return (
    <Link class="row-link" to={entriesPlace(sessionKey, row)}>
      {text} #{row}
    </Link>
  );
}
