/** Claude Code. */
import { titleIn } from "../spoken-title.ts";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { JsonObject } from "@branchlog/streaming";
import type { SessionEntry } from "@branchlog/core";
import { answerKey, countedKey, isObject, objectAt, stringAt } from "@branchlog/core/rows";
import type { Agent } from "@branchlog/core/rows";
import { resolvePath } from "@branchlog/core/files";
import { ClaudeTranscript } from "./claude-transcript.ts";
import { toolResults } from "./tool-results.ts";

/** `DIR/.claude/worktrees/NAME`, and what is below. */
const worktreeForm = /^(.+)[\\/]\.claude[\\/]worktrees[\\/][^\\/]+((?:[\\/].*)?)$/;

export const claude: Agent = {
  name: "claude",
  product: "Claude Code",
  places: () => {
    const { CLAUDE_CONFIG_DIR } = process.env;
    const homes = CLAUDE_CONFIG_DIR
      ? [resolvePath(CLAUDE_CONFIG_DIR)]
      : [join(homedir(), ".claude"), join(homedir(), ".config", "claude")];
    return homes.map((home) => join(home, "projects"));
  },
  // Of a subagent, the session that started it.
  resume: ({ id }) => ["claude", "--resume", id.replace(/\..*$/s, "")],
  renamedDirectory: (name, from, to) =>
    name === directoryName(from) ? directoryName(to) : undefined,
  worktree: (directory) => {
    const [, of, below = ""] = worktreeForm.exec(directory) ?? [];
    return of === undefined ? undefined : { of, below };
  },
  transcripts: {
    agent: "claude",
    version: 1,
    noun: "a transcript of Claude Code",
    recognises,
    presumed: { uuid: "" },
    firstKeys: ["parentUuid", "type", "uuid", "sessionId"],
    read: (path, isEntry) => new ClaudeTranscript(basename(path), isEntry),
    // Below the directory of their session since 2026, and next to it before.
    subagentNames: { pattern: /^agent-.*\.jsonl$/, place: "beside" },
    sideTexts: toolResults,
    titleIn,
    // The entries of a subagent in the file of its session are below the call of that task.
    isAsked: ({ parentId }) => parentId?.endsWith("#task") !== true,
    // An answer has its own id, for any ids of its records, and a prompt that of its record, for
    // any time of a copy.
    identity: (entry) => {
      const answer: unknown = Reflect.get(entry, answerKey);
      if (typeof answer === "string") {
        // A gateway may give all answers one id, and none to requests.
        const speaker: unknown = Reflect.get(entry, countedKey);
        if (typeof speaker !== "string") return { key: [answer], isPart: true };
        const otherKey = [answer, Date.parse(entry.timestamp)];
        return { key: [answer, speaker], otherKey, isPart: true };
      }
      if (entry.id.startsWith("line:")) return undefined;
      const said = textOf(entry);
      const otherKey = [Date.parse(entry.timestamp), said];
      return { key: [entry.id], isPart: false, ...(said === "" ? {} : { otherKey }) };
    },
  },
};

/** Of a prompt; versions before 2 gave those of a session that was resumed other ids. */
function textOf(entry: SessionEntry): string {
  if (entry.type !== "message" || entry.message.role !== "user") return "";
  return JSON.stringify(entry.message.content);
}

/** Records without a place in the tree and a session id. */
const looseTypes: ReadonlySet<string> = new Set(["summary", "file-history-snapshot"]);

function recognises(record: JsonObject): boolean {
  const type = stringAt(record, "type");
  if (type === undefined) return false;
  // Others name their sessions in the same way.
  const isOther = Array.isArray(objectAt(record, "message")?.["parts"]);
  const isNote = type === "system" && isObject(record["systemPayload"]);
  const isHead = "projectHash" in record && !("uuid" in record);
  if (isOther || isNote || isHead) return false;
  if (typeof record["sessionId"] === "string") return true;
  // Others have envelopes with a payload.
  if (isObject(record["payload"])) return false;
  return looseTypes.has(type) || ("parentUuid" in record && typeof record["uuid"] === "string");
}

/** Longer names end with a hash of the directory. */
const nameUnitsMax = 200;

function directoryName(cwd: string): string {
  const name = cwd.normalize("NFC").replaceAll(/[^A-Za-z0-9]/g, "-");
  if (name.length <= nameUnitsMax) return name;
  return `${name.slice(0, nameUnitsMax)}-${hashOf(cwd.normalize("NFC"))}`;
}

/** Of the units of a text, as `String.hashCode` of Java, in base 36. */
function hashOf(text: string): string {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (hash * 31 + text.charCodeAt(at)) | 0;
  return Math.abs(hash).toString(36);
}
