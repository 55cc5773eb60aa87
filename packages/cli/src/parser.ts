/** The command-line parser with the settings shared by all commands. The only importer of yargs. */
import yargs from "yargs";
import type { Argv } from "yargs";

export type { ArgumentsCamelCase as ParsedValues, Argv } from "yargs";

/** A parser that never prints and never exits the process. */
export function emptyParser(version: string): Argv {
  return yargs([])
    .scriptName("branchlog")
    .usage(
      "branchlog <command> FILE\n\nInspects, repairs and appends to sessions of coding agents.",
    )
    .epilogue(
      "Exit codes: 0 fine; 1 the session has damage, or the command failed; 2 wrong usage.\n" +
        "Colours: NO_COLOR, FORCE_COLOR. Stack traces of failures: BRANCHLOG_DEBUG=1.",
    )
    .locale("en")
    .version(version)
    .wrap(90)
    .parserConfiguration({
      "boolean-negation": false,
      "dot-notation": false,
      "duplicate-arguments-array": false,
    })
    .strict()
    .strictCommands()
    .recommendCommands()
    .demandCommand(1, "Name a command; branchlog --help lists them.")
    .exitProcess(false)
    .showHelpOnFail(false);
}
