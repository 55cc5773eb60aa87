/** Makes a log of a chat that is one JSON object in a file, see `chat-file.ts`. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { TextDecoder } from "node:util";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import { engineSettings } from "@branchlog/core/files";
import { encodeHeader, isObject, listAt, placeOf, stringAt } from "@branchlog/core/rows";
import type { DocumentBytes } from "@branchlog/core/rows";
import { readFileAs } from "../connectonion/document-file.ts";
import { GeminiTranscript } from "./gemini-transcript.ts";
import { projectRootFile } from "./project-root.ts";

/** As `DocumentFormat.toLog`. */
export async function geminiLog(path: string, given?: DocumentBytes): Promise<Buffer> {
  const parse = (text: string): JsonObject => chatOf(path, text);
  if (given === undefined) {
    return logOf(path, await readFileAs(engineSettings({}).ports, path, parse));
  }
  return logOf(path, parse(new TextDecoder().decode(given.bytes)));
}

function chatOf(path: string, text: string): JsonObject {
  let cause: unknown;
  try {
    // Decoding boundary: JSON.parse returns only JSON values.
    const chat = JSON.parse(text) as JsonValue;
    if (isObject(chat) && stringAt(chat, "sessionId") !== undefined) return chat;
  } catch (error) {
    cause = error;
  }
  const message = `${path} is not a recorded chat, or partly written. It was not changed.`;
  throw new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path, cause });
}

function logOf(path: string, chat: JsonObject): Buffer {
  const { messages: _messages, ...facts } = chat;
  const transcript = new GeminiTranscript(path);
  transcript.add(facts, 1);
  const summary = stringAt(chat, "summary");
  if (summary !== undefined) transcript.add({ $set: { summary } }, 1);
  const messages = listAt(chat, "messages").filter(isObject);
  // One that is stored again is an update of the first one.
  const last = new Map(messages.map((message, at) => [stringAt(message, "id") ?? at, message]));
  const lines = [...last.values()].flatMap((message, at): string[] => {
    return transcript.add(message, at + 2).flatMap((row) => {
      const entry = transcript.entryOf(
        message,
        placeOf(row, () => []),
      );
      return entry === undefined ? [] : [JSON.stringify(entry)];
    });
  });
  const { header } = transcript;
  if (header === undefined) return Buffer.alloc(0);
  const cwd = header.cwd || projectOf(path, stringAt(chat, "projectHash") ?? "");
  return Buffer.from(`${[encodeHeader({ ...header, cwd }), ...lines].join("\n")}\n`);
}

/** Known where Gemini CLI wrote it down, since 0.29; else empty. */
function projectOf(path: string, projectHash: string): string {
  try {
    const root = readFileSync(projectRootFile(path), "utf8").trim();
    return createHash("sha256").update(root).digest("hex") === projectHash ? root : "";
  } catch {
    return "";
  }
}
