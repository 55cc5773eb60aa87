/**
 * Evals: since 2026, a document in `.co/evals` for each first input, next to a directory with the
 * messages of its runs. Their turns have other names for the same, and numbers as JSON text.
 */
import { isObject } from "@branchlog/core/rows";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@branchlog/streaming";
import { isBranchlogError } from "@branchlog/core";
import { errorCodeOf } from "@branchlog/core/files";
import type { ConnectonionDocument, ConnectonionTurn } from "./document-types.ts";
import { parsedObject } from "./json-values.ts";
import { messageList } from "./read-document.ts";
import { runsDirectory } from "./document-head.ts";
import { readYaml } from "./yaml-reader.ts";

/** With turns as sessions have them; those of a session as they are. */
export function asSession(document: ConnectonionDocument): ConnectonionDocument {
  const { data, turns } = document;
  return { ...document, turns: turns.map((turn) => asTurn(turn, data)) };
}

function asTurn(turn: ConnectonionTurn, { model = "" }: JsonObject): ConnectonionTurn {
  // Decoding boundary: turns are handed out as found.
  const found = turn as unknown as JsonObject;
  const { meta: text, output = "" } = found;
  const meta = typeof text === "string" ? parsedObject(text) : undefined;
  if (meta === undefined && !("output" in found)) return turn;
  const { ts: timestamp = "", tokens = 0, cost = 0, duration_ms = 0 } = meta ?? {};
  const named: JsonObject = { result: output, model, timestamp, tokens, cost, duration_ms };
  // Decoding boundary: as above.
  return { ...named, ...found } as unknown as ConnectonionTurn;
}

/** The messages of the last run by turn; undefined if they are gone, or are of other turns. */
export function runMessages(
  path: string,
  { turns }: ConnectonionDocument,
): readonly JsonObject[][] | undefined {
  const run: unknown = turns.at(-1)?.["run"];
  if (typeof run !== "number" || !Number.isSafeInteger(run)) return undefined;
  const directory = runsDirectory(path);
  const messages = directory === undefined ? [] : messagesAt(join(directory, `run_${run}.yaml`));
  const starts = messages.flatMap(({ role }, at) => (role === "user" ? [at] : []));
  if (starts.length !== turns.length) return undefined;
  return starts.map((start, at) => messages.slice(start, starts[at + 1]));
}

/** None for an unreadable file. */
function messagesAt(path: string): JsonObject[] {
  try {
    const { value } = readYaml(readFileSync(path, "utf8"), path);
    const list = isObject(value) ? messageList(value["messages"]) : undefined;
    // Decoding boundary: messages are JSON.
    return [...(list ?? [])] as unknown as JsonObject[];
  } catch (error) {
    if (isBranchlogError(error) || errorCodeOf(error) !== undefined) return [];
    throw error;
  }
}
