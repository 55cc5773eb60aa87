/** What a list shows of a document, which is read whole: facts of the log that is made of it. */
import { basename, dirname, extname } from "node:path";
import { decodeLine } from "@branchlog/streaming";
import { isBranchlogError } from "@branchlog/core";
import type { SessionEntry } from "@branchlog/core";
import { documentFormatOf, summary, usage } from "@branchlog/core/rows";
import type { DocumentFormat } from "@branchlog/core/rows";
import { listedSession } from "./listed-session.ts";
import type { ListedSession } from "./listed-session.ts";
import { bytesSource } from "./stored-bytes.ts";
import { FactsReader } from "./session-facts.ts";
import type { SessionFile } from "./session-files.ts";

/** A damaged one is listed without what it says. Undefined: no agent has such documents. */
export async function listedDocument(file: SessionFile): Promise<ListedSession | undefined> {
  const format = documentFormatOf(file.path);
  if (format === undefined) return undefined;
  try {
    const log = await format.toLog(file.path);
    const facts = await new FactsReader().readOn(bytesSource(log), log.length, {});
    if (facts === undefined) return undefined;
    const { header, name, summary: said } = facts;
    const transcript = spentIn(log, format);
    return listedSession(file, { header, name, summary: said, transcript });
  } catch (error) {
    if (!isBranchlogError(error)) throw error;
    return damaged(file, format);
  }
}

function damaged(file: SessionFile, { agent: of }: DocumentFormat): ListedSession {
  const name = basename(file.name, extname(file.name));
  const timestamp = new Date(file.mtimeMs).toISOString();
  const header = { type: "session", id: name, timestamp, cwd: dirname(file.path) } as const;
  const transcript = { of, models: [], tokens: 0, isSubagent: false };
  return listedSession(file, { header, name, summary: summary.initial(), transcript });
}

function spentIn(log: Buffer, { agent: of }: DocumentFormat): ListedSession["transcript"] & object {
  let spent = usage.initial();
  for (let start = 0, end = log.indexOf(10); end >= 0; end = log.indexOf(10, start)) {
    const line = decodeLine(log, start, end);
    // Decoding boundary: a line of a log that was just made.
    const entry = line.ok ? (line.value as unknown as SessionEntry) : undefined;
    if (entry !== undefined) spent = usage.apply(spent, { revision: 0, entry });
    start = end + 1;
  }
  const models = [...spent.byModel.values()].flatMap((ofProvider) => [...ofProvider.keys()]);
  return { of, models, tokens: spent.total.totalTokens, isSubagent: false };
}
