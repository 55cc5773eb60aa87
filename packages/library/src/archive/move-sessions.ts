/**
 * Moves the sessions of a renamed directory: pi and omp find theirs in a directory named
 * after the working directory, and by their header; Claude Code by the directory, and lists show
 * what its first record names; Codex by the header alone.
 */
import { decodeLine } from "@branchlog/streaming";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { OptionNames } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import { sharesFiles } from "../catalog/agent-files.ts";
import { findSessions, knownPlaces } from "../find/find-sessions.ts";
import type { ListedSession } from "../catalog/listed-session.ts";
import type { Ports } from "@branchlog/core/types";
import { CatalogStore } from "../catalog/catalog-store.ts";
import { requireOptions, requireText } from "@branchlog/core/files";
import { agentNamed, earlierFiles, objectAt, withValueAt } from "@branchlog/core/rows";
import { sidecarsOf } from "./sidecars.ts";
import { headerBytesMax, quietMsMin } from "./limits.ts";
import { filesOpenElsewhere, isOpenIn, statOf } from "./file-state.ts";
import { Archive, dataDirectoryNames } from "./archive-directory.ts";
import type { DataDirectoryOptions } from "./archive-directory.ts";
import { moveFile } from "./move-file.ts";
import type { Move } from "./move-file.ts";
import { inverted } from "./operation.ts";
import { recoverAside } from "./recover-aside.ts";
import { busySession } from "./removal-errors.ts";

export interface MoveOptions extends DataDirectoryOptions {
  /** Where the sessions are; default: where the agents of this machine keep theirs. */
  readonly places?: readonly string[] | undefined;
  /** Only reports what would be moved. Default false. */
  readonly dryRun?: boolean;
  /** Also sessions that changed within the last minute, or that another process has open. */
  readonly force?: boolean;
  readonly signal?: AbortSignal | undefined;
}

const moveNames: OptionNames<MoveOptions> = {
  ...dataDirectoryNames,
  places: true,
  dryRun: true,
  force: true,
  signal: true,
};

export interface MovedSession {
  readonly from: string;
  readonly to: string;
  readonly agent: string;
  readonly cwd: string;
}

export interface MoveResult {
  /** To undo it; null if nothing was moved. */
  readonly operation: string | null;
  readonly moved: readonly MovedSession[];
  readonly failures: readonly BranchlogError[];
}

/**
 * Moves the sessions whose working directory was `directory`, or below it, to where their agents
 * look for those of `target`, which must exist. The directories themselves are not changed.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` if `target` is not a directory; as `findSessions`.
 * @example
 * const { moved } = await moveSessions("/home/me/old-name", "/home/me/new-name");
 */
export async function moveSessions(
  directory: string,
  target: string,
  options: MoveOptions = {},
): Promise<MoveResult> {
  const {
    places,
    dryRun = false,
    force = false,
    signal,
    ...place
  } = requireOptions(options, moveNames);
  const from = resolve(requireText("The directory", directory));
  const to = resolve(requireText("The new directory", target));
  requireDirectory(from, to);
  const kept = new Archive(place);
  if (!dryRun) await recoverAside(kept);
  const found = await findSessions(places ?? knownPlaces(), { artifacts: true, signal });
  const failures: BranchlogError[] = [];
  const plans: MovePlan[] = [];
  for (const session of found.sessions) {
    const cwd = newCwd(session, from, to);
    if (cwd === undefined || sharesFiles(session.path)) continue;
    const earlier = earlierFiles(session.path).toReversed();
    const files = [session.path, ...earlier];
    if (files.some((path) => changedHeader(path, session.header.cwd, cwd) === "other")) {
      failures.push(namedLater(session));
      continue;
    }
    const moves = files.flatMap((path) => movesOf({ ...session, path }, cwd));
    const [first] = moves;
    if (first === undefined) continue;
    const agent = session.transcript?.of ?? session.dialect;
    plans.push({ moved: { from: session.path, to: first.to, agent, cwd }, moves });
  }
  const own = withSubagents(plans);
  if (dryRun || own.length === 0) {
    return { operation: null, moved: own.map(({ moved }) => moved), failures };
  }
  const openElsewhere = force ? new Set<string>() : filesOpenElsewhere();
  const wanted = own.filter(({ moved: { from: path } }) => {
    const problem = force ? undefined : busyReason(path, openElsewhere, kept.ports.clock.now());
    if (problem !== undefined) failures.push(busySession(path, problem));
    return problem === undefined;
  });
  if (wanted.length === 0) return { operation: null, moved: [], failures };
  const id = kept.ports.ids.sessionId();
  const timeMs = kept.ports.clock.now();
  await kept.record({
    id,
    kind: "move",
    timeMs,
    changes: wanted.flatMap(({ moves }) => moves.toReversed()),
  });
  const moved: MovedSession[] = [];
  for (const plan of wanted) {
    signal?.throwIfAborted();
    try {
      await moveAll(plan.moves, kept.ports, force);
      if (plan.moves[0]?.header !== undefined) {
        await new CatalogStore("auto").forget(plan.moved.from);
      }
      moved.push(plan.moved);
    } catch (error) {
      if (!isBranchlogError(error)) throw error;
      failures.push(error);
    }
  }
  return { operation: moved.length > 0 ? id : null, moved, failures };
}

interface MovePlan {
  readonly moved: MovedSession;
  /** The session first, then its other files: the last one is moved first. */
  readonly moves: readonly Move[];
}

/** Sessions of subagents in a directory of artifacts go with it, and get their headers there. */
function withSubagents(plans: readonly MovePlan[]): MovePlan[] {
  const isIn = (artifacts: Move, { moved }: MovePlan): boolean =>
    moved.from.startsWith(join(artifacts.from, "/"));
  const artifactsOf = ({ moves }: MovePlan): readonly Move[] => moves.slice(1);
  const all = plans.flatMap((plan) => artifactsOf(plan));
  const own = plans.filter((plan) => !all.some((artifacts) => isIn(artifacts, plan)));
  return own.map((plan) => {
    const [main, ...artifacts] = plan.moves;
    const headers = artifacts.flatMap((directory) => {
      const within = plans.filter((other) => isIn(directory, other));
      return within.flatMap(({ moves: [move] }) => {
        const path =
          move === undefined ? "" : directory.to + move.from.slice(directory.from.length);
        return move?.header === undefined ? [] : [{ ...move, from: path, to: path }];
      });
    });
    return { ...plan, moves: [...(main === undefined ? [] : [main]), ...headers, ...artifacts] };
  });
}

/** The session comes last; if it cannot be moved, its other files are moved back. */
async function moveAll(moves: readonly Move[], ports: Ports, force: boolean): Promise<void> {
  const done: Move[] = [];
  try {
    for (const move of moves.toReversed()) {
      await moveFile(move, ports, force);
      done.push(move);
    }
  } catch (error) {
    for (const change of inverted(done)) {
      if (change.kind === "moved") await moveFile(change, ports, force);
    }
    throw error;
  }
}

function busyReason(
  path: string,
  openElsewhere: ReadonlySet<string>,
  nowMs: number,
): string | undefined {
  if (isOpenIn(openElsewhere, path)) return "another process has it open";
  const quietMs = nowMs - (statOf(path)?.mtimeMs ?? 0);
  if (Math.abs(quietMs) >= quietMsMin) return undefined;
  return `it changed ${Math.max(0, Math.round(quietMs / 1000))} s ago`;
}

function requireDirectory(from: string, to: string): void {
  const problem =
    from === to
      ? "both are the same directory; branchlog mv OLD NEW takes two"
      : statSync(to, { throwIfNoEntry: false })?.isDirectory() === true
        ? undefined
        : "it does not exist; rename or move the project first, then run branchlog mv";
  if (problem === undefined) return;
  const message = `Sessions cannot be moved from ${from} to ${to}: ${problem}. Nothing was moved.`;
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message, { path: to });
}

function newCwd({ header }: ListedSession, from: string, to: string): string | undefined {
  // Decoding boundary: of the header only the id was checked.
  const cwd: unknown = header.cwd;
  if (typeof cwd !== "string") return undefined;
  if (cwd === from) return to;
  return cwd.startsWith(from + sep) ? to + cwd.slice(from.length) : undefined;
}

function movesOf(session: ListedSession, cwd: string): Move[] {
  const { path, header } = session;
  const directory = dirname(path);
  const directoryTo = join(dirname(directory), nameOfNew(session, basename(directory), cwd));
  const to = join(directoryTo, basename(path));
  const changed = changedHeader(path, header.cwd, cwd);
  if (changed === undefined && to === path) return [];
  const main: Move = {
    kind: "moved",
    from: path,
    to,
    ...(Array.isArray(changed) ? { header: changed } : inodeOf(path)),
  };
  if (to === path) return [main];
  const others = sidecarsOf(path, undefined).kept.filter((file) => isThere(file));
  const moveOther = (from: string): Move => ({
    kind: "moved",
    from,
    to: join(directoryTo, basename(from)),
    ...inodeOf(from),
  });
  return [main, ...others.map((from) => moveOther(from))];
}

/** As after Claude Code itself moved the session: a record in its middle is not changed. */
function namedLater({ path, header }: ListedSession): BranchlogError {
  const message =
    `${path} was not moved: its working directory ${header.cwd} is in a record after its ` +
    "first one. Continue it in the new directory with its agent.";
  return new BranchlogError("ERR_READ_ONLY", message, { path });
}

function isThere(path: string): boolean {
  return statOf(path) !== undefined;
}

function inodeOf(path: string): { readonly inode?: string } {
  const inode = statOf(path)?.ino;
  return inode === undefined ? {} : { inode: String(inode) };
}

/** Of the directory of its session; the same if its name does not come from the old one. */
function nameOfNew(session: ListedSession, name: string, cwd: string): string {
  const { header, transcript, dialect } = session;
  const agent = agentNamed(transcript?.of ?? dialect);
  return agent?.renamedDirectory?.(name, header.cwd, cwd) ?? name;
}

/**
 * The bytes up to the end of the first line that names a working directory, before and after;
 * undefined if nothing changes; `other`: the line names another one.
 */
function changedHeader(
  path: string,
  from: string,
  to: string,
): [string, string] | "other" | undefined {
  const head = headOf(path);
  for (let start = 0; ;) {
    const end = head.indexOf(0x0a, start);
    if (end === -1) return undefined;
    const changed = withCwd(head.subarray(start, end), from, to);
    if (changed === "other") return changed;
    if (changed !== undefined) {
      const before = head.subarray(0, end + 1).toString();
      return [before, `${head.subarray(0, start).toString()}${changed.toString()}\n`];
    }
    start = end + 1;
  }
}

/**
 * With another `cwd`, in itself or, as Codex has it, in its `payload`; undefined if there is none.
 */
function withCwd(line: Buffer, from: string, to: string): Buffer | "other" | undefined {
  const decoded = decodeLine(line);
  if (!decoded.ok) return undefined;
  const isWrapped = decoded.value["payload"] !== undefined;
  const cwd = (isWrapped ? objectAt(decoded.value, "payload") : decoded.value)?.["cwd"];
  if (cwd === undefined) return undefined;
  const path = isWrapped ? ["payload", "cwd"] : ["cwd"];
  return cwd === from ? withValueAt(line, path, JSON.stringify(to)) : "other";
}

function headOf(path: string): Buffer {
  const head = Buffer.alloc(headerBytesMax);
  const fd = openSync(path, "r");
  try {
    return head.subarray(0, readSync(fd, head, 0, head.length, 0));
  } finally {
    closeSync(fd);
  }
}
