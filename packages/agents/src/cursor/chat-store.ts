/**
 * Reads a chat of Cursor's command in its database, and makes a log of it: blobs by the hash of
 * what they hold, of which a root names those of the messages. What is encrypted is not read, and
 * its key is left where it is.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BranchlogError } from "@branchlog/core";
import { quietly } from "@branchlog/core/files";
import { dateMs, isObject, objectAt, stringAt } from "@branchlog/core/rows";
import { readForeignDatabase } from "@branchlog/library/catalogs";
import type { QueryRows } from "@branchlog/library/catalogs";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { tablesIn, textAt } from "../database-sessions.ts";
import { uuidName } from "../files-below.ts";
import { transcriptId } from "../transcript-id.ts";
import { logOfChat } from "./chat-entries.ts";
import type { StoredChat } from "./chat-entries.ts";
import { transcriptsName } from "./cursor-transcript.ts";

/** By the directories of projects; a list asks for each of its chats in one turn. */
const known = new Map<string, ReadonlySet<string>>();

/**
 * Whether a chat is read in its transcript: that has all of it, where the chat has what the model
 * sees now.
 */
export function hasTranscript(store: string, projects: string): boolean {
  const id = basename(dirname(store));
  // Next to `chats`, as long as no variable parts them.
  const beside = join(dirname(store), "..", "..", "..", "projects");
  return [...new Set([beside, projects])].some((root) => idsOfTranscripts(root).has(id));
}

function idsOfTranscripts(root: string): ReadonlySet<string> {
  if (known.size === 0) setImmediate(() => known.clear());
  const namesIn = (directory: string): readonly string[] =>
    quietly(() => readdirSync(directory)) ?? [];
  const ids =
    known.get(root) ??
    new Set(
      namesIn(root).flatMap((project) => {
        const transcripts = join(root, project, transcriptsName);
        return namesIn(transcripts).flatMap((name) => {
          if (name.endsWith(".jsonl")) return [basename(name, ".jsonl")];
          return existsSync(join(transcripts, name, `${name}.jsonl`)) ? [name] : [];
        });
      }),
    );
  known.set(root, ids);
  return ids;
}

/** As `DocumentFormat.toLog`. */
export async function chatLog(path: string): Promise<Buffer> {
  const chat = await readForeignDatabase(path, (query) => chatIn(query, path));
  if (chat !== undefined) return logOfChat(chat);
  const message = `${path} is not a chat of Cursor. It was not changed.`;
  throw new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path });
}

/** Undefined for a database of another program, or one that names no messages. */
function chatIn(query: QueryRows, path: string): StoredChat | undefined {
  const tables = tablesIn(query);
  if (!tables.has("meta") || !tables.has("blobs")) return undefined;
  const [row] = query("SELECT value FROM meta WHERE key = '0'");
  const facts = objectIn(Buffer.from(textAt(row ?? {}, "value") ?? "", "hex"));
  const root = blobOf(query, stringAt(facts, "latestRootBlobId") ?? "");
  if (facts === undefined || root === undefined) return undefined;
  const { messageIds, workspace } = namedIn(root);
  const beside = quietly(() => readFileSync(join(dirname(path), "meta.json"))) ?? undefined;
  const cwd = stringAt(objectIn(beside), "cwd");
  const [name, directory] = [stringAt(facts, "name"), basename(dirname(path))];
  let bytes = 0;
  const messageOf = (id: string): JsonObject | undefined => {
    const blob = blobOf(query, id);
    bytes += blob?.length ?? 0;
    // The same message may be named any number of times.
    if (bytes > chatBytesMax) throw new Error("its messages are larger than any chat");
    return objectIn(blob);
  };
  return {
    // A copy may be anywhere.
    id: transcriptId(uuidName.test(directory) ? directory : stringAt(facts, "agentId"), directory),
    parentId: stringAt(objectAt(facts, "subagentInfo"), "parentAgentId"),
    directory: cwd ?? quietly(() => fileURLToPath(workspace)) ?? "",
    name: name === unnamed ? undefined : name,
    createdMs: dateMs(facts["createdAt"]) ?? 0,
    model: stringAt(facts, "lastUsedModel"),
    messages: messageIds.map((id) => ({ id, value: messageOf(id) })),
  };
}

/** Of what a model sees. */
const chatBytesMax = 256 * 1024 * 1024;

/** What a chat is called before it has a name. */
const unnamed = "New Agent";

function blobOf(query: QueryRows, id: string): Uint8Array | undefined {
  const data = query("SELECT data FROM blobs WHERE id = ?", id)[0]?.["data"];
  return data instanceof Uint8Array ? data : undefined;
}

function objectIn(bytes: Uint8Array | undefined): JsonObject | undefined {
  // Decoding boundary: JSON.parse returns only JSON values.
  const value = quietly(() => JSON.parse(Buffer.from(bytes ?? []).toString()) as JsonValue);
  return isObject(value) ? value : undefined;
}

const hashBytes = 32;
/** Of the root, by what others read in it. */
const fields = { message: 1, workspace: 9 };

/** Its fields are those of a protocol buffer. Reading ends at the first invalid one. */
function namedIn(root: Uint8Array): {
  readonly messageIds: readonly string[];
  readonly workspace: string;
} {
  const bytes = Buffer.from(root);
  const messageIds: string[] = [];
  let [at, workspace] = [0, ""];
  const number = (): number => {
    let value = 0;
    for (let scale = 1; at < bytes.length && scale < 2 ** 49; scale *= 128) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
    return Number.NaN;
  };
  while (at < bytes.length) {
    const key = number();
    const [field, wireType] = [Math.floor(key / 8), key % 8];
    if (wireType === 2) {
      const length = number();
      if (!(at + length <= bytes.length)) break;
      const value = bytes.subarray(at, at + length);
      at += length;
      if (field === fields.message && length === hashBytes) messageIds.push(value.toString("hex"));
      if (field === fields.workspace) workspace = value.toString();
    } else if (wireType === 0) number();
    else if (wireType === 1) at += 8;
    else if (wireType === 5) at += 4;
    else break;
  }
  return { messageIds, workspace };
}
