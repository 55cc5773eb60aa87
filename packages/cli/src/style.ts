/**
 * Colours by their meaning, or none. The detection of picocolors would also consider CI and the
 * user's arguments.
 */
import { randomUUID } from "node:crypto";
import picocolors from "picocolors";
import { cleanText } from "./text/clean-text.ts";

export type Paint = (text: string) => string;

export interface Style {
  readonly heading: Paint;
  readonly faint: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly warning: Paint;
  readonly label: Paint;
  readonly user: Paint;
  readonly assistant: Paint;
  /** Text of tools, extensions and shells. */
  readonly tool: Paint;
}

export interface ColourEnvironment {
  readonly NO_COLOR?: string | undefined;
  readonly FORCE_COLOR?: string | undefined;
  readonly TERM?: string | undefined;
}

/**
 * A non-empty `NO_COLOR` disables colours; else `FORCE_COLOR` decides, where empty, `0` and `false`
 * disable them; else terminals that have them get them.
 */
export function wantsColour(isTerminal: boolean, env: ColourEnvironment): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return false;
  if (env.FORCE_COLOR !== undefined) return !["", "0", "false"].includes(env.FORCE_COLOR);
  return isTerminal && env.TERM !== "dumb";
}

export function createStyle(hasColours: boolean): Style {
  const colours = picocolors.createColors(hasColours);
  return {
    heading: colours.bold,
    faint: colours.dim,
    good: colours.green,
    bad: colours.red,
    warning: colours.yellow,
    label: colours.yellow,
    user: colours.cyan,
    assistant: colours.magenta,
    tool: colours.blue,
  };
}

export const plainStyle: Style = createStyle(false);

const escape = "\u001B";
/**
 * Marks the beginning of a colour's escape sequence, so that foreign text cannot forge colours: a
 * private-use character and a random part that no file can know.
 */
const mark = `\uE000${randomUUID()}`;

/** With marks instead of escape sequences. */
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

/** Keeps lines, tabs, and colours of a {@link markedStyle}. */
export function terminalText(text: string): string {
  return cleanText(text).replaceAll(mark, escape);
}
