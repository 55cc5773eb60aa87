/** Kimi Code, and kimi-cli before it. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { normalizeName } from "@branchlog/core/entries";
import type { Agent } from "@branchlog/core/rows";
import { quietly, resolvePath } from "@branchlog/core/files";
import { headOf } from "../database-file.ts";
import { filesBelow, othersBelow } from "../files-below.ts";
import { titleIn } from "../spoken-title.ts";
import { isKimiRecord } from "./kimi-bodies.ts";
import { KimiTranscript } from "./kimi-transcript.ts";

export const kimi: Agent = {
  name: "kimi",
  product: "Kimi Code",
  places: () => [sessionsDirectory(), earlierDirectory()],
  resume: ({ id }) => ["kimi", "--session", id.replace(/\..*$/s, "")],
  documents: {
    agent: "kimi",
    version: 1,
    noun: "a wire file of kimi-cli",
    mayBe: (path) => earlierName.test(path),
    recognises: (path) =>
      /"(?:timestamp|protocol_version)"/.test(headOf(path)) && !isMigrated(path),
    isPlace: () => false,
    hasSubagents: true,
    // An answer that was broken off appears without a change.
    settlesAfterMs: 3_600_000,
    belongings: (path) => {
      const directory = dirname(path);
      if (basename(dirname(directory)) === "subagents") return [];
      return filesBelow(directory).filter((file) => file !== path);
    },
    filesOf: (path) => [
      path,
      ...["state.json", "context.jsonl"].map((name) => join(dirname(path), name)),
    ],
    // Loaded on demand: few have sessions of kimi-cli.
    toLog: async (path) => (await import("./earlier-log.ts")).earlierLog(path),
  },
  transcripts: {
    agent: "kimi",
    version: 2,
    noun: "a wire file of Kimi Code",
    recognises: isKimiRecord,
    presumed: { time: 0 },
    firstKeys: ["type", "message", "turnId"],
    read: (path, isEntry) => new KimiTranscript(path, isEntry),
    subagentNames: { pattern: /^wire\.jsonl$/, place: "anywhere" },
    titleIn,
    identity: () => undefined,
    indexedName: givenTitle,
    filesBeside: stateFiles,
    belongings,
  },
};

/** `sessions/HASH/ID/wire.jsonl`, of a subagent in `subagents/AGENT` there. */
const earlierName =
  /[\\/]sessions[\\/]\w*[\da-f]{32}[\\/]([^\\/]+)[\\/](?:subagents[\\/][^\\/]+[\\/])?wire\.jsonl$/;

function sessionsDirectory(): string {
  const { KIMI_CODE_HOME } = process.env;
  const home = KIMI_CODE_HOME ? resolvePath(KIMI_CODE_HOME) : join(homedir(), ".kimi-code");
  return join(home, "sessions");
}

/** Of kimi-cli, the program before it. */
function earlierDirectory(): string {
  const { KIMI_SHARE_DIR } = process.env;
  const share = KIMI_SHARE_DIR ? resolvePath(KIMI_SHARE_DIR) : join(homedir(), ".kimi");
  return join(share, "sessions");
}

/** Whether Kimi Code took a session over, which is continued there. */
function isMigrated(path: string): boolean {
  const [, id = ""] = earlierName.exec(path) ?? [];
  const directory = sessionsDirectory();
  const workspaces = quietly(() => readdirSync(directory)) ?? [];
  return workspaces.some((name) => existsSync(join(directory, name, `ses_${id}`)));
}

/** None for a subagent. */
function stateFiles(path: string): readonly string[] {
  const directory = sessionDirectory(path);
  return directory === undefined ? [] : [join(directory, "state.json")];
}

/** That a user gave; others are the first prompt. */
function givenTitle(path: string): string | undefined {
  const [file] = stateFiles(path);
  if (file === undefined) return undefined;
  try {
    // Decoding boundary: checked right away.
    const state: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (typeof state !== "object" || state === null) return undefined;
    const title: unknown = Reflect.get(state, "title");
    const isGiven: unknown = Reflect.get(state, "isCustomTitle");
    if (isGiven !== true || typeof title !== "string") return undefined;
    return normalizeName(title) || undefined;
  } catch {
    // Missing, damaged, or not to be read.
    return undefined;
  }
}

/** All that is in the directory of a session, with its subagents. */
function belongings(path: string): readonly string[] {
  const directory = sessionDirectory(path);
  if (directory === undefined) return [];
  return othersBelow(directory, sessionName, path);
}

/** Those with `ses` were moved from kimi-cli. */
const sessionName = /^ses(?:sion)?_/;

/** Of `DIR/agents/main/wire.jsonl`; undefined for any other path. */
function sessionDirectory(path: string): string | undefined {
  const agents = dirname(dirname(path));
  const isMain = basename(path) === "wire.jsonl" && basename(dirname(path)) === "main";
  return isMain && basename(agents) === "agents" ? dirname(agents) : undefined;
}
