/** Cursor: the transcripts that its command and its editor keep of agents. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isObject, stringAt } from "@branchlog/core/rows";
import type { Agent } from "@branchlog/core/rows";
import type { JsonValue } from "@branchlog/streaming";
import { filesBelow } from "../files-below.ts";
import { titleIn } from "../spoken-title.ts";
import { CursorTranscript, isCursorRecord } from "./cursor-transcript.ts";

const uuidName = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.jsonl$/;

export const cursor: Agent = {
  name: "cursor",
  product: "Cursor",
  places: () => [join(homedir(), ".cursor", "projects")],
  resume: ({ id }) => ["cursor-agent", `--resume=${id}`],
  transcripts: {
    agent: "cursor",
    version: 1,
    noun: "a transcript of Cursor",
    recognises: isCursorRecord,
    presumed: { message: { content: [] } },
    firstKeys: ["role", "type"],
    read: (path, isEntry) => new CursorTranscript(placeOf(path), isEntry),
    subagentNames: { pattern: uuidName, place: "anywhere" },
    titleIn,
    identity: () => undefined,
    filesBeside: workspaceFiles,
    belongings: (path) => {
      const directory = dirname(path);
      const isOwn = basename(path) === `${basename(directory)}.jsonl`;
      return isOwn ? filesBelow(directory).filter((file) => file !== path) : [];
    },
  },
};

function placeOf(path: string): ConstructorParameters<typeof CursorTranscript>[0] {
  const above = dirname(path);
  const caller = basename(above) === "subagents" ? basename(dirname(above)) : undefined;
  return { fileName: basename(path), caller, directory: workspaceOf(path) };
}

/** Beside `agent-transcripts`, which has the session in a directory of its own. */
function workspaceFiles(path: string): readonly string[] {
  for (let above = dirname(path), depth = 0; depth < 4; above = dirname(above), depth += 1) {
    const isThere = basename(above) === "agent-transcripts";
    if (isThere) return [join(dirname(above), ".workspace-trusted")];
  }
  return [];
}

/** Empty if it is not said: the name of the project's directory does not tell it. */
function workspaceOf(path: string): string {
  const [file] = workspaceFiles(path);
  if (file === undefined) return "";
  try {
    // Decoding boundary: checked right away.
    const trusted = JSON.parse(readFileSync(file, "utf8")) as JsonValue;
    return (isObject(trusted) ? stringAt(trusted, "workspacePath") : undefined) ?? "";
  } catch {
    // Missing, damaged, or not to be read.
    return "";
  }
}
