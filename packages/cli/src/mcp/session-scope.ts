/**
 * The sessions visible to the tools, and which of them an argument means. Others are neither opened
 * nor named nor counted, for any request.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { expandPath } from "@branchlog/core/files";
import { knownPlaces } from "@branchlog/library";
import type { FindOptions, ListedSession } from "@branchlog/library";
import { KeptCatalog, cwdOf, findAmong, fittingSessions } from "@branchlog/library/catalogs";
import { nearestName } from "@branchlog/streaming";
import { oneLine } from "../text/clean-text.ts";
import { ToolError } from "./tool-error.ts";

export interface ScopeOptions {
  /** Undefined: where the agents of this machine keep their sessions. */
  readonly places: readonly string[] | undefined;
  /** Only sessions that began in this directory, or below; undefined: all. */
  readonly project: string | undefined;
}

export type Listing = Pick<
  FindOptions,
  "artifacts" | "agents" | "sinceMs" | "untilMs" | "onProgress" | "signal"
>;

const catalog = "cache" as const;

export class SessionScope {
  /** With links followed. */
  readonly project: string | undefined;
  readonly #places: readonly string[] | undefined;
  readonly #kept = new KeptCatalog(catalog);
  /** The last list: one reads at a time. */
  #listed: Promise<unknown> = Promise.resolve();

  constructor({ places, project }: ScopeOptions) {
    this.#places = places;
    this.project = project === undefined ? undefined : realPlace(project);
  }

  get places(): readonly string[] {
    return this.#places ?? knownPlaces();
  }

  /** Of a working directory, as a header has it. */
  includes(cwd: string): boolean {
    return this.project === undefined || isBelow(cwd, this.project);
  }

  /**
   * Latest change first; after the first time, only what changed is read. Nothing is written where
   * the sessions are. Progress counts all files, and is not reported with a limit.
   */
  list(listing: Listing): Promise<readonly ListedSession[]> {
    const listed = this.#listed.then(() => this.#list(listing));
    this.#listed = listed.catch(() => undefined);
    return listed;
  }

  async #list({ onProgress, ...listing }: Listing): Promise<readonly ListedSession[]> {
    listing.signal?.throwIfAborted();
    const isLimited = this.project !== undefined;
    const options = { ...listing, catalog, ...(isLimited ? {} : { onProgress }) };
    const { sessions } = await findAmong(this.places, options, () => true, this.#kept);
    return sessions.filter((session) => this.includes(cwdOf(session)));
  }

  /**
   * The session with that path, id or name, or whose id starts with it; subagents are asked last.
   * @throws ToolError for none, and for several.
   */
  async find(word: string, signal: AbortSignal): Promise<ListedSession> {
    const all = await this.list({ artifacts: true, signal });
    const own = all.filter(({ transcript }) => transcript?.isSubagent !== true);
    const [latest] = own;
    if (word === "@latest" && latest !== undefined) return latest;
    for (const among of [own, all]) {
      const paths = isPath(word) ? [resolve(word), realPlace(word)] : [];
      const here = among.filter(({ path }) => paths.includes(path));
      const [found, ...others] = here.length > 0 ? here : fittingSessions(word, among);
      if (found === undefined) continue;
      if (others.length === 0) return found;
      throw severalFit(word, [found, ...others]);
    }
    throw noneFits(word, all);
  }
}

/** A whole path, or the end of one: `app` and `me/app` are `/home/me/app`, and what is below. */
export function isOfProject(session: ListedSession, project: string): boolean {
  const cwd = cwdOf(session);
  const path = expandPath(project);
  if (isAbsolute(path)) return isBelow(cwd, realPlace(path));
  const wanted = project.replaceAll(/^[/\\]+|[/\\]+$/gu, "").replaceAll("\\", "/");
  return wanted !== "" && `/${cwd.replaceAll("\\", "/")}/`.includes(`/${wanted}/`);
}

function isPath(word: string): boolean {
  return /[/\\]/u.test(word);
}

function isBelow(cwd: string, directory: string): boolean {
  if (!isAbsolute(cwd)) return false;
  const real = realPlace(cwd);
  return (
    real === directory ||
    real.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`)
  );
}

/** Of a missing path, the existing part with links resolved. */
function realPlace(path: string): string {
  const whole = resolve(path);
  const missing: string[] = [];
  for (let place = whole; ; place = dirname(place)) {
    try {
      return join(realpathSync.native(place), ...missing);
    } catch {
      if (dirname(place) === place) return whole;
      missing.unshift(basename(place));
    }
  }
}

const listedMax = 5;

function severalFit(word: string, sessions: readonly ListedSession[]): ToolError {
  const listed = sessions.slice(0, listedMax).map(({ header, path }) => `${header.id} (${path})`);
  const more = sessions.length > listedMax ? ` and ${sessions.length - listedMax} more` : "";
  const found = `${sessions.length} sessions: ${listed.join(", ")}${more}`;
  return new ToolError(`${oneLine(word, 120)} matches ${found}. Give more of the id, or the path.`);
}

function noneFits(word: string, sessions: readonly ListedSession[]): ToolError {
  const names = sessions.flatMap(({ header, name }) => [header.id, name ?? []].flat());
  const folded = word.toLowerCase();
  const like = names.find((name) => name.toLowerCase().includes(folded));
  const near = (word === "" ? undefined : like) ?? nearestName(word, names);
  const meant = near === undefined ? "" : ` Did you mean ${near}?`;
  return new ToolError(
    `No session has the id, name or path ${oneLine(word, 120)}.${meant} Call list_sessions or ` +
      "search_sessions, and give the id that they return.",
  );
}
