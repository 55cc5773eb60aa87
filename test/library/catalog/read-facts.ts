/** The facts of one file, read from its start to its end. */
import { openByteSource } from "@branchlog/streaming";
import { FactsReader } from "../../../packages/library/src/catalog/session-facts.ts";
import type {
  FactsOptions,
  FactsReadOptions,
  SessionFacts,
} from "../../../packages/library/src/catalog/session-facts.ts";

/** Undefined if the file is not a session. Throws what opening and reading throw. */
export async function readSessionFacts(
  path: string,
  options: FactsOptions & FactsReadOptions = {},
): Promise<SessionFacts | undefined> {
  options.signal?.throwIfAborted();
  const source = openByteSource(path);
  try {
    const facts = await new FactsReader(options).readOn(source, source.sizeSync(), options);
    if (facts !== undefined && "transcript" in facts) throw new Error("a transcript");
    return facts;
  } finally {
    source.closeSync();
  }
}
