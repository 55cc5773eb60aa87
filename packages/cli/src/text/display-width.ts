/**
 * The columns that text takes on a terminal: two for characters of East Asia and emoji, none for
 * marks that join the character before them. Pure; not by Intl, which takes long to load.
 */
import { cleanText } from "./clean-text.ts";

const joining = /[\p{Mn}\p{Me}\p{Cf}]/u;
const asian = /\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}/u;
const fullWidth = /[\u3000-\u303E\uFF01-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation}/u;
/** Of these scripts, but as wide as a letter: half-width forms. */
const halfWidth = /[\uFF61-\uFFDC]/u;
const plain = /^[ -~]*$/;

export function displayWidth(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** With an ellipsis if it was cut; at most this many columns, at least one. */
export function fitted(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let width = 0;
  let end = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns - 1) break;
    end += character.length;
  }
  return `${cleanText(text.slice(0, end)).trimEnd()}…`;
}

export function padded(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - displayWidth(text)));
}

function widthOf(character: string): number {
  if (joining.test(character)) return 0;
  if (halfWidth.test(character)) return 1;
  return asian.test(character) || fullWidth.test(character) ? 2 : 1;
}
