/**
 * Colours by their meaning, or none: see {@link wantsColour}. The only importer of picocolors,
 * whose own detection would also consider CI and the user's arguments.
 */
import picocolors from "picocolors";

/** Wraps a text in a colour, or returns it unchanged. */
export type Paint = (text: string) => string;

/** The colours of the command, by what they mark. */
export interface Style {
  readonly heading: Paint;
  /** Secondary text. */
  readonly faint: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly warning: Paint;
  /** Labels that users gave. */
  readonly label: Paint;
  /** Text of the user. */
  readonly user: Paint;
  /** Text of the model. */
  readonly assistant: Paint;
  /** Text of tools, extensions and shells. */
  readonly tool: Paint;
}

/** The environment variables in use. */
export interface ColourEnvironment {
  readonly NO_COLOR?: string | undefined;
  readonly FORCE_COLOR?: string | undefined;
  readonly TERM?: string | undefined;
}

/**
 * Whether to use colours: on a terminal that has them. A non-empty `NO_COLOR` disables them; else
 * `FORCE_COLOR` decides, where empty, `0` and `false` disable them.
 */
export function wantsColour(isTerminal: boolean, env: ColourEnvironment): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return false;
  if (env.FORCE_COLOR !== undefined) return !["", "0", "false"].includes(env.FORCE_COLOR);
  return isTerminal && env.TERM !== "dumb";
}

/** The styles, with colours or without. */
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

/** Styles without colours. */
export const plainStyle: Style = createStyle(false);
