/** GitHub Copilot CLI. */
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { Agent } from "@branchlog/core/rows";
import { resolvePath } from "@branchlog/core/files";
import { titleIn } from "../spoken-title.ts";
import { isEvent } from "./copilot-bodies.ts";
import { CopilotTranscript } from "./copilot-transcript.ts";
import { filesOfSession, workspaceFiles, workspaceName } from "./session-directory.ts";

export const copilot: Agent = {
  name: "copilot",
  product: "Copilot CLI",
  places: () => {
    const { COPILOT_HOME } = process.env;
    const home = COPILOT_HOME ? resolvePath(COPILOT_HOME) : join(homedir(), ".copilot");
    return [join(home, "session-state")];
  },
  resume: ({ id }) => ["copilot", `--resume=${id}`],
  transcripts: {
    agent: "copilot",
    version: 2,
    noun: "the events of a session of Copilot CLI",
    recognises: isEvent,
    hasLinks: true,
    presumed: { data: {}, id: "", timestamp: "" },
    firstKeys: ["type"],
    read: (path, isEntry) => new CopilotTranscript(basename(path), isEntry),
    // They are in the file of their session.
    subagentNames: { pattern: /^$/, place: "beside" },
    titleIn,
    identity: () => undefined,
    indexedName: workspaceName,
    filesBeside: workspaceFiles,
    belongings: filesOfSession,
  },
};
