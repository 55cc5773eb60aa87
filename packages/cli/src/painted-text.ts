/**
 * Colours that the text of others cannot forge. Paints write a mark of this process where the
 * escape sequence of a colour begins; only {@link terminalText} makes sequences of marks, after it
 * replaced everything else that would steer a terminal. Pure, but for the mark.
 */
import { randomUUID } from "node:crypto";
import type { Paint, Style } from "./style.ts";
import { cleanText } from "./text/clean-text.ts";

const escape = "\u001B";
/** A character for private use, and what no file can know. */
const mark = `\uE000${randomUUID()}`;

/** The style with marks instead of escape sequences; what it paints is cleaned. */
export function markedStyle(style: Style): Style {
  // A colour inside another one is closed by opening that again: it has to be seen as what it is.
  const marked =
    (paint: Paint): Paint =>
    (text) =>
      paint(terminalText(text)).replaceAll(escape, mark);
  return {
    heading: marked(style.heading),
    faint: marked(style.faint),
    good: marked(style.good),
    bad: marked(style.bad),
    warning: marked(style.warning),
    label: marked(style.label),
    user: marked(style.user),
    assistant: marked(style.assistant),
    tool: marked(style.tool),
  };
}

/** The text as a terminal may have it: lines, tabs, and colours of a {@link markedStyle}. */
export function terminalText(text: string): string {
  return cleanText(text).replaceAll(mark, escape);
}
