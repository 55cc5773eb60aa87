/** All commands with their options. */
import type { CommandIo, CommandResult } from "./command-io.ts";
import type { AppendOptions } from "./commands/append.ts";
import type { ContextOptions } from "./commands/context.ts";
import type { ConvertCommandOptions } from "./commands/convert.ts";
import type { DeleteCommandOptions } from "./commands/delete.ts";
import type { EntriesOptions } from "./commands/entries.ts";
import type { ForkCommandOptions } from "./commands/fork.ts";
import type { ExportCommandOptions } from "./commands/export.ts";
import type { ImportCommandOptions } from "./commands/import.ts";
import type { InfoOptions } from "./commands/info.ts";
import type { LabelOptions } from "./commands/label.ts";
import type { ListCommandOptions } from "./commands/list.ts";
import type { MigrateCommandOptions } from "./commands/migrate.ts";
import type { NameOptions } from "./commands/name.ts";
import type { RepairOptions } from "./commands/repair.ts";
import type { SearchCommandOptions } from "./commands/search.ts";
import type { TailOptions } from "./commands/tail.ts";
import type { TreeOptions } from "./commands/tree.ts";
import type { TurnsOptions } from "./commands/turns.ts";
import type { VerifyOptions } from "./commands/verify.ts";
import type { WatchOptions } from "./commands/watch.ts";

/** A command with its options. */
export type Command =
  | { readonly name: "info"; readonly options: InfoOptions }
  | { readonly name: "tree"; readonly options: TreeOptions }
  | { readonly name: "context"; readonly options: ContextOptions }
  | { readonly name: "turns"; readonly options: TurnsOptions }
  | { readonly name: "entries"; readonly options: EntriesOptions }
  | { readonly name: "tail"; readonly options: TailOptions }
  | { readonly name: "search"; readonly options: SearchCommandOptions }
  | { readonly name: "watch"; readonly options: WatchOptions }
  | { readonly name: "verify"; readonly options: VerifyOptions }
  | { readonly name: "repair"; readonly options: RepairOptions }
  | { readonly name: "append"; readonly options: AppendOptions }
  | { readonly name: "name"; readonly options: NameOptions }
  | { readonly name: "label"; readonly options: LabelOptions }
  | { readonly name: "list"; readonly options: ListCommandOptions }
  | { readonly name: "fork"; readonly options: ForkCommandOptions }
  | { readonly name: "convert"; readonly options: ConvertCommandOptions }
  | { readonly name: "migrate"; readonly options: MigrateCommandOptions }
  | { readonly name: "delete"; readonly options: DeleteCommandOptions }
  | { readonly name: "import"; readonly options: ImportCommandOptions }
  | { readonly name: "export"; readonly options: ExportCommandOptions };

/** Receives the parsed command. */
export type Choose = (command: Command) => void;

/** The names of the commands. */
export const commandNames: readonly Command["name"][] = [
  "info",
  "tree",
  "context",
  "turns",
  "entries",
  "tail",
  "watch",
  "search",
  "verify",
  "repair",
  "append",
  "name",
  "label",
  "list",
  "fork",
  "convert",
  "migrate",
  "delete",
  "import",
  "export",
];

/** Runs a command; of the commands, only its modules are loaded. */
export async function runCommand(command: Command, io: CommandIo): Promise<CommandResult> {
  switch (command.name) {
    case "info":
      return (await import("./commands/info.ts")).infoCommand(command.options, io);
    case "tree":
      return (await import("./commands/tree.ts")).treeCommand(command.options, io);
    case "context":
      return (await import("./commands/context.ts")).contextCommand(command.options, io);
    case "turns":
      return (await import("./commands/turns.ts")).turnsCommand(command.options, io);
    case "entries":
      return (await import("./commands/entries.ts")).entriesCommand(command.options, io);
    case "tail":
      return (await import("./commands/tail.ts")).tailCommand(command.options, io);
    case "search":
      return (await import("./commands/search.ts")).searchCommand(command.options, io);
    case "watch":
      return (await import("./commands/watch.ts")).watchCommand(command.options, io);
    case "verify":
      return (await import("./commands/verify.ts")).verifyCommand(command.options, io);
    case "repair":
      return (await import("./commands/repair.ts")).repairCommand(command.options, io);
    case "append":
      return (await import("./commands/append.ts")).appendCommand(command.options, io);
    case "name":
      return (await import("./commands/name.ts")).nameCommand(command.options, io);
    case "label":
      return (await import("./commands/label.ts")).labelCommand(command.options, io);
    case "list":
      return (await import("./commands/list.ts")).listCommand(command.options, io);
    case "fork":
      return (await import("./commands/fork.ts")).forkCommand(command.options, io);
    case "convert":
      return (await import("./commands/convert.ts")).convertCommand(command.options, io);
    case "migrate":
      return (await import("./commands/migrate.ts")).migrateCommand(command.options, io);
    case "delete":
      return (await import("./commands/delete.ts")).deleteCommand(command.options, io);
    case "import":
      return (await import("./commands/import.ts")).importCommand(command.options, io);
    case "export":
      return (await import("./commands/export.ts")).exportCommand(command.options, io);
  }
}
