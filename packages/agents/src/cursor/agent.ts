/**
 * Cursor: the transcripts that its command and its editor keep of agents, the chats of the command,
 * and the database of the editor.
 */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { resolvePath } from "@branchlog/core/files";
import { fileOfAddress, isObject, stringAt } from "@branchlog/core/rows";
import type { Agent } from "@branchlog/core/rows";
import type { JsonValue } from "@branchlog/streaming";
import { databaseFiles, isSqlite } from "../database-file.ts";
import { othersBelow, uuidName } from "../files-below.ts";
import { settingsDirectory } from "../settings-directory.ts";
import { titleIn } from "../spoken-title.ts";
import { CursorTranscript, isCursorRecord, transcriptsName } from "./cursor-transcript.ts";

const subagentName = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.jsonl$/;
const chatName = "store.db";
const editorName = "state.vscdb";

export const cursor: Agent = {
  name: "cursor",
  product: "Cursor",
  places: () => [
    projectsDirectory(),
    join(configDirectory(), "chats"),
    join(configDirectory(), "acp-sessions"),
    join(settingsDirectory(), "Cursor", "User", "globalStorage", editorName),
  ],
  // The editor keeps its own sessions from the command.
  resume: ({ id, path }) => (isInEditor(path) ? null : ["cursor-agent", `--resume=${id}`]),
  documents: {
    agent: "cursor",
    version: 1,
    noun: "a session of Cursor",
    mayBe: (path) => basename(path) === chatName || isInEditor(path),
    recognises: (path) => isSqlite(fileOfAddress(path).file),
    isPlace: (directory) => isOfChat(directory) || basename(directory) === "globalStorage",
    hasSubagents: true,
    // A bubble that was broken off appears without a change.
    settlesAfterMs: 3_600_000,
    idInOthers: (path) => (path.includes(transcriptsName) ? basename(path, ".jsonl") : undefined),
    sessionsIn: async (path) => {
      if (isInEditor(path)) return (await import("./editor-sessions.ts")).sessionsIn(path);
      const { hasTranscript } = await import("./chat-store.ts");
      return hasTranscript(path, projectsDirectory()) ? [] : undefined;
    },
    filesOf: (path) => {
      const { file } = fileOfAddress(path);
      return isInEditor(path)
        ? databaseFiles(file)
        : [...databaseFiles(file), join(dirname(file), "meta.json")];
    },
    belongings: (path) => {
      if (isInEditor(path)) return undefined;
      const directory = dirname(path);
      const beside = [`${path}-wal`, `${path}-shm`, join(directory, "meta.json")];
      return isOfChat(directory)
        ? othersBelow(directory, uuidName, path)
        : beside.filter((file) => existsSync(file));
    },
    // Loaded on demand: most have transcripts.
    toLog: async (path) =>
      isInEditor(path)
        ? (await import("./editor-sessions.ts")).editorLog(path)
        : (await import("./chat-store.ts")).chatLog(path),
  },
  transcripts: {
    agent: "cursor",
    version: 2,
    noun: "a transcript of Cursor",
    recognises: isCursorRecord,
    presumed: { message: { content: [] } },
    firstKeys: ["role", "type"],
    read: (path, isEntry) => new CursorTranscript(placeOf(path), isEntry),
    subagentNames: { pattern: subagentName, place: "anywhere" },
    titleIn,
    identity: () => undefined,
    filesBeside: workspaceFiles,
    belongings: (path) => {
      const directory = dirname(path);
      const isOwn = basename(path) === `${basename(directory)}.jsonl`;
      return isOwn ? othersBelow(directory, uuidName, path) : [];
    },
  },
};

function isInEditor(path: string): boolean {
  return basename(fileOfAddress(path).file) === editorName;
}

/** Of `chats/WORKSPACE/ID`, or of `acp-sessions/ID`, where editors run the command. */
function isOfChat(directory: string): boolean {
  const above = dirname(directory);
  return basename(above) === "acp-sessions" || basename(dirname(above)) === "chats";
}

function configDirectory(): string {
  const { CURSOR_CONFIG_DIR, XDG_CONFIG_HOME } = process.env;
  if (CURSOR_CONFIG_DIR?.trim()) return resolvePath(CURSOR_CONFIG_DIR);
  if (XDG_CONFIG_HOME?.trim()) return join(resolvePath(XDG_CONFIG_HOME), "cursor");
  return join(homedir(), ".cursor");
}

function projectsDirectory(): string {
  const { CURSOR_DATA_DIR } = process.env;
  const data = CURSOR_DATA_DIR?.trim() ? resolvePath(CURSOR_DATA_DIR) : join(homedir(), ".cursor");
  return join(data, "projects");
}

function placeOf(path: string): ConstructorParameters<typeof CursorTranscript>[0] {
  const above = dirname(path);
  const caller = basename(above) === "subagents" ? basename(dirname(above)) : undefined;
  return { fileName: basename(path), caller, directory: workspaceOf(path) };
}

/** Next to `agent-transcripts`, which has the session in its own directory. */
function workspaceFiles(path: string): readonly string[] {
  for (let above = dirname(path), depth = 0; depth < 4; above = dirname(above), depth += 1) {
    const isThere = basename(above) === transcriptsName;
    if (isThere) return [join(dirname(above), ".workspace-trusted")];
  }
  return [];
}

/** Empty if unknown: the name of the project's directory does not determine it. */
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
