/** Qwen Code. */
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Agent } from "@branchlog/core/rows";
import { resolvePath } from "@branchlog/core/files";
import { filesBelow } from "../files-below.ts";
import { chatDocuments } from "../gemini/chat-file.ts";
import { titleIn } from "../spoken-title.ts";
import { QwenTranscript, isQwenRecord } from "./qwen-transcript.ts";

export const qwen: Agent = {
  name: "qwen",
  product: "Qwen Code",
  places: () => {
    const { QWEN_HOME, QWEN_RUNTIME_DIR } = process.env;
    const home = QWEN_RUNTIME_DIR || QWEN_HOME;
    const own = join(homedir(), ".qwen");
    return [join(home ? resolvePath(home) : own, "projects"), join(own, "tmp")];
  },
  resume: ({ id, path }) =>
    path.endsWith(".json") ? null : ["qwen", "--resume", id.replace(/\..*$/s, "")],
  renamedDirectory: (name, from, to) =>
    name === directoryName(from) ? directoryName(to) : undefined,
  documents: chatDocuments("qwen", 2, "a recorded chat of Qwen Code"),
  transcripts: {
    agent: "qwen",
    version: 1,
    noun: "a transcript of Qwen Code",
    recognises: isQwenRecord,
    presumed: { uuid: "" },
    firstKeys: ["uuid"],
    read: (path, isEntry) => new QwenTranscript(basename(path), isEntry),
    subagentNames: { pattern: /^agent-.*\.jsonl$/, place: "anywhere" },
    titleIn,
    identity: () => undefined,
    belongings,
  },
};

/** `DIR/chats/ID.jsonl` has its subagents in `DIR/subagents/ID`. */
function belongings(path: string): readonly string[] {
  const chats = dirname(path);
  if (basename(chats) !== "chats") return [];
  return filesBelow(join(dirname(chats), "subagents", basename(path).replace(/\.jsonl$/, "")));
}

function directoryName(cwd: string): string {
  return cwd.replaceAll(/[^A-Za-z0-9]/g, "-");
}
