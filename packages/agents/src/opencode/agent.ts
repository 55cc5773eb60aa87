/** opencode: rows of a database; before 1.2.0 a tree of JSON files. */
import { closeSync, openSync, readSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { fileOfAddress } from "@branchlog/core/rows";
import type { Agent, EntryIdentity, SpentTokens } from "@branchlog/core/rows";
import type { SessionEntry } from "@branchlog/core";

/** Builds of other channels add theirs. */
const databaseName = /^opencode(?:-[\w.-]+)?\.db$/;
const treeName = /^ses_\w+\.json$/;
const databaseMark = "SQLite format 3\0";

export const opencode: Agent = {
  name: "opencode",
  product: "opencode",
  places: () => {
    const root = join(dataDirectory(), "opencode");
    return [...databasesIn(root), join(root, "storage", "session")];
  },
  resume: ({ id }) => ["opencode", "--session", id],
  documents: {
    agent: "opencode",
    version: 1,
    noun: "a session of opencode",
    mayBe: (path) => {
      const name = basename(fileOfAddress(path).file);
      return isDatabase(name) || treeName.test(name);
    },
    recognises: (path) => {
      const { file } = fileOfAddress(path);
      const head = headOf(file);
      return treeName.test(basename(file))
        ? /^\s*\{/.test(head) && /"id"\s*:\s*"ses_/.test(head)
        : head.startsWith(databaseMark);
    },
    isPlace: (directory) =>
      basename(directory) === "opencode" || basename(dirname(directory)) === "session",
    attachmentsDirectory: () => undefined,
    identity,
    // Loaded on demand: few have sessions of opencode.
    sessionsIn: async (path) => (await import("./opencode-sessions.ts")).sessionsIn(path),
    filesOf: (path) => {
      const { file } = fileOfAddress(path);
      if (isDatabase(basename(file))) return [file, `${file}-wal`];
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

function isDatabase(name: string): boolean {
  return databaseName.test(name) || name === basename(process.env["OPENCODE_DB"] ?? "");
}

/** On every system: opencode does not use those of Windows and macOS. */
function dataDirectory(): string {
  const { XDG_DATA_HOME } = process.env;
  return XDG_DATA_HOME !== undefined && isAbsolute(XDG_DATA_HOME)
    ? XDG_DATA_HOME
    : join(homedir(), ".local", "share");
}

/** Those that exist, or the one that is named. */
function databasesIn(root: string): readonly string[] {
  const { OPENCODE_DB } = process.env;
  if (OPENCODE_DB) return [isAbsolute(OPENCODE_DB) ? OPENCODE_DB : join(root, OPENCODE_DB)];
  try {
    const names = readdirSync(root).filter((name) => databaseName.test(name));
    return names.toSorted().map((name) => join(root, name));
  } catch {
    return [];
  }
}

const headBytes = 256;

/** Empty for what cannot be read. */
function headOf(path: string): string {
  try {
    const fd = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(headBytes);
      return bytes.toString("latin1", 0, readSync(fd, bytes, 0, headBytes, 0));
    } finally {
      closeSync(fd);
    }
  } catch {
    return "";
  }
}
