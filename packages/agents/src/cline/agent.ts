/** Cline: its command, programs built on its library, and its earlier VS Code extension. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Agent } from "@branchlog/core/rows";
import { resolvePath } from "@branchlog/core/files";
import { headOf } from "../database-file.ts";
import { settingsDirectory } from "../settings-directory.ts";
import { belongings, filesOf, isTask, manifestOf } from "./session-directory.ts";

/** Of a directory of a session. */
const sessionName = /^\d{13}_\w+$/;
const taskName = /^\d{13}$/;
const messagesName = /\.messages\.json$/;

export const cline: Agent = {
  name: "cline",
  product: "Cline",
  places: () => [sessionsDirectory(), ...taskDirectories()],
  resume: ({ id, path }) => (isTask(path) ? null : ["cline", "--id", id.replace(/__.*$/s, "")]),
  documents: {
    agent: "cline",
    version: 2,
    noun: "a session of Cline",
    mayBe: (path) => messagesName.test(path) || isTask(path),
    recognises: (path) =>
      isTask(path)
        ? isTaskDirectory(dirname(path)) && /^\s*\[/.test(headOf(path))
        : existsSync(manifestOf(path)),
    isPlace: (directory) => sessionName.test(basename(directory)) || isTaskDirectory(directory),
    hasSubagents: true,
    filesOf,
    belongings,
    // Loaded on demand: few have sessions of Cline.
    toLog: async (path, given) => (await import("./cline-log.ts")).clineLog(path, given),
  },
};

/** Others, as Roo Code, name their files alike, but not the directories. */
function isTaskDirectory(directory: string): boolean {
  return taskName.test(basename(directory)) && basename(dirname(directory)) === "tasks";
}

function sessionsDirectory(): string {
  const { CLINE_SESSION_DATA_DIR } = process.env;
  if (CLINE_SESSION_DATA_DIR) return resolvePath(CLINE_SESSION_DATA_DIR);
  return join(dataDirectory(), "sessions");
}

function dataDirectory(): string {
  const { CLINE_DATA_DIR, CLINE_DIR } = process.env;
  if (CLINE_DATA_DIR) return resolvePath(CLINE_DATA_DIR);
  return join(CLINE_DIR ? resolvePath(CLINE_DIR) : join(homedir(), ".cline"), "data");
}

const editors = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

/** Of the extension in editors that are built on VS Code, and of its earlier command. */
function taskDirectories(): readonly string[] {
  const users = editors.map((editor) => join(settingsDirectory(), editor, "User"));
  const servers = [join(homedir(), ".vscode-server", "data", "User")];
  const storages = [...users, ...servers].map((user) =>
    join(user, "globalStorage", "saoudrizwan.claude-dev"),
  );
  return [...storages, dataDirectory()].map((directory) => join(directory, "tasks"));
}
