/** One block of an entry or of a context, in the form that suits it. */
import type { VNode } from "preact";
import type { Block } from "../api.ts";
import { fetchEntry } from "./client.ts";
import { useLoaded } from "./loading.tsx";
import { diffLines } from "./model/diff-lines.ts";
import { formatBytes, formatCount, withoutEscapes } from "./model/formatting.ts";
import { entriesPlace } from "./model/route.ts";
import { Link } from "./navigation.tsx";
import { Code, Diff, Markdown } from "./rich-text.tsx";

/** Longer text is shown plain: parsing of hostile text takes time with the square of its length. */
const markdownMax = 20_000;

interface BlockViewProps {
  readonly block: Block;
  readonly sessionKey: string;
  /** Whether results of calls are fetched and shown below them. */
  readonly hasResults: boolean;
  readonly onShowAll: (() => void) | undefined;
}

export function BlockView(props: BlockViewProps): VNode {
  const { block, onShowAll } = props;
  const cut = "cut" in block ? block.cut : 0;
  return (
    <>
      <BlockBody {...props} />
      {cut > 0 ? (
        <p class="cut">
          {formatCount(cut)} more characters{" "}
          {onShowAll === undefined ? null : (
            <button type="button" onClick={onShowAll}>
              Show all
            </button>
          )}
        </p>
      ) : null}
    </>
  );
}

function BlockBody({ block, sessionKey, hasResults }: BlockViewProps): VNode | null {
  switch (block.kind) {
    case "text":
      if (block.text.length > markdownMax) return <Code text={block.text} language="" />;
      return <Markdown text={block.text} />;
    case "thinking":
      return (
        <details class="block thinking">
          <summary>Thinking · {formatCount(block.text.length + block.cut)} characters</summary>
          <Markdown text={block.text} />
        </details>
      );
    case "call":
      return <Call call={block} sessionKey={sessionKey} hasResults={hasResults} />;
    case "result":
      return <Result result={block} sessionKey={sessionKey} />;
    case "image":
      return <Picture source={block.source} sizeBytes={block.sizeBytes} />;
    case "data":
      return (
        <details class="block">
          <summary>{block.title}</summary>
          <Code text={block.text} language="json" />
        </details>
      );
  }
}

interface CallProps {
  readonly call: Extract<Block, { kind: "call" }>;
  readonly sessionKey: string;
  readonly hasResults: boolean;
}

function Call({ call, sessionKey, hasResults }: CallProps): VNode {
  const { use } = call;
  return (
    <div class="block">
      <p class="block-head">
        <code class="tool">{call.tool}</code>
        <RowLink sessionKey={sessionKey} row={call.resultRow} text="result" />
      </p>
      {use.kind === "edit" || use.kind === "write" ? (
        <>
          <p class="path">{use.path}</p>
          <Diff lines={use.lines} />
        </>
      ) : use.kind === "shell" ? (
        <Code text={use.command} language="bash" />
      ) : (
        <Code text={call.input} language="json" />
      )}
      {hasResults && call.resultRow !== null ? (
        <ResultOfCall id={call.id} sessionKey={sessionKey} row={call.resultRow} />
      ) : null}
    </div>
  );
}

interface ResultOfCallProps {
  readonly id: string;
  readonly sessionKey: string;
  readonly row: number;
}

function ResultOfCall({ id, sessionKey, row }: ResultOfCallProps): VNode | null {
  const name = `${sessionKey}/${row}`;
  const { value } = useLoaded(name, () => fetchEntry(sessionKey, row, false));
  const block = value?.blocks.find((each) => each.kind === "result" && each.id === id);
  if (block?.kind !== "result") return null;
  return <ResultText result={block} />;
}

interface ResultProps {
  readonly result: Extract<Block, { kind: "result" }>;
  readonly sessionKey: string;
}

function Result({ result, sessionKey }: ResultProps): VNode {
  return (
    <div class="block">
      <p class="block-head">
        <code class="tool">{result.tool}</code>
        {result.isError ? <span class="chip error">error</span> : null}
        <RowLink sessionKey={sessionKey} row={result.callRow} text="call" />
      </p>
      <ResultText result={result} />
    </div>
  );
}

export function ResultText({
  result,
}: {
  readonly result: { readonly text: string; readonly isError: boolean };
}): VNode {
  const text = withoutEscapes(result.text);
  const lines = diffLines(text);
  return (
    <div class="result-text" data-error={result.isError}>
      {lines === null ? <Code text={text} language="" /> : <Diff lines={lines} />}
    </div>
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

/** Only pictures that are a part of the session; the server checks their type too. */
export function Picture({
  source,
  sizeBytes,
}: {
  readonly source: string;
  readonly sizeBytes: number;
}) {
  const size = formatBytes(sizeBytes);
  if (!/^data:image\/(png|jpeg|gif|webp);/.test(source)) {
    return <p class="absent-image">image of {size}, not shown</p>;
  }
  return <img class="picture" src={source} alt={`Image of ${size} in the session`} />;
}
