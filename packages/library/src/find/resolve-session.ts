/** Finds a session by a name, an id or a prefix of an id. */
import { basename } from "node:path";
import type { OptionNames } from "@branchlog/streaming";
import type { ListedSession } from "../catalog/listed-session.ts";
import { requireOptions, requireText } from "@branchlog/core/files";
import { BranchlogError } from "@branchlog/core";
import type { SessionFile } from "../catalog/session-files.ts";
import { findAmong, findSessions, knownPlaces } from "./find-sessions.ts";
import type { FindOptions } from "./find-options.ts";

export interface ResolveOptions extends Pick<FindOptions, "artifacts" | "catalog" | "signal"> {
  /** Of several sessions that fit, those of this working directory decide, if there are any. */
  readonly cwd?: string | undefined;
}

const resolveNames: OptionNames<ResolveOptions> = {
  artifacts: true,
  catalog: true,
  signal: true,
  cwd: true,
};

/** An id, or a prefix of one, long enough not to be a name. */
const idForm = /^[\da-f][\da-f-]{7,}$/i;

/**
 * The session with that id or file name; else the one with that name; else the one with that name
 * in other cases; else the one whose id starts with it, or starts and ends with it around `…`. The
 * first of these that fits any decides. `@latest` is the one that changed last. Eight digits of an
 * id or more are looked for in the names of files first, and no other file is read if there is one.
 * @param places Where to look; default: where the agents of this machine keep their sessions.
 * @throws BranchlogError `ERR_SESSION_NOT_FOUND`; `ERR_SESSION_AMBIGUOUS` with the paths of the
 * matches as `candidates`. What `findSessions` throws.
 * @example
 * const { path } = await resolveSession("Fix the login test");
 */
export async function resolveSession(
  nameOrId: string,
  places: readonly string[] = knownPlaces(),
  options: ResolveOptions = {},
): Promise<ListedSession> {
  const { cwd, ...found } = requireOptions(options, resolveNames);
  if (cwd !== undefined) requireText("The working directory", cwd);
  const wanted = requireText("A name or an id", nameOrId);
  if (wanted === latest) return latestSession(places, found, cwd);
  const isNamed = ({ name }: SessionFile): boolean =>
    name.toLowerCase().includes(wanted.toLowerCase());
  const named = idForm.test(wanted) ? await findAmong(places, found, isNamed) : undefined;
  const fittingNamed = named === undefined ? [] : fittingSessions(wanted, named.sessions);
  const all =
    fittingNamed.length > 0
      ? fittingNamed
      : fittingSessions(wanted, (await findSessions(places, found)).sessions);
  const here = all.filter(({ header }) => header.cwd === cwd);
  const fitting = here.length > 0 ? here : all;
  const [session] = fitting;
  if (session !== undefined && fitting.length === 1) return session;
  throw session === undefined ? notFound(wanted) : ambiguous(wanted, fitting);
}

const latest = "@latest";
/** Of the working directory there is mostly one among so many; reading all may take long. */
const latestReadFirst = 50;

async function latestSession(
  places: readonly string[],
  options: FindOptions,
  cwd: string | undefined,
): Promise<ListedSession> {
  for (const limit of [cwd === undefined ? 1 : latestReadFirst, undefined]) {
    const { sessions } = await findSessions(places, { ...options, limit });
    const here =
      cwd === undefined ? sessions[0] : sessions.find(({ header }) => header.cwd === cwd);
    const isAll = limit === undefined || sessions.length < limit;
    const found = here ?? (isAll ? sessions[0] : undefined);
    if (found !== undefined) return found;
  }
  throw notFound(latest);
}

/** Those that a name or an id matches, by the first rule that matches any session. Pure. */
export function fittingSessions(
  wanted: string,
  sessions: readonly ListedSession[],
): readonly ListedSession[] {
  if (wanted === "") return [];
  const folded = wanted.toLowerCase();
  // As lists shorten an id in its middle.
  const [start = "", end = "", ...others] = folded.split("…");
  const isShortened = others.length === 0 && start !== "";
  const ways: readonly ((session: ListedSession) => boolean)[] = [
    ({ header, path }) => header.id === wanted || basename(path) === wanted,
    ({ name }) => name === wanted,
    ({ name }) => name?.toLowerCase() === folded,
    ({ header }) => {
      const id = header.id.toLowerCase();
      const isLongEnough = id.length >= start.length + end.length;
      return isShortened && isLongEnough && id.startsWith(start) && id.endsWith(end);
    },
  ];
  for (const fits of ways) {
    const fitting = sessions.filter(fits);
    if (fitting.length > 0) return fitting;
  }
  return [];
}

function notFound(wanted: string): BranchlogError {
  const message = `No session has the name ${wanted}, or an id that starts with it.`;
  return new BranchlogError("ERR_SESSION_NOT_FOUND", message, { id: wanted });
}

const listedMax = 5;

function ambiguous(wanted: string, fitting: readonly ListedSession[]): BranchlogError {
  const listed = fitting.slice(0, listedMax).map(({ path }) => path);
  const more = fitting.length > listedMax ? ` and ${fitting.length - listedMax} more` : "";
  const message =
    `${wanted} matches ${fitting.length} sessions: ${listed.join(", ")}${more}. ` +
    "Give more of the id, or the path.";
  const candidates = fitting.map(({ path }) => path);
  return new BranchlogError("ERR_SESSION_AMBIGUOUS", message, { id: wanted, candidates });
}
