/** Imports a session of another agent: a copy of the session that `openSession` reads in place. */
import { resolve } from "node:path";
import type { OptionNames } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import type { Diagnostic } from "@branchlog/core";
import type { Ports } from "@branchlog/core/types";
import { Engine, readBranch, writeBranch } from "@branchlog/core/engine";
import { engineSettings, requireFree, requireOptions, requireText } from "@branchlog/core/files";
import { agentNamed, transcriptFormats } from "@branchlog/core/rows";
import { requireNoAddress } from "@branchlog/core/addresses";
import { lineCounts } from "./line-counts.ts";
import type { LineCounts } from "./line-counts.ts";

export interface ImportOptions {
  /** The name of its agent. Default `auto`: recognised by its records. */
  readonly from?: string;
  /** Longest line that is read, in bytes; a longer one is skipped. Default 64 MiB. */
  readonly lineBytesMax?: number;
  /** Ends the import with the signal's reason; nothing is created. */
  readonly signal?: AbortSignal;
  /** Where the new log is written; the source is always a file of this machine. */
  readonly ports?: Partial<Ports>;
}

const importNames: OptionNames<ImportOptions> = {
  from: true,
  lineBytesMax: true,
  signal: true,
  ports: true,
};

/** The result of an import. `imported` and the counts of `skipped` add up to `lines`. */
export interface ImportReport extends LineCounts {
  /** The name of its agent. */
  readonly kind: string;
  readonly path: string;
  /** Of the new session, and of the source. */
  readonly id: string;
  readonly entries: number;
  /** Damage in the source, the first 1,000. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Imports a session of another agent into a new log of version 3: the entries that
 * `openSession` has in place on the path to its leaf, as `forkSession` copies them, under the id
 * and the time of the source, which is its `parentSession`. Memory as for opening the source.
 * @throws BranchlogError as `forkSession`; `ERR_NOT_A_SESSION` for a file that is not a transcript.
 * Nothing is created then.
 * @example
 * const report = await importSession("rollout-2026-01-01.jsonl", "session.jsonl");
 * console.log(report.imported, report.skipped);
 */
export async function importSession(
  source: string,
  target: string,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const { from = "auto", signal, ports, ...reading } = requireOptions(options, importNames);
  requireNoAddress(requireText("The source", source));
  requireNoAddress(requireText("The target", target));
  const [sourcePath, path] = [resolve(source), resolve(target)];
  signal?.throwIfAborted();
  const writing = ports === undefined ? {} : { ports };
  requireFree(engineSettings(writing).ports, path);
  const { fs: _fs, lock: _lock, hints: _hints, ...sources } = ports ?? {};
  const opening = { ...reading, access: "read", ports: sources } as const;
  const engine = await Engine.openAt(sourcePath, opening, signal);
  try {
    const kind = engine.log.state.indexer.format?.agent;
    if (kind === undefined || (from !== "auto" && kind !== from)) throw notA(from, engine);
    const { header, diagnostics } = engine;
    const { id, timestamp } = header;
    const branch = await readBranch(engine, { signal });
    // First, since nothing may fail once the copy has its name.
    const counts = await lineCounts(engine, branch.rows, signal);
    const copy = { ...writing, target: path, id, timestamp, signal };
    const { entries } = await writeBranch(engine, branch, copy);
    return { kind, path, id, ...counts, entries, diagnostics };
  } finally {
    engine.release();
  }
}

function notA(wanted: string, { path, log: { owner } }: Engine): BranchlogError {
  const nouns = transcriptFormats().map(({ noun }) => noun);
  const wish = agentNamed(wanted)?.transcripts?.noun ?? nouns.join(" or ");
  const what = owner === undefined ? "it is a session of pi or omp" : `it is ${owner.noun}`;
  const message = `${path} is not ${wish}: ${what}. Nothing was written.`;
  return new BranchlogError("ERR_NOT_A_SESSION", message, { path });
}
