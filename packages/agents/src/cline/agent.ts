/** Cline: its command, and what is built on its library. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { Agent } from "@branchlog/core/rows";
import { resolvePath } from "@branchlog/core/files";
import { belongings, manifestOf } from "./session-directory.ts";

/** Of a directory of a session. */
const sessionName = /^\d{13}_\w+$/;
const messagesName = /\.messages\.json$/;

export const cline: Agent = {
  name: "cline",
  product: "Cline",
  places: () => {
    const { CLINE_SESSION_DATA_DIR, CLINE_DATA_DIR, CLINE_DIR } = process.env;
    if (CLINE_SESSION_DATA_DIR) return [resolvePath(CLINE_SESSION_DATA_DIR)];
    if (CLINE_DATA_DIR) return [join(resolvePath(CLINE_DATA_DIR), "sessions")];
    const home = CLINE_DIR ? resolvePath(CLINE_DIR) : join(homedir(), ".cline");
    return [join(home, "data", "sessions")];
  },
  resume: ({ id }) => ["cline", "--id", id.replace(/__.*$/s, "")],
  documents: {
    agent: "cline",
    version: 1,
    noun: "a session of Cline",
    mayBe: (path) => messagesName.test(path),
    recognises: (path) => existsSync(manifestOf(path)),
    isPlace: (directory) => sessionName.test(basename(directory)),
    hasSubagents: true,
    filesOf: (path) => [path, manifestOf(path), path.replace(messagesName, ".compaction.json")],
    belongings,
    // Loaded on demand: few have sessions of Cline.
    toLog: async (path, given) => (await import("./cline-log.ts")).clineLog(path, given),
  },
};
