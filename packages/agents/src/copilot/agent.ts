/** GitHub Copilot CLI. */
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { JsonObject } from "@branchlog/streaming";
import { objectAt, stringAt } from "@branchlog/core/rows";
import type { Agent } from "@branchlog/core/rows";
import { resolvePath } from "@branchlog/core/files";
import { titleIn } from "../spoken-title.ts";
import { CopilotTranscript } from "./copilot-transcript.ts";
import { filesOfSession, workspaceName } from "./session-directory.ts";

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
    version: 1,
    noun: "the events of a session of Copilot CLI",
    recognises,
    hasLinks: true,
    presumed: { data: {}, id: "", timestamp: "" },
    firstKeys: ["type"],
    read: (path) => new CopilotTranscript(basename(path)),
    // They are in the file of their session.
    subagentNames: { pattern: /^$/, place: "beside" },
    titleIn,
    identity: () => undefined,
    indexedName: workspaceName,
    belongings: filesOfSession,
  },
};

/** Such as `session.start`. */
const eventType = /^[a-z_]+\.[a-zA-Z_]+$/;

/** Each event has a type, data, and the id of the event before it. */
function recognises(record: JsonObject): boolean {
  const type = stringAt(record, "type");
  if (type === undefined || !(eventType.test(type) || type === "abort")) return false;
  const { id, parentId } = record;
  const isLink = typeof parentId === "string" || parentId === null;
  return isLink && typeof id === "string" && objectAt(record, "data") !== undefined;
}
