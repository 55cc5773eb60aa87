/** Codex. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { JsonObject } from "@branchlog/streaming";
import type { SessionEntry } from "@branchlog/core";
import { countedKey, isObject, partType, stringAt } from "@branchlog/core/rows";
import type { Agent } from "@branchlog/core/rows";
import { resolvePath } from "@branchlog/core/files";
import { headOf } from "../database-file.ts";
import { titleIn } from "../spoken-title.ts";
import { isBareOfCodex } from "./codex-record.ts";
import { CodexTranscript } from "./codex-transcript.ts";
import { compressedEnd, isPartOfThread, rolloutParts } from "./rollout-parts.ts";
import { indexedName } from "./session-index.ts";

/** The first bytes of everything that zstd compressed. */
const compressedMark = "(\u{b5}/\u{fd}";

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
  documents: {
    agent: "codex",
    version: 1,
    noun: "a rollout of Codex",
    mayBe: (name) => name.endsWith(`.jsonl${compressedEnd}`),
    // Codex decompresses one to append to it, and removes the other then.
    recognises: (path) =>
      headOf(path).startsWith(compressedMark) && !existsSync(path.slice(0, -compressedEnd.length)),
    isPlace: (directory) =>
      /[\\/]sessions[\\/]\d{4}[\\/]\d\d[\\/]\d\d$/.test(directory) ||
      basename(directory) === "archived_sessions",
    // Asked before one is removed: a later file of its thread may continue one that was listed.
    belongings: (path) => (isPartOfThread(path) ? undefined : []),
    // Loaded on demand: sessions that were used lately are not compressed.
    toLog: async (path, given) => (await import("./compressed-rollout.ts")).rolloutIn(path, given),
  },
  transcripts: {
    agent: "codex",
    version: 2,
    noun: "a rollout of Codex",
    recognises,
    presumed: { payload: {} },
    firstKeys: ["timestamp", "type"],
    read: (path) => new CodexTranscript(basename(path, compressedEnd)),
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
    belongings: (path) => [`${path}${compressedEnd}`].filter((one) => existsSync(one)),
    parts: rolloutParts,
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
