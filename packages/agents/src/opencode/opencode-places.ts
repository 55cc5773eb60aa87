/** Where opencode keeps databases, by its own environment variables. */
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, isAbsolute, join } from "node:path";

/** Builds of other channels add theirs. */
const databaseName = /^opencode(?:-[\w.-]+)?\.db$/;

export function isDatabase(name: string): boolean {
  return databaseName.test(name) || name === basename(process.env["OPENCODE_DB"] ?? "");
}

/** On every system: opencode does not use those of Windows and macOS. */
export function rootDirectory(): string {
  const { XDG_DATA_HOME } = process.env;
  const isGiven = XDG_DATA_HOME !== undefined && isAbsolute(XDG_DATA_HOME);
  return join(isGiven ? XDG_DATA_HOME : join(homedir(), ".local", "share"), "opencode");
}

/** Those that exist, or the one that is named. */
export function databasesIn(root: string): readonly string[] {
  const { OPENCODE_DB } = process.env;
  if (OPENCODE_DB) return [isAbsolute(OPENCODE_DB) ? OPENCODE_DB : join(root, OPENCODE_DB)];
  try {
    const names = readdirSync(root).filter((name) => databaseName.test(name));
    return names.toSorted().map((name) => join(root, name));
  } catch {
    return [];
  }
}
