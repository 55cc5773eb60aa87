/**
 * How a command is declared: as data, from which the parser, the help, the completions and the man
 * page are made, with a function that loads and runs the command. Pure.
 */
import type { CommandIo, CommandResult } from "./command-io.ts";

export interface Command {
  readonly name: string;
  readonly options: { readonly json: boolean };
  /** Whether it writes more than checkpoints and catalogs, so that an interrupt lets it finish. */
  readonly isWriting: boolean;
  /** Whether long output is shown in a pager. */
  readonly isPaged: boolean;
  readonly run: (io: CommandIo) => Promise<CommandResult>;
}

/** The kind of thing that an argument names; for completions. */
export type Taken = "session" | "entry" | "path";

/** Of an option, or of an argument in its place. */
export interface OptionDeclaration {
  readonly type: "boolean" | "number" | "string";
  readonly describe: string;
  /** Its short name. */
  readonly letter?: string;
  /** What the help shows for its value. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Of a number, which is a whole one. */
  readonly least?: number;
  readonly default?: boolean | string;
  readonly isRequired?: true;
  /** An argument that takes all remaining words. */
  readonly isRepeated?: true;
  readonly takes?: Taken;
  /** Names that the help omits: of earlier versions. */
  readonly formerly?: readonly string[];
}

interface Declarations {
  readonly [name: string]: OptionDeclaration;
}

/** A command line without the name of the program, and its purpose. */
export type Example = readonly [line: string, purpose: string];

export interface Declared {
  readonly name: string;
  /** The name, and its positionals: `label <file> <id> [text]`. */
  readonly usage: string;
  readonly about: string;
  readonly isWriting: boolean;
  readonly positionals: Declarations;
  readonly options: Declarations;
  readonly examples: readonly Example[];
  /**
   * @param values The parsed values.
   * @throws UsageError
   */
  readonly commandOf: (values: object) => Command;
}

type Values<D extends Declarations> = {
  readonly [Name in keyof D & string as CamelCase<Name>]: Value<D[Name]>;
};

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type Value<D extends OptionDeclaration> = D extends { readonly isRepeated: true }
  ? readonly string[]
  : D extends { readonly isRequired: true } | { readonly default: boolean | string }
    ? GivenValue<D>
    : GivenValue<D> | undefined;

type GivenValue<D extends OptionDeclaration> = D extends { readonly choices: readonly (infer C)[] }
  ? C
  : { boolean: boolean; number: number; string: string }[D["type"]];

interface Declaration<P extends Declarations, O extends Declarations, Options> {
  readonly usage: string;
  readonly about: string;
  readonly isWriting?: boolean;
  readonly isPaged?: boolean;
  readonly positionals: P;
  readonly options: O;
  readonly examples: readonly Example[];
  /** @throws UsageError */
  readonly read: (args: Values<P> & Values<O>) => Options;
  readonly run: (options: Options, io: CommandIo) => Promise<CommandResult>;
}

export function command<
  P extends Declarations,
  O extends Declarations,
  Options extends { readonly json: boolean },
>({
  read,
  run,
  isWriting = false,
  isPaged = false,
  ...data
}: Declaration<P, O, Options>): Declared {
  const [name = data.usage] = data.usage.split(" ");
  return {
    ...data,
    name,
    isWriting,
    commandOf: (values) => {
      // Decoding boundary: the parser gives values of the declared types.
      const options = read(values as Values<P> & Values<O>);
      return { name, options, isWriting, isPaged, run: (io) => run(options, io) };
    },
  };
}

export interface Flag extends OptionDeclaration {
  readonly type: "boolean";
  readonly default: boolean;
}

export function flag(describe: string): Flag {
  return { type: "boolean", default: false, describe };
}

export interface TextOption extends OptionDeclaration {
  readonly type: "string";
}

export function text(value: string, describe: string): TextOption {
  return { type: "string", value, describe };
}

export interface Choice<T extends string> extends OptionDeclaration {
  readonly type: "string";
  readonly choices: readonly T[];
}

export function choice<const T extends string>(choices: readonly T[], describe: string): Choice<T> {
  return { type: "string", choices, describe };
}

export interface NumberOption extends OptionDeclaration {
  readonly type: "number";
}

export function number(describe: string, least = 0): NumberOption {
  return { type: "number", least, value: "N", describe };
}

export interface Positional extends OptionDeclaration {
  readonly type: "string";
}

export function positional(describe: string, takes?: Taken): Positional {
  return { type: "string", describe, ...(takes === undefined ? {} : { takes }) };
}

export interface RequiredPositional extends Positional {
  readonly isRequired: true;
}

export function required(describe: string, takes?: Taken): RequiredPositional {
  return { ...positional(describe, takes), isRequired: true };
}
