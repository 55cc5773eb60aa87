/**
 * How a command is declared: as data, from which the parser, the help, the completions and the man
 * page are made, with a function that loads and runs the command. Pure.
 */
import type { CommandIo, CommandResult } from "./command-io.ts";
import type { Words } from "./marked-words.ts";
import type { Argv, InferredOptionTypes, OptionSettings, ParsedValues } from "./parser.ts";

export interface Command {
  readonly name: string;
  readonly options: { readonly json: boolean };
  /** Whether it writes more than checkpoints and catalogs, so that an interrupt lets it end. */
  readonly isWriting: boolean;
  /** Whether long output is shown in a pager. */
  readonly isPaged: boolean;
  readonly run: (io: CommandIo) => Promise<CommandResult>;
}

/** What a word on the command line names; completions offer it. */
export type Taken = "session" | "entry" | "path";

export interface OptionDeclaration extends OptionSettings {
  readonly type?: "boolean" | "number" | "string";
  readonly describe: string;
  /** What the help shows for its value. */
  readonly value?: string;
  readonly takes?: Taken;
  /** Names that the help leaves out: of earlier versions. */
  readonly formerly?: readonly string[];
}

interface Declarations {
  readonly [name: string]: OptionDeclaration;
}

/** A command line without the name of the program, and what it is for. */
export type Example = readonly [line: string, purpose: string];

export interface Declared {
  readonly name: string;
  /** The name, and its positionals as the parser takes them: `label <file> <id> [text]`. */
  readonly usage: string;
  readonly about: string;
  readonly isWriting: boolean;
  readonly positionals: Declarations;
  readonly options: Declarations;
  readonly examples: readonly Example[];
  /** @param words What is behind the name of the command. */
  readonly declare: (parser: Argv, words: Words, choose: (command: Command) => void) => void;
}

/** What the parser makes of the words. */
type Values<P extends Declarations, O extends Declarations> = InferredOptionTypes<P> &
  InferredOptionTypes<O>;

interface Declaration<P extends Declarations, O extends Declarations, Options> {
  readonly usage: string;
  readonly about: string;
  readonly isWriting?: boolean;
  readonly isPaged?: boolean;
  readonly positionals: P;
  readonly options: O;
  readonly examples: readonly Example[];
  /** @throws UsageError */
  readonly read: (args: ParsedValues<Values<P, O>>, words: Words) => Options;
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
  const { usage, positionals, options: declared } = data;
  const [name = usage] = usage.split(" ");
  const add = (parser: Argv): Argv<Values<P, O>> => {
    for (const [key, one] of Object.entries(positionals)) parser.positional(key, one);
    for (const [key, one] of Object.entries(declared)) parser.option(key, withFormer(one));
    // Decoding boundary: the parser gives values of the declared types.
    return parser as Argv<Values<P, O>>;
  };
  return {
    ...data,
    name,
    isWriting,
    declare: (parser, words, choose) => {
      parser.command(usage.replace(name, "$0"), false, add, (values) => {
        const options = read(values, words);
        choose({ name, options, isWriting, isPaged, run: (io) => run(options, io) });
      });
    },
  };
}

function withFormer({ formerly = [], ...one }: OptionDeclaration): OptionSettings {
  return { ...one, alias: [...aliasesOf(one), ...formerly] };
}

/** The short names of an option, and other ones that the help shows. */
export function aliasesOf({ alias = [] }: OptionSettings): readonly string[] {
  return typeof alias === "string" ? [alias] : alias;
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
  readonly requiresArg: true;
}

export function text(value: string, describe: string): TextOption {
  return { type: "string", requiresArg: true, value, describe };
}

export interface NumberOption extends OptionDeclaration {
  readonly type: "number";
  readonly requiresArg: true;
}

export function number(describe: string, value = "N"): NumberOption {
  return { type: "number", requiresArg: true, value, describe };
}

export interface Positional extends OptionDeclaration {
  readonly type: "string";
}

export function positional(describe: string, takes?: Taken): Positional {
  return { type: "string", describe, ...(takes === undefined ? {} : { takes }) };
}

export interface RequiredPositional extends Positional {
  readonly demandOption: true;
}

export function required(describe: string, takes?: Taken): RequiredPositional {
  return { ...positional(describe, takes), demandOption: true };
}
