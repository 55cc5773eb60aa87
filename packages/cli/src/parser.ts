/** The command-line parser with the settings shared by all commands. The only importer of yargs. */
import yargs from "yargs";
import type { Argv } from "yargs";

export type {
  ArgumentsCamelCase as ParsedValues,
  Argv,
  InferredOptionTypes,
  Options as OptionSettings,
} from "yargs";

/**
 * A parser that never prints and never exits the process. Help, versions and completions are made
 * without it.
 */
export function emptyParser(): Argv {
  return yargs([])
    .scriptName("branchlog")
    .locale("en")
    .help(false)
    .version(false)
    .parserConfiguration({
      "boolean-negation": false,
      "dot-notation": false,
      "duplicate-arguments-array": false,
    })
    .strict()
    .exitProcess(false)
    .showHelpOnFail(false);
}
