/** The projects in which Crush was started, by its registry. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { quietly } from "@branchlog/core/files";
import { isObject, listAt, stringAt } from "@branchlog/core/rows";
import type { JsonValue } from "@branchlog/streaming";

interface Project {
  readonly path: string;
  readonly dataDirectory: string;
}

/** Those that the registry names; they need not exist. */
export function databasesOfProjects(): readonly string[] {
  return projects().map(({ dataDirectory }) => join(dataDirectory, "crush.db"));
}

/** The project of a database, whose sessions do not name it; empty if it is not known. */
export function projectOf(database: string): string {
  const directory = dirname(resolve(database));
  const known = projects().find(({ dataDirectory }) => resolve(dataDirectory) === directory);
  return known?.path ?? (basename(directory) === ".crush" ? dirname(directory) : "");
}

function projects(): readonly Project[] {
  const text = quietly(() => readFileSync(join(globalDirectory(), "projects.json"), "utf8"));
  // Decoding boundary: JSON.parse returns only JSON values.
  const registry = quietly(() => JSON.parse(text ?? "") as JsonValue);
  const list = isObject(registry) ? listAt(registry, "projects").filter(isObject) : [];
  return list.flatMap((project) => {
    const [path, dataDirectory] = [stringAt(project, "path"), stringAt(project, "data_dir")];
    return path === undefined || dataDirectory === undefined ? [] : [{ path, dataDirectory }];
  });
}

function globalDirectory(): string {
  const { CRUSH_GLOBAL_DATA, XDG_DATA_HOME, LOCALAPPDATA } = process.env;
  if (CRUSH_GLOBAL_DATA) return CRUSH_GLOBAL_DATA;
  if (XDG_DATA_HOME) return join(XDG_DATA_HOME, "crush");
  if (process.platform !== "win32") return join(homedir(), ".local", "share", "crush");
  return join(LOCALAPPDATA || join(homedir(), "AppData", "Local"), "crush");
}
