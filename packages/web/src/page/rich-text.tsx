/** Text, code and changes of text as elements. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { VNode } from "preact";
import { highlight } from "./highlighting.ts";
import { renderMarkdown } from "./markdown.ts";
import { diffLines } from "./model/diff-lines.ts";
import { formatBytes, withoutEscapes } from "./model/formatting.ts";
import type { ChangedLine } from "@branchlog/library/conversation";

export function Markdown({ text }: { readonly text: string }): VNode {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (element.current === null) return;
    for (const code of renderMarkdown(element.current, text)) {
      highlight(code.element, code.language);
    }
  }, [text]);
  return <div class="markdown" ref={element} />;
}

interface CodeProps {
  readonly text: string;
  /** As highlight.js names it; empty: plain. */
  readonly language: string;
}

export function Code({ text, language }: CodeProps): VNode {
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (element.current === null) return;
    element.current.textContent = text;
    if (language !== "") highlight(element.current, language);
  }, [text, language]);
  return (
    <pre class="code" tabIndex={0}>
      <code ref={element} />
    </pre>
  );
}

export function Diff({ lines }: { readonly lines: readonly ChangedLine[] }): VNode {
  return (
    <pre class="code diff" tabIndex={0}>
      {lines.map(({ kind, text }) => (
        <span class={`diff-${kind}`}>{`${text}\n`}</span>
      ))}
    </pre>
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
