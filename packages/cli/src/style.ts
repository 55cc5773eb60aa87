/**
 * Colours by their meaning. Plain when nobody can see them: see {@link wantsColour}. The only
 * importer of picocolors, whose own detection would also look at CI and at the user's arguments.
 */
import picocolors from "picocolors";

/** Puts a colour around a text, or nothing. */
export type Paint = (text: string) => string;

/** The paints of the command, by what they mark. */
export interface Style {
  readonly heading: Paint;
  /** What matters less than what is beside it. */
  readonly faint: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly warning: Paint;
  /** Labels that users gave. */
  readonly label: Paint;
  /** What the user said. */
  readonly user: Paint;
  /** What the model said. */
  readonly assistant: Paint;
  /** What came from tools, extensions and shells. */
  readonly tool: Paint;
}

/** The environment variables that matter here. */
export interface ColourEnvironment {
  readonly NO_COLOR?: string | undefined;
  readonly FORCE_COLOR?: string | undefined;
  readonly TERM?: string | undefined;
}

/**
 * Whether to use colours: on a terminal that has them. `NO_COLOR` (not empty) says never; else
 * `FORCE_COLOR` decides, where empty, `0` and `false` say no.
 */
export function wantsColour(isTerminal: boolean, env: ColourEnvironment): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return false;
  if (env.FORCE_COLOR !== undefined) return !["", "0", "false"].includes(env.FORCE_COLOR);
  return isTerminal && env.TERM !== "dumb";
}

/** The paints, with colours or without. */
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

/** The paints that paint nothing. */
export const plainStyle: Style = createStyle(false);
