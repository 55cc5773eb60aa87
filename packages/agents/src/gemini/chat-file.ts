/** Files of JSON with a chat each, of Gemini CLI before 0.43, and of Qwen Code before its 0.2. */
import { basename, sep } from "node:path";
import type { DocumentFormat } from "@branchlog/core/rows";
import { headOf } from "../database-file.ts";
import { projectRootFile } from "./project-root.ts";

/** The fields that identify a chat may follow others. */
const headBytes = 4096;
/** Enough for the first answer, whose type identifies the agent of the chat. */
const answerBytes = 64 * 1024;

type ChatOwner = "gemini" | "qwen";

/** The common part of both. */
export function chatDocuments(owner: ChatOwner, version: number, noun: string): DocumentFormat {
  return {
    agent: owner,
    version,
    noun,
    mayBe: (name) => /(?:^|[/\\])session-[^/\\]*\.json$/.test(name),
    recognises: (path) => ownerOf(path) === owner,
    isPlace: (directory) => basename(directory) === "chats",
    filesOf: (path) => [path, projectRootFile(path)],
    // Loaded on demand: few have such chats.
    toLog: async (path, given) => (await import("./gemini-document.ts")).geminiLog(path, given),
  };
}

/** Undefined: it is of neither. */
function ownerOf(path: string): ChatOwner | undefined {
  const head = headOf(path, headBytes);
  const isChat =
    /^\s*\{/.test(head) && /"sessionId"\s*:/.test(head) && /"projectHash"\s*:/.test(head);
  if (!isChat) return undefined;
  const isThere = path.includes(`${sep}.qwen${sep}`);
  return isThere || /"type"\s*:\s*"qwen"/.test(headOf(path, answerBytes)) ? "qwen" : "gemini";
}
