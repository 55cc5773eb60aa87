/** `branchlog export`: sessions in another form, to files or to standard output. */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join, parse } from "node:path";
import { isBranchlogError } from "@branchlog/core";
import { sessionPath } from "@branchlog/core/engine";
import { findSessions } from "@branchlog/library";
import type { ListedSession } from "@branchlog/library";
import type { RedactionReport, ExportSource } from "@branchlog/tools";
import { entryIdIn } from "../addressed-entry.ts";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, FileOptions } from "../command-io.ts";
import { UsageError, describeFailure } from "../failure.ts";
import { holdsSeveral } from "../place-of-path.ts";
import { ProgressLine, sizeOf, withProgress } from "../progress.ts";
import { readablePlace } from "../session-path.ts";
import { addressedSession } from "../stored-session.ts";
import { oneLine } from "../text/clean-text.ts";
import { countText } from "../text/quantities.ts";
import { redactionText } from "../text/transfer-text.ts";
import { exporters } from "../transfer-kinds.ts";
import type { Exporter, ExportFormat } from "../transfer-kinds.ts";

export interface ExportCommandOptions extends FileOptions {
  readonly to: ExportFormat;
  /** Default: standard output. */
  readonly output: string | undefined;
  /** Default: the last entry. */
  readonly at: string | undefined;
  readonly redact: boolean;
}

/** To index the log, and for the entries of the path: the first pass finds their secrets. */
function readings(redact: boolean): number {
  return redact ? 3 : 2;
}

export async function exportCommand(
  options: ExportCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { to, output, redact, json } = options;
  const exporter = exporters[to];
  if (holdsSeveral(options.file)) return exportAll(options, io);
  const source = (await addressedSession(options.file)) ?? (await readablePlace(options.file, io));
  const file = typeof source === "string" ? source : options.file;
  const at = await entryIdIn(file, options.at, io);
  if (output === undefined) {
    await writeOut(exporter, source, { ...options, at }, io);
    return 0;
  }
  const path = typeof source === "string" ? source : source.id;
  const task = { what: "exporting", path, bytes: sizeOf(path) * readings(redact) };
  const made = await withProgress(io, task, () =>
    exporter.write(source, output, { at, redact, signal: io.signal }),
  );
  if (json) await writeJsonLine(io.out, { to, ...made.json });
  else await io.out.write(made.text(io.out.style));
  return 0;
}

/** A file for each session of a directory or a database; existing files are not replaced. */
async function exportAll(
  { file, to, output, at, redact, json }: ExportCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  if (output === undefined) throw new UsageError("Give -o DIRECTORY for several sessions.");
  if (at !== undefined) throw new UsageError("--at applies to a single session; omit it.");
  const { out, err, signal } = io;
  const { write, ending } = exporters[to];
  const { sessions, unlisted } = await findSessions([file], { catalog: "auto", signal });
  mkdirSync(output, { recursive: true });
  const progress = new ProgressLine(io, "exporting", "sessions");
  const counts = { exported: 0, exists: 0, failed: 0 };
  const names = targetNames(sessions);
  for (const [place, { path }] of sessions.entries()) {
    const target = join(output, `${names[place]}${ending}`);
    progress.show(place, sessions.length);
    const step = await exported(() => write(path, target, { redact, signal }), signal);
    counts[step.kind] += 1;
    await progress.hide();
    if (json) await writeJsonLine(out, { source: path, to, path: target, ...step });
    else if (step.kind === "failed") {
      await err.write(`skipped: ${oneLine(step.error.message, 1000)}\n`);
    }
  }
  const { failed, exists } = counts;
  if (json) await writeJsonLine(out, { kind: "summary", ...counts, unlisted: unlisted.length });
  else {
    const left = failed === 0 ? "" : `, ${failed} skipped`;
    const known = exists === 0 ? "" : `, ${exists} already there`;
    const written = countText(counts.exported, "session");
    const others = unlisted.length === 0 ? "" : `, ${unlisted.length} cannot be listed`;
    await out.write(`exported ${written} to ${oneLine(output, 400)}${known}${left}${others}\n`);
  }
  return failed === 0 ? 0 : 1;
}

/**
 * Without their endings, the same for each run. Copies of a session have its id and time, so that
 * their names end with a digest of their paths.
 */
function targetNames(sessions: readonly ListedSession[]): readonly string[] {
  const names = sessions.map(targetName);
  const counts = new Map<string, number>();
  // Some file systems are case-insensitive.
  const folded = names.map((name) => name.toLowerCase());
  for (const name of folded) counts.set(name, (counts.get(name) ?? 0) + 1);
  return names.map((name, at) => {
    const isShared = (counts.get(folded[at] ?? "") ?? 0) > 1;
    return isShared ? `${name}-${digestOf(sessions[at]?.path ?? "")}` : name;
  });
}

function targetName({ header, path }: ListedSession): string {
  try {
    return parse(sessionPath("", header)).name;
  } catch (error) {
    if (!isBranchlogError(error, "ERR_INVALID_SESSION_ID")) throw error;
    return digestOf(path);
  }
}

function digestOf(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 12);
}

type Step =
  | { readonly kind: "exported" }
  | { readonly kind: "exists" }
  | { readonly kind: "failed"; readonly error: ReturnType<typeof describeFailure> };

async function exported(write: () => Promise<unknown>, signal: AbortSignal): Promise<Step> {
  try {
    await write();
    return { kind: "exported" };
  } catch (error) {
    signal.throwIfAborted();
    // A RangeError: an entry is nested too deeply.
    if (!isBranchlogError(error) && !(error instanceof RangeError)) throw error;
    if (isBranchlogError(error, "ERR_LOG_EXISTS")) return { kind: "exists" };
    return { kind: "failed", error: describeFailure(error) };
  }
}

async function writeOut(
  { pieces, form }: Exporter,
  source: ExportSource,
  { to, at, redact, json }: ExportCommandOptions,
  { out, err, signal }: CommandIo,
): Promise<void> {
  if (pieces === null) throw new UsageError(`--to ${to} needs -o FILE.`);
  if (json) throw new UsageError("--json needs -o FILE: it reports what was written.");
  let said = "";
  const onRedacted = (report: RedactionReport): void => {
    said = redactionText(report);
  };
  for await (const piece of pieces(source, { at, redact, onRedacted, signal })) {
    await out.writeData(piece, form);
  }
  await out.flush();
  if (said !== "") await err.write(said);
}
