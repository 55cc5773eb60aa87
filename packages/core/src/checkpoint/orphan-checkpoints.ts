/**
 * Removes the checkpoints that stay behind in a directory of checkpoints when their logs are
 * deleted by hand. Their names hold a hash of where the log was, so only whoever knows a log of the
 * same directory can tell whose they are. Checkpoints are derived: one that is removed too many
 * costs time at the next opening, and nothing else.
 */
import { basename, dirname, join } from "node:path";
import type { Ports } from "../store/ports.ts";
import { abandonedAfterMs, checkpointPrefix } from "./checkpoint-file.ts";

const form = /^(.+)\.ckpt(\.[0-9a-f-]{36}\.tmp)?$/;

interface Candidate {
  readonly name: string;
  /** The path of the log that it is, or was, of. */
  readonly log: string;
  readonly isTemporary: boolean;
}

/**
 * Removes, among the checkpoints of logs in the directory of this one, those whose log is gone.
 * Throws nothing; if either directory cannot be listed, nothing is removed.
 */
export function removeOrphanCheckpoints(ports: Ports, logPath: string, directory: string): void {
  const place = dirname(logPath);
  try {
    const candidates = candidatesAmong(ports.fs.listSync(directory), logPath);
    // Most directories hold one log that is large enough for a checkpoint: nothing is to be asked.
    if (candidates.length === 0) return;
    const there = new Set(ports.fs.listSync(place));
    for (const candidate of candidates) {
      if (!there.has(basename(candidate.log))) removeIfOrphan(ports, candidate, directory);
    }
  } catch {
    // What cannot be listed says nothing of what is gone.
  }
}

/** The names that have exactly our form and are of other logs in the same directory. */
function candidatesAmong(names: readonly string[], logPath: string): Candidate[] {
  const prefix = checkpointPrefix(logPath);
  return names.flatMap((name) => {
    const [, own, temporary] = name.startsWith(prefix)
      ? (form.exec(name.slice(prefix.length)) ?? [])
      : [];
    if (own === undefined || own === basename(logPath)) return [];
    const log = join(dirname(logPath), own);
    return [{ name, log, isTemporary: temporary !== undefined }];
  });
}

function removeIfOrphan(
  { fs, clock }: Ports,
  { name, log, isTemporary }: Candidate,
  directory: string,
): void {
  const path = join(directory, name);
  try {
    // The listing is some moments old, and spells names as it likes: the log may be there.
    if (fs.statSync(log) !== null) return;
    // Somebody may be writing it still, who has not noticed that the log is gone.
    const changedMs = fs.statSync(path)?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (isTemporary && clock.now() - changedMs <= abandonedAfterMs) return;
    fs.unlinkSync(path);
  } catch {
    // Somebody else removed it, or it is no file, or it may not be removed.
  }
}
