/** Gemini CLI. */
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { answerKey } from "@branchlog/core/rows";
import type { Agent } from "@branchlog/core/rows";
import { resolvePath } from "@branchlog/core/files";
import { chatDocuments } from "./chat-file.ts";
import { titleIn } from "../spoken-title.ts";
import { isGeminiRecord } from "./gemini-bodies.ts";
import { GeminiTranscript } from "./gemini-transcript.ts";

const uuidName = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.jsonl$/;

export const gemini: Agent = {
  name: "gemini",
  product: "Gemini CLI",
  places: () => {
    const { GEMINI_CLI_HOME } = process.env;
    const home = GEMINI_CLI_HOME ? resolvePath(GEMINI_CLI_HOME) : homedir();
    return [join(home, ".gemini", "tmp")];
  },
  resume: ({ id }) => ["gemini", "--resume", id],
  documents: chatDocuments("gemini", 3, "a recorded chat of Gemini CLI"),
  transcripts: {
    agent: "gemini",
    version: 1,
    noun: "a recorded chat of Gemini CLI",
    recognises: isGeminiRecord,
    presumed: { projectHash: "", timestamp: "" },
    firstKeys: ["sessionId", "$set", "id", "$rewindTo"],
    read: (path) => new GeminiTranscript(path),
    // In a directory with the id of their session.
    subagentNames: { pattern: uuidName, place: "anywhere" },
    belongings,
    titleIn,
    identity: (entry) => {
      const answer: unknown = Reflect.get(entry, answerKey);
      return typeof answer === "string" ? { key: [answer], isPart: true } : undefined;
    },
  },
};

/** Of `session-TIME-ID.jsonl`, whose name has the first digits of its id, in `ID/`. */
function belongings(path: string): readonly string[] {
  const [, id] = /^session-.*-([\da-f]{8})\.jsonl$/.exec(basename(path)) ?? [];
  if (id === undefined) return [];
  try {
    const chats = readdirSync(dirname(path), { withFileTypes: true });
    const own = chats.filter((one) => one.isDirectory() && one.name.startsWith(`${id}-`));
    return own.flatMap(({ name }) => filesIn(join(dirname(path), name)));
  } catch {
    return [];
  }
}

function filesIn(directory: string): readonly string[] {
  const all = readdirSync(directory, { withFileTypes: true });
  return all.filter((one) => one.isFile()).map(({ name }) => join(directory, name));
}
