/** Imports a session of another agent: a copy of the session that `openSession` reads in place. */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { OptionNames } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import type { Diagnostic } from "@branchlog/core";
import type { Ports } from "@branchlog/core/types";
import { Engine, readBranch, writeBranch } from "@branchlog/core/engine";
import { engineSettings, requireFree, requireOptions, requireText } from "@branchlog/core/files";
import { agentNamed, isValidSessionId } from "@branchlog/core/rows";
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
  /** Of the new session: that of the source, if it is valid. */
  readonly id: string;
  readonly entries: number;
  /** Damage in the source, the first 1,000. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Imports a session of another agent into a new log of version 3: the entries that
 * `openSession` has in place on the path to its leaf, as `forkSession` copies them, under the id
 * and the time of the source, which is its `parentSession`. Memory as for opening the source.
 * @throws BranchlogError as `forkSession`; `ERR_NOT_A_SESSION` for a file that is not of another
 * agent. Nothing is created then.
 * @param source Its file, or `FILE#ID` for a session of a database.
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
    const kind = engine.log.owner?.agent;
    if (kind === undefined || (from !== "auto" && kind !== from)) throw notA(from, engine);
    const { header, diagnostics } = engine;
    const { timestamp } = header;
    const id = importedId(header.id);
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

/** Agents make ids of those of calls, for example, which no file name may contain. */
export function importedId(id: string): string {
  if (isValidSessionId(id)) return id;
  const valid = id
    .replaceAll(/[^\w.-]+/g, "-")
    .replace(/^[^a-z\d]+/i, "")
    .slice(0, 100);
  const hash = createHash("sha256").update(id).digest("hex").slice(0, 12);
  return valid === "" ? hash : `${valid}-${hash}`;
}

function notA(wanted: string, { path, log: { owner } }: Engine): BranchlogError {
  const wish = agentNamed(wanted)?.product ?? "another agent";
  const what = owner === undefined ? "it is a session of pi or omp" : `it is ${owner.noun}`;
  const message = `${path} is not a session of ${wish}: ${what}. Nothing was written.`;
  return new BranchlogError("ERR_NOT_A_SESSION", message, { path });
}
