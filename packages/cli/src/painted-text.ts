/**
 * Colours that foreign text cannot forge. Styles write a mark of this process where the escape
 * sequence of a colour begins; only {@link terminalText} converts marks to sequences, after it
 * replaced all other control characters. Pure, except for the mark.
 */
import { randomUUID } from "node:crypto";
import type { Paint, Style } from "./style.ts";
import { cleanText } from "./text/clean-text.ts";

const escape = "\u001B";
/** A private-use character and a random part that no file can know. */
const mark = `\uE000${randomUUID()}`;

/** The style with marks instead of escape sequences; the text in it is cleaned. */
export function markedStyle(style: Style): Style {
  // A nested colour is closed by reopening the outer one, so its sequence must stay recognisable.
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

/** The text fit for a terminal: lines, tabs, and colours of a {@link markedStyle}. */
export function terminalText(text: string): string {
  return cleanText(text).replaceAll(mark, escape);
}
