/**
 * The directory of a session of Copilot CLI: `events.jsonl`, its name in `workspace.yaml`, and what
 * belongs to it. Older sessions are files without a directory.
 */
import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { normalizeName } from "@branchlog/core/entries";
import { isObject, stringAt } from "@branchlog/core/rows";
import { readYaml } from "../connectonion/yaml-reader.ts";

const eventsName = "events.jsonl";

/** The name that a user gave; undefined: none, as it is the first prompt then. */
export function workspaceName(path: string): string | undefined {
  if (basename(path) !== eventsName) return undefined;
  try {
    const workspacePath = join(dirname(path), "workspace.yaml");
    const { value: workspace } = readYaml(readFileSync(workspacePath, "utf8"), workspacePath);
    if (!isObject(workspace) || workspace["user_named"] !== true) return undefined;
    return normalizeName(stringAt(workspace, "name") ?? "") || undefined;
  } catch {
    // Missing, damaged, or not to be read.
    return undefined;
  }
}

/** Files below the directory of a session, which is for that session alone. */
export function filesOfSession(path: string): readonly string[] {
  const directory = dirname(path);
  if (basename(path) !== eventsName || !uuid.test(basename(directory))) return [];
  try {
    const all = readdirSync(directory, { recursive: true, withFileTypes: true });
    const files = all.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
    return files.filter((file) => file !== path);
  } catch {
    return [];
  }
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
