/** Text, code and changes of text as elements. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { VNode } from "preact";
import { highlight } from "./highlighting.ts";
import { renderMarkdown } from "./markdown.ts";
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
