/**
 * Where the transcript of a key is: below a directory as Claude Code itself keeps it, in a store
 * under a name. Different keys have different places, and no key leads out of the directory. Pure.
 */
import { join } from "node:path";
import type { SessionKey } from "@anthropic-ai/claude-agent-sdk";
import { decodedName, encodedName, shortName } from "@branchlog/core/files";
import { invalidArgument, nameBytesMax, requireText, shown } from "@branchlog/core/files";

export const transcriptEnding = ".jsonl";

/** Longer ones cannot be followed by `.jsonl`, and by what is written next to a file. */
const segmentBytesMax = nameBytesMax - 55;

/** Throws `ERR_INVALID_ARGUMENT` for what cannot be the name of one file or directory. */
export function requireSegment(what: string, value: unknown): string {
  if (typeof value === "string" && isSegment(value)) return value;
  throw invalidArgument(
    `${what} of a session must be a name of up to ${segmentBytesMax} bytes without "/", "\\" and ` +
      `control characters, other than "." and "..", not ${shown(value)}`,
  );
}

function isSegment(value: string): boolean {
  if (value === "" || value === "." || value === "..") return false;
  return Buffer.byteLength(value) <= segmentBytesMax && !/[/\\\p{Cc}\p{Cs}]/u.test(value);
}

/** The names of the directories of a key, and of its file without ending. Throws as above. */
export function segmentsOf({ projectKey, sessionId, subpath }: SessionKey): readonly string[] {
  const session = [
    requireSegment("The project key", projectKey),
    requireSegment("The id", sessionId),
  ];
  if (subpath === undefined) return session;
  const below = requireText("The subpath", subpath).split("/");
  return [...session, ...below.map((part) => requireSegment("Each part of the subpath", part))];
}

/** Throws as `segmentsOf`. */
export function transcriptPath(directory: string, key: SessionKey): string {
  return join(directory, ...segmentsOf(key)) + transcriptEnding;
}

/** Between the parts of a name, none of which has it. */
const between = ".";

/** What the name of each transcript of a project in a store begins with. */
export function projectPrefix(projectKey: string): string {
  const name = encodedName(requireSegment("The project key", projectKey));
  return ["claude", shortName(name), ""].join(between);
}

/** In a store. Throws as `segmentsOf`; the store refuses a name that is too long. */
export function storedName(key: SessionKey): string {
  const [projectKey = "", ...others] = segmentsOf(key);
  return projectPrefix(projectKey) + others.map(encodedName).join(between);
}

/** Of a name with the prefix of its project; undefined: it is of no transcript. */
export function keyOfName(projectKey: string, name: string): SessionKey | undefined {
  const prefix = projectPrefix(projectKey);
  if (!name.startsWith(prefix)) return undefined;
  const [sessionId, ...below] = name.slice(prefix.length).split(between).map(decodedName);
  if (sessionId === undefined) return undefined;
  return below.length === 0
    ? { projectKey, sessionId }
    : { projectKey, sessionId, subpath: below.join("/") };
}
