/** What a list shows of a document, which is read whole: facts of the log that is made of it. */
import { dirname } from "node:path";
import { isBranchlogError } from "@branchlog/core";
import type { SessionHeader } from "@branchlog/core";
import { documentFormatOf, fileOfAddress } from "@branchlog/core/rows";
import type { DocumentFormat } from "@branchlog/core/rows";
import { listedSession, unreadSession } from "./listed-session.ts";
import type { ListedSession } from "./listed-session.ts";
import { bytesSource } from "./stored-bytes.ts";
import { FactsReader } from "./session-facts.ts";
import type { SessionFile } from "./session-files.ts";
import type { ListedTranscript } from "./transcript-scan.ts";

/** Of a session in a database, before it was read; undefined: it has to be. */
export function unreadDocument({ path, rowFacts }: SessionFile): ListedSession | undefined {
  const format = rowFacts && documentFormatOf(path);
  if (rowFacts === undefined || format === undefined) return undefined;
  return unreadSession(path, rowFacts, transcriptOf(format, rowFacts.header));
}

function transcriptOf(format: DocumentFormat, header: SessionHeader): ListedTranscript {
  const isSubagent = format.hasSubagents === true && header.parentSession !== undefined;
  return { of: format.agent, isSubagent };
}

export interface ListedDocument {
  /**
   * Undefined: no agent has such documents. A damaged one is not a session to anything that changes
   * files: `damaged`, if it is where an agent keeps such files, so that it is named.
   */
  readonly session: ListedSession | "damaged" | undefined;
  /** Of the log that is made of it. */
  readonly logBytes: number;
}

export async function listedDocument(file: SessionFile): Promise<ListedDocument> {
  const format = documentFormatOf(file.path);
  if (format === undefined) return { session: undefined, logBytes: 0 };
  try {
    const log = await format.toLog(file.path);
    const reading = { path: file.path };
    const facts = await new FactsReader().readOn(bytesSource(log), log.length, reading);
    const logBytes = log.length;
    if (facts === undefined) return { session: undefined, logBytes };
    const { header, name, summary, usage, activity } = facts;
    const transcript = "transcript" in facts ? facts.transcript : transcriptOf(format, header);
    const said = { header, name, ownName: name, summary, usage, activity };
    // Of several sessions in a file, none has a size but that of its log.
    const size = fileOfAddress(file.path).id === undefined ? file.size : log.length;
    return { session: listedSession({ ...file, size }, { ...said, transcript }), logBytes };
  } catch (error) {
    if (!isBranchlogError(error)) throw error;
    return { session: format.isPlace(dirname(file.path)) ? "damaged" : undefined, logBytes: 0 };
  }
}
