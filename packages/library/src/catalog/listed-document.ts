/** What a list shows of a document, which is read whole: facts of the log that is made of it. */
import { dirname } from "node:path";
import { decodeLine } from "@branchlog/streaming";
import { isBranchlogError } from "@branchlog/core";
import type { SessionEntry } from "@branchlog/core";
import { documentFormatOf, usage } from "@branchlog/core/rows";
import type { DocumentFormat } from "@branchlog/core/rows";
import { listedSession } from "./listed-session.ts";
import type { ListedSession } from "./listed-session.ts";
import { bytesSource } from "./stored-bytes.ts";
import { FactsReader } from "./session-facts.ts";
import type { SessionFile } from "./session-files.ts";

/**
 * Undefined: no agent has such documents. A damaged one is no session to anything that changes
 * files: `damaged`, if it is where an agent keeps such files, so that it is named.
 */
export async function listedDocument(
  file: SessionFile,
): Promise<ListedSession | "damaged" | undefined> {
  const format = documentFormatOf(file.path);
  if (format === undefined) return undefined;
  try {
    const log = await format.toLog(file.path);
    const facts = await new FactsReader().readOn(bytesSource(log), log.length, {});
    if (facts === undefined) return undefined;
    const { header, name, summary } = facts;
    return listedSession(file, { header, name, summary, transcript: spentIn(log, format) });
  } catch (error) {
    if (!isBranchlogError(error)) throw error;
    return format.isPlace(dirname(file.path)) ? "damaged" : undefined;
  }
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
  const named = models.filter((model) => model !== "");
  return { of, models: named, tokens: spent.total.totalTokens, isSubagent: false };
}
