/** Codex. */
import { titleIn } from "../spoken-title.ts";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { JsonObject } from "@branchlog/streaming";
import type { SessionEntry } from "@branchlog/core";
import { countedKey, isObject, partType, stringAt } from "@branchlog/core/rows";
import type { Agent } from "@branchlog/core/rows";
import { resolvePath } from "@branchlog/core/files";
import { isBareOfCodex } from "./codex-record.ts";
import { CodexTranscript } from "./codex-transcript.ts";
import { rolloutParts } from "./rollout-parts.ts";
import { indexedName } from "./session-index.ts";

/** `~/.codex/worktrees/ID/REPOSITORY`: only the name of the repository is there. */
const worktreeForm = /[\\/]\.codex[\\/]worktrees[\\/][^\\/]+[\\/]([^\\/]+)((?:[\\/].*)?)$/;

export const codex: Agent = {
  name: "codex",
  product: "Codex",
  places: () => {
    const { CODEX_HOME } = process.env;
    const home = CODEX_HOME ? resolvePath(CODEX_HOME) : join(homedir(), ".codex");
    return [join(home, "sessions"), join(home, "archived_sessions")];
  },
  resume: ({ id }) => ["codex", "resume", id],
  worktree: (directory) => {
    const [, name, below = ""] = worktreeForm.exec(directory) ?? [];
    return name === undefined ? undefined : { of: { name }, below };
  },
  transcripts: {
    agent: "codex",
    version: 2,
    noun: "a rollout of Codex",
    recognises,
    presumed: { payload: {} },
    firstKeys: ["timestamp", "type"],
    read: (path) => new CodexTranscript(basename(path)),
    subagentNames: { pattern: /^rollout-/, place: "anywhere" },
    // Entries have no ids: they are known by their lines.
    identity: (entry, spent) => {
      const { input, output, cacheRead, cacheWrite } = spent;
      const counted: unknown = Reflect.get(entry, countedKey);
      // Within a session, each counts. Without a thread, it cannot be distinguished from that of
      // another.
      if (typeof counted === "string" && /^\S+ \{/.test(counted)) {
        return { key: [counted, input, output, cacheRead, cacheWrite], isPart: true };
      }
      const asked = askedIn(entry);
      // A copy is of the same thread, at any time.
      if (asked !== "" && typeof counted === "string" && counted !== "") {
        return { key: [counted, asked], isPart: true };
      }
      const time = Date.parse(entry.timestamp);
      const key = [asked, time, entry.type, input, output, cacheRead, cacheWrite];
      return { key, isPart: true };
    },
    indexedName,
    titleIn,
    parts: rolloutParts,
    compression: {
      nameEnd: ".jsonl.zst",
      // The first bytes of everything that zstd compressed.
      mark: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
      text: "as Codex does with rollouts that it no longer uses",
    },
  },
};

const envelopeTypes: ReadonlySet<string> = new Set([
  "session_meta",
  "turn_context",
  "response_item",
  "event_msg",
  "compacted",
  partType,
]);

function recognises(record: JsonObject): boolean {
  const type = stringAt(record, "type");
  if (type === undefined) return isBareOfCodex(record);
  return envelopeTypes.has(type) && isObject(record["payload"]);
}

/** Content is made of texts and images. */
function askedIn(entry: SessionEntry): string {
  if (entry.type !== "message" || entry.message.role !== "user") return "";
  return JSON.stringify(entry.message.content);
}
