/** opencode: rows of a database; before 1.2.0 a tree of JSON files. */
import { basename, dirname, join } from "node:path";
import { fileOfAddress } from "@branchlog/core/rows";
import type { Agent, EntryIdentity, SpentTokens } from "@branchlog/core/rows";
import type { SessionEntry } from "@branchlog/core";
import { databaseFiles, headOf, isSqlite } from "../database-file.ts";
import { databasesIn, isDatabase, rootDirectory } from "./opencode-places.ts";

const treeName = /^ses_\w+\.json$/;

export const opencode: Agent = {
  name: "opencode",
  product: "opencode",
  places: () => {
    const root = rootDirectory();
    return [...databasesIn(root), join(root, "storage", "session")];
  },
  resume: ({ id }) => ["opencode", "--session", id],
  documents: {
    agent: "opencode",
    version: 2,
    noun: "a session of opencode",
    mayBe: (path) => {
      const name = basename(fileOfAddress(path).file);
      return isDatabase(name) || treeName.test(name);
    },
    recognises: (path) => {
      const { file } = fileOfAddress(path);
      if (!treeName.test(basename(file))) return isSqlite(file);
      return /^\s*\{[^]*"id"\s*:\s*"ses_/.test(headOf(file));
    },
    isPlace: (directory) =>
      basename(directory) === "opencode" || basename(dirname(directory)) === "session",
    hasSubagents: true,
    identity,
    // An answer that was broken off appears without a change. Its parts change later than it does.
    settlesAfterMs: 3_600_000,
    // Loaded on demand: few have sessions of opencode.
    sessionsIn: async (path) => (await import("./opencode-sessions.ts")).sessionsIn(path),
    filesOf: (path) => {
      const { file } = fileOfAddress(path);
      if (isDatabase(basename(file))) return databaseFiles(file);
      const storage = dirname(dirname(dirname(file)));
      return [file, join(storage, "message", basename(file, ".json"))];
    },
    toLog: async (path) => (await import("./opencode-sessions.ts")).opencodeLog(path),
  },
};

/** A fork has the messages of its session with other ids, but at the same times. */
function identity(entry: SessionEntry, spent: SpentTokens): EntryIdentity | undefined {
  const role = entry.type === "message" ? entry.message.role : entry.type;
  if (!["user", "assistant", "compaction", "usage"].includes(role)) return undefined;
  const { input, output, cacheRead, cacheWrite } = spent;
  const key = ["opencode", role, entry.timestamp, input, output, cacheRead, cacheWrite];
  return { key, isPart: false };
}
