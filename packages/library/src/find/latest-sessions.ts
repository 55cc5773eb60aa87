/**
 * Which sessions a list includes, and which files it need not read: no session can have changed
 * after its file. Pure.
 */
import { basename, dirname, sep } from "node:path";
import { agentNamed } from "@branchlog/core/rows";
import { comesBefore } from "../catalog/directory-catalog.ts";
import { Ranking } from "../catalog/listed-session.ts";
import type { ListedSession } from "../catalog/listed-session.ts";
import type { SessionFile } from "../catalog/session-files.ts";
import type { FindOptions } from "./find-options.ts";

type Filter = Pick<FindOptions, "agents" | "artifacts" | "limit" | "sinceMs" | "untilMs">;

export class LatestSessions {
  readonly #filter: Filter;
  readonly #latest = new Ranking<ListedSession>(comesBefore);
  readonly #passedOver: SessionFile[] = [];

  constructor(filter: Filter) {
    this.#filter = filter;
  }

  add(session: ListedSession | undefined): void {
    // Without a limit or a time, none is older than these.
    const { limit, sinceMs } = this.#filter;
    if (session === undefined || (limit === undefined && sinceMs === undefined)) return;
    if (this.isWanted(session)) this.#latest.add(session);
  }

  includes(agent: string, modifiedMs: number): boolean {
    const { agents, sinceMs = -Infinity, untilMs = Infinity } = this.#filter;
    const isWithin = modifiedMs >= sinceMs && modifiedMs < untilMs;
    return isWithin && (agents?.includes(agent) ?? true);
  }

  isWanted({ transcript, dialect, modifiedMs }: ListedSession): boolean {
    const isPart = transcript?.isSubagent === true && this.#filter.artifacts !== true;
    return !isPart && this.includes(transcript?.of ?? dialect, modifiedMs);
  }

  /** Whether the file cannot have a session of this list. */
  isOlder(file: SessionFile): boolean {
    const { limit, sinceMs = Number.NEGATIVE_INFINITY } = this.#filter;
    const last = limit === undefined ? undefined : this.#latest.at(limit - 1);
    const isOlder = file.mtimeMs < Math.max(sinceMs, last?.modifiedMs ?? sinceMs);
    if (isOlder) this.#passedOver.push(file);
    return isOlder;
  }

  passedOverIds(): string[] {
    return this.#passedOver.flatMap(({ name }) => uuidInName.exec(name) ?? []);
  }

  /** Of the older files, those that may hold subagents of the sessions found. */
  olderParts(): ReadonlySet<string> {
    const found = this.#latest.items().slice(0, this.#filter.limit);
    const parts = this.#passedOver.filter((file) => found.some((one) => mayBePartOf(file, one)));
    return new Set(parts.map(({ path }) => path));
  }
}

const uuidInName = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\.jsonl$|_)/;

/** Subagents are below a directory named like their session, or where their agent keeps them. */
function mayBePartOf({ path, mtimeMs }: SessionFile, session: ListedSession): boolean {
  const { path: of, header, transcript } = session;
  if (path.startsWith(of.replace(/\.jsonl$/, sep))) return true;
  const { transcripts, documents } = agentNamed(transcript?.of ?? "") ?? {};
  const names = transcripts?.subagentNames;
  const isNamed = names?.pattern.test(basename(path)) === true;
  const isDocument = documents?.hasSubagents === true && documents.mayBe(basename(path));
  if (!isNamed && !isDocument) return false;
  const isAnywhere = isNamed && names.place === "anywhere";
  const isThere = isAnywhere || dirname(path) === dirname(of);
  // None changed before its session began.
  return isThere && mtimeMs >= (Date.parse(header.timestamp) || 0);
}
