/** Crush: a database in each project. */
import { basename } from "node:path";
import { fileOfAddress } from "@branchlog/core/rows";
import type { Agent } from "@branchlog/core/rows";
import { databaseFiles, isSqlite } from "../database-file.ts";
import { databasesOfProjects } from "./crush-projects.ts";

const databaseName = "crush.db";

export const crush: Agent = {
  name: "crush",
  product: "Crush",
  places: databasesOfProjects,
  resume: ({ id }) => ["crush", "--session", id],
  documents: {
    agent: "crush",
    version: 1,
    noun: "a session of Crush",
    mayBe: (path) => basename(fileOfAddress(path).file) === databaseName,
    recognises: (path) => isSqlite(fileOfAddress(path).file),
    isPlace: (directory) => basename(directory) === ".crush",
    hasSubagents: true,
    // Loaded on demand: few have sessions of Crush.
    sessionsIn: async (path) => (await import("./crush-sessions.ts")).sessionsIn(path),
    filesOf: (path) => databaseFiles(fileOfAddress(path).file),
    toLog: async (path) => (await import("./crush-sessions.ts")).crushLog(path),
  },
};
