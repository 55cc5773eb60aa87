/** All commands with their options. */
import type { CommandIo, CommandResult } from "./command-io.ts";
import { appendCommand } from "./commands/append.ts";
import type { AppendOptions } from "./commands/append.ts";
import { contextCommand } from "./commands/context.ts";
import type { ContextOptions } from "./commands/context.ts";
import { convertCommand } from "./commands/convert.ts";
import type { ConvertCommandOptions } from "./commands/convert.ts";
import { deleteCommand } from "./commands/delete.ts";
import type { DeleteCommandOptions } from "./commands/delete.ts";
import { entriesCommand } from "./commands/entries.ts";
import type { EntriesOptions } from "./commands/entries.ts";
import { forkCommand } from "./commands/fork.ts";
import type { ForkCommandOptions } from "./commands/fork.ts";
import { exportCommand } from "./commands/export.ts";
import type { ExportCommandOptions } from "./commands/export.ts";
import { importCommand } from "./commands/import.ts";
import type { ImportCommandOptions } from "./commands/import.ts";
import { infoCommand } from "./commands/info.ts";
import type { InfoOptions } from "./commands/info.ts";
import { labelCommand } from "./commands/label.ts";
import type { LabelOptions } from "./commands/label.ts";
import { listCommand } from "./commands/list.ts";
import type { ListCommandOptions } from "./commands/list.ts";
import { migrateCommand } from "./commands/migrate.ts";
import type { MigrateCommandOptions } from "./commands/migrate.ts";
import { nameCommand } from "./commands/name.ts";
import type { NameOptions } from "./commands/name.ts";
import { repairCommand } from "./commands/repair.ts";
import type { RepairOptions } from "./commands/repair.ts";
import { searchCommand } from "./commands/search.ts";
import type { SearchCommandOptions } from "./commands/search.ts";
import { tailCommand } from "./commands/tail.ts";
import type { TailOptions } from "./commands/tail.ts";
import { treeCommand } from "./commands/tree.ts";
import type { TreeOptions } from "./commands/tree.ts";
import { turnsCommand } from "./commands/turns.ts";
import type { TurnsOptions } from "./commands/turns.ts";
import { verifyCommand } from "./commands/verify.ts";
import type { VerifyOptions } from "./commands/verify.ts";
import { watchCommand } from "./commands/watch.ts";
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

/** Runs a command. */
export function runCommand(command: Command, io: CommandIo): Promise<CommandResult> {
  switch (command.name) {
    case "info":
      return infoCommand(command.options, io);
    case "tree":
      return treeCommand(command.options, io);
    case "context":
      return contextCommand(command.options, io);
    case "turns":
      return turnsCommand(command.options, io);
    case "entries":
      return entriesCommand(command.options, io);
    case "tail":
      return tailCommand(command.options, io);
    case "search":
      return searchCommand(command.options, io);
    case "watch":
      return watchCommand(command.options, io);
    case "verify":
      return verifyCommand(command.options, io);
    case "repair":
      return repairCommand(command.options, io);
    case "append":
      return appendCommand(command.options, io);
    case "name":
      return nameCommand(command.options, io);
    case "label":
      return labelCommand(command.options, io);
    case "list":
      return listCommand(command.options, io);
    case "fork":
      return forkCommand(command.options, io);
    case "convert":
      return convertCommand(command.options, io);
    case "migrate":
      return migrateCommand(command.options, io);
    case "delete":
      return deleteCommand(command.options, io);
    case "import":
      return importCommand(command.options, io);
    case "export":
      return exportCommand(command.options, io);
  }
}
