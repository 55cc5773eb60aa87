/** Gemini CLI. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@branchlog/streaming";
import { answerKey, isObject, stringAt } from "@branchlog/core/rows";
import type { Agent } from "@branchlog/core/rows";
import { titleIn } from "../spoken-title.ts";
import { geminiDocuments } from "./gemini-document.ts";
import { GeminiTranscript } from "./gemini-transcript.ts";

export const gemini: Agent = {
  name: "gemini",
  product: "Gemini CLI",
  places: () => [join(homedir(), ".gemini", "tmp")],
  resume: ({ id }) => ["gemini", "--resume", id],
  documents: geminiDocuments,
  transcripts: {
    agent: "gemini",
    version: 1,
    noun: "a recorded chat of Gemini CLI",
    recognises,
    presumed: { projectHash: "", timestamp: "" },
    firstKeys: ["sessionId", "$set", "id", "$rewindTo"],
    read: (fileName) => new GeminiTranscript(fileName),
    // In a directory with the id of their session.
    subagentNames: { pattern: /^$/, place: "beside" },
    titleIn,
    identity: (entry) => {
      const answer: unknown = Reflect.get(entry, answerKey);
      return typeof answer === "string" ? { key: [answer], isPart: true } : undefined;
    },
  },
};

const messageTypes: ReadonlySet<string> = new Set(["user", "gemini", "info", "warning", "error"]);

function recognises(record: JsonObject): boolean {
  if (typeof record["sessionId"] === "string") return typeof record["projectHash"] === "string";
  if (isObject(record["$set"]) || typeof record["$rewindTo"] === "string") return true;
  const isMessage = messageTypes.has(stringAt(record, "type") ?? "") && "content" in record;
  return isMessage && typeof record["id"] === "string" && typeof record["timestamp"] === "string";
}
