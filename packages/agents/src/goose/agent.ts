/** goose: rows of a database; before version 1.10 a file of JSON lines for each session. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { fileOfAddress } from "@branchlog/core/rows";
import type { Agent, EntryIdentity } from "@branchlog/core/rows";
import type { SessionEntry } from "@branchlog/core";
import { decodeLine } from "@branchlog/streaming";
import { databaseFiles, headOf, isSqlite } from "../database-file.ts";

const databaseName = "sessions.db";
/** Of sessions before version 1.10. */
const linesName = /[\\/](?:goose|data)[\\/]sessions[\\/][^\\/]+\.jsonl$/;

const firstRecordBytesMax = 64 * 1024;

export const goose: Agent = {
  name: "goose",
  product: "goose",
  places: () => [join(dataDirectory(), "sessions")],
  resume: ({ id }) => ["goose", "session", "--resume", "--session-id", id],
  documents: {
    agent: "goose",
    version: 1,
    noun: "a session of goose",
    mayBe: (path) => basename(fileOfAddress(path).file) === databaseName || linesName.test(path),
    recognises: (path) =>
      linesName.test(path) ? isOfLines(path) : isSqlite(fileOfAddress(path).file),
    isPlace: (directory) =>
      basename(directory) === "sessions" && /^(?:goose|data)$/.test(basename(dirname(directory))),
    hasSubagents: true,
    identity,
    belongings: (path) => (linesName.test(path) ? [] : undefined),
    idInOthers: (path) =>
      existsSync(join(dirname(path), databaseName)) ? basename(path, ".jsonl") : undefined,
    // Loaded on demand: few have sessions of goose.
    sessionsIn: async (path) =>
      linesName.test(path) ? undefined : (await import("./goose-sessions.ts")).sessionsIn(path),
    filesOf: (path) => (linesName.test(path) ? [path] : databaseFiles(fileOfAddress(path).file)),
    toLog: async (path) => (await import("./goose-sessions.ts")).gooseLog(path),
  },
};

/** Its first record has the directory, and how many messages follow. */
function isOfLines(path: string): boolean {
  const [line = ""] = headOf(path, firstRecordBytesMax).split("\n", 1);
  const decoded = decodeLine(Buffer.from(line, "latin1"));
  if (!decoded.ok || "type" in decoded.value) return false;
  return "working_dir" in decoded.value && "message_count" in decoded.value;
}

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
