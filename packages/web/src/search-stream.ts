/** The hits of a search as the server sends them: a line of JSON each, while files are read. */
import { isBranchlogError } from "@branchlog/core";
import { registeredAgents } from "@branchlog/core/rows";
import { searchSessions } from "@branchlog/library";
import { searchedKinds } from "@branchlog/library/catalogs";
import type { SearchHit, SearchedKind } from "@branchlog/library";
import type { ApiError, SearchEnd, SearchHitItem } from "./api.ts";
import { keyOfPath } from "./session-directory.ts";
import type { SessionDirectory, ShownPlace } from "./session-directory.ts";

const hitsMax = 500;

interface Searched {
  readonly directory: SessionDirectory;
  readonly place: ShownPlace;
}

export function hitStream(
  query: string,
  filter: SearchFilter,
  searched: Searched,
): ReadableStream<Uint8Array> {
  const ending = new AbortController();
  const hits = searchHits(query, filter, searched, ending.signal);
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const next = await hits.next();
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(`${JSON.stringify(next.value)}\n`));
    },
    cancel: async () => {
      ending.abort();
      // Stopped between two hits it has files open.
      await hits.return(undefined);
    },
  });
}

type SearchFilter = Readonly<
  Partial<
    Record<"regex" | "agent" | "key" | "project" | "kind" | "role" | "tool" | "since", string>
  >
>;

async function* searchHits(
  query: string,
  filter: SearchFilter,
  { directory, place }: Searched,
  signal: AbortSignal,
): AsyncGenerator<SearchHitItem | SearchEnd | ApiError> {
  // Progress is reported before each session.
  let [count, searched, total] = [0, 0, 0];
  const agents = registeredAgents().flatMap(({ name }) => (name === filter.agent ? name : []));
  const { key } = filter;
  try {
    const only = key === undefined ? undefined : directory.sourceOf(directory.item(key));
    const since = Number(filter.since);
    const found = searchSessions(only ?? place, query, {
      regex: filter.regex === "1",
      kinds: kindsIn(filter.kind),
      role: filter.role,
      tool: filter.tool,
      project: filter.project,
      sinceMs: Number.isFinite(since) ? since : undefined,
      agents: agents.length === 0 ? undefined : agents,
      signal,
      onProgress: (progress) => {
        ({ searched, total } = progress);
      },
    });
    for await (const hit of found) {
      if (count >= hitsMax) break;
      count += 1;
      yield hitItem(hit, directory);
    }
    yield { hits: count, searched: count < hitsMax ? total : searched };
  } catch (error) {
    if (signal.aborted) return;
    if (!isBranchlogError(error)) throw error;
    yield { code: error.code, message: error.message };
  }
}

/** Of another name nothing is found. */
function kindsIn(name: string | undefined): readonly SearchedKind[] | undefined {
  if (name === undefined) return undefined;
  return searchedKinds.filter((kind) => kind === name);
}

function hitItem(hit: SearchHit, directory: SessionDirectory): SearchHitItem {
  const { path, entryId, kind, timestamp, snippet, header, role, tool } = hit;
  const key = directory.keyOf(path) ?? keyOfPath(path);
  const { text, matchStart, matchEnd } = snippet;
  const timeMs = Date.parse(timestamp);
  // Decoding boundary: of the header only the id was checked.
  const cwd: unknown = header.cwd;
  return {
    key,
    title: directory.titleOf(key),
    agent: directory.agentOf(key) ?? hit.transcriptOf ?? "",
    project: typeof cwd === "string" ? cwd : "",
    entryId,
    kind,
    role: role ?? null,
    tool: tool || null,
    timeMs: Number.isNaN(timeMs) ? null : timeMs,
    before: text.slice(0, matchStart),
    match: text.slice(matchStart, matchEnd),
    after: text.slice(matchEnd),
  };
}
