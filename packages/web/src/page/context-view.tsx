/** The context of the model at an entry. */
import { useState } from "preact/hooks";
import type { VNode } from "preact";
import type { ContextMessage, TurnBlock } from "../api.ts";
import { BlockView, RowLink, SessionLink } from "./block-view.tsx";
import { fetchContext } from "./client.ts";
import { useKeys } from "./keyboard.ts";
import { Pending, useLoaded } from "./loading.tsx";
import { formatCount, plural } from "./model/formatting.ts";
import { rowKind } from "./model/row-kind.ts";
import { sessionPlace } from "./model/route.ts";
import { go } from "./navigation.tsx";

interface ContextPageProps {
  readonly sessionKey: string;
  readonly row: number;
}

export function ContextPage({ sessionKey, row }: ContextPageProps): VNode {
  const [isExpanded, setExpanded] = useState(false);
  const name = `${sessionKey}/${row}`;
  const { value, failure } = useLoaded(name, () => fetchContext(sessionKey, row));
  useKeys({ Escape: () => go(sessionPlace(sessionKey, row)) });
  if (value === null) return <Pending failure={failure} />;
  const tokens = value.messages.reduce((sum, message) => sum + message.tokens, 0);
  const longest = value.messages.reduce((most, message) => Math.max(most, message.tokens), 1);
  return (
    <section class="page">
      <h1 class="trail">
        <SessionLink sessionKey={sessionKey} row={row} />
        <span>Context</span>
      </h1>
      <p class="facts">
        <RowLink sessionKey={sessionKey} row={row} text="at entry" />
        <span>{plural(value.messages.length, "message")}</span>
        <span>about {formatCount(tokens)} tokens</span>
        {value.model === null ? null : <span>{value.model}</span>}
        <span>thinking: {value.thinkingLevel}</span>
      </p>
      {value.isApproximate ? (
        <p class="findings">
          A part above is missing, or only partly known: the agent may send other messages.
        </p>
      ) : null}
      <div class="buttons">
        <button type="button" aria-pressed={isExpanded} onClick={() => setExpanded(!isExpanded)}>
          {isExpanded ? "Collapse all" : "Expand all"}
        </button>
      </div>
      {value.messages.map((message, index) => (
        <Message
          key={`${index}/${isExpanded}`}
          message={message}
          sessionKey={sessionKey}
          share={message.tokens / longest}
          isOpen={isExpanded || index === value.messages.length - 1}
        />
      ))}
    </section>
  );
}

interface MessageProps {
  readonly message: ContextMessage;
  readonly sessionKey: string;
  /** Its tokens, as a part of those of the longest one. */
  readonly share: number;
  readonly isOpen: boolean;
}

/** Blocks are built when the message is opened: a context can have thousands. */
function Message({ message, sessionKey, share, isOpen }: MessageProps): VNode {
  const [isShown, setShown] = useState(isOpen);
  return (
    <details
      class="message"
      data-role={message.role}
      open={isShown}
      onToggle={({ currentTarget }) => setShown(currentTarget.open)}
    >
      <summary>
        <span class="row-kind">{wordOf(message)}</span>
        <span class="message-text">{isShown ? "" : firstTextOf(message.blocks)}</span>
        <span class="share" aria-hidden="true">
          <span style={{ width: `${share * 100}%` }} />
        </span>
        <span class="number">{formatCount(message.tokens)}</span>
      </summary>
      {isShown
        ? message.blocks.map((block, index) => (
            <BlockView key={index} block={block} sessionKey={sessionKey} cwd="" isOpen />
          ))
        : null}
    </details>
  );
}

function wordOf({ role }: ContextMessage): string {
  return rowKind({ role, type: "message", isError: false, isDamaged: false }).word;
}

function firstTextOf(blocks: readonly TurnBlock[]): string {
  const [first] = blocks;
  if (first === undefined) return "";
  if (first.kind === "call") return `${first.tool} ${first.line}`;
  return "text" in first ? first.text.slice(0, 200) : first.kind;
}
