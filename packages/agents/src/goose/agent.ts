/** goose: rows of a database. */
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { fileOfAddress } from "@branchlog/core/rows";
import type { Agent, EntryIdentity } from "@branchlog/core/rows";
import type { SessionEntry } from "@branchlog/core";
import { databaseFiles, isSqlite } from "../database-file.ts";

const databaseName = "sessions.db";
export const goose: Agent = {
  name: "goose",
  product: "goose",
  places: () => [join(dataDirectory(), "sessions")],
  resume: ({ id }) => ["goose", "session", "--resume", "--session-id", id],
  documents: {
    agent: "goose",
    version: 1,
    noun: "a session of goose",
    mayBe: (path) => basename(fileOfAddress(path).file) === databaseName,
    recognises: (path) => isSqlite(fileOfAddress(path).file),
    isPlace: (directory) =>
      basename(directory) === "sessions" && /^(?:goose|data)$/.test(basename(dirname(directory))),
    hasSubagents: true,
    identity,
    // Loaded on demand: few have sessions of goose.
    sessionsIn: async (path) => (await import("./goose-sessions.ts")).sessionsIn(path),
    filesOf: (path) => databaseFiles(fileOfAddress(path).file),
    toLog: async (path) => (await import("./goose-sessions.ts")).gooseLog(path),
  },
};

/** On macOS as on Linux. A relative directory counts as none. */
function dataDirectory(): string {
  const { GOOSE_PATH_ROOT = "", XDG_DATA_HOME = "", APPDATA } = process.env;
  if (isAbsolute(GOOSE_PATH_ROOT)) return join(GOOSE_PATH_ROOT, "data");
  if (process.platform === "win32") {
    return join(APPDATA ?? join(homedir(), "AppData", "Roaming"), "Block", "goose", "data");
  }
  const home = isAbsolute(XDG_DATA_HOME) ? XDG_DATA_HOME : join(homedir(), ".local", "share");
  return join(home, "goose");
}

/** A copy of a session has its messages with their ids and times; numbers of rows are its own. */
function identity({ id, type, timestamp }: SessionEntry): EntryIdentity | undefined {
  if (type !== "message" || id.startsWith("row:")) return undefined;
  return { key: ["goose", id, timestamp], isPart: false };
}
