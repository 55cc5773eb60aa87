/**
 * Results of tools that were too large for a transcript: it has their beginning, and names the file
 * with all, in a directory of the session. Sub-agents share that of their session.
 */
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { SideText } from "@branchlog/core/rows";

const directoryName = "tool-results";
const textName = /\.(?:txt|json|md)$/;

export function toolResults(path: string): readonly SideText[] {
  const own = dirname(path);
  const session = basename(own) === "subagents" ? dirname(own) : path.replace(/\.jsonl$/, "");
  const directory = join(session, directoryName);
  return namesIn(directory).map((name) => ({
    path: join(directory, name),
    mention: `${directoryName}/${name}`,
  }));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => textName.test(name));
  } catch {
    return [];
  }
}
