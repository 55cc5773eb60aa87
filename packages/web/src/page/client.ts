/**
 * The requests of the page, each with the type of its answer. Failures have the server's message.
 */
import type {
  ApiError,
  ArchiveRequest,
  ArchiveResult,
  ArchivedList,
  BranchComparison,
  Change,
  ChangeResult,
  ContextView,
  CostFilter,
  CostTable,
  EntryPlace,
  EntryView,
  OutlinePage,
  RowPage,
  SearchEnd,
  SearchHitItem,
  SessionFacts,
  SessionList,
  Timeline,
  TurnPage,
  TurnPlace,
} from "../api.ts";
import { exportedAnswer, isExported } from "./exported.ts";
import { LineSplitter } from "./model/line-splitter.ts";
import { pageKey } from "./page-key.ts";
import { rowsPerPage } from "./model/page-cache.ts";

type Values = Readonly<Record<string, string | number>>;

export const fetchSessions = (): Promise<SessionList> => getJson("/api/sessions");

export const fetchArchived = (): Promise<ArchivedList> => getJson("/api/archived");

export const fetchFacts = (key: string, hasTree: boolean): Promise<SessionFacts> =>
  getJson(sessionPath(key), hasTree ? { tree: 1 } : {});

export const fetchRows = (key: string, page: number): Promise<RowPage> =>
  getJson(sessionPath(key, "rows"), { from: page * rowsPerPage, count: rowsPerPage });

export const fetchPlace = (key: string, id: string): Promise<EntryPlace> =>
  getJson(sessionPath(key, "place"), { id });

/** Without a row: the end of the branch of the leaf. */
export const fetchTurnPlace = (key: string, row: number | null): Promise<TurnPlace> =>
  getJson(sessionPath(key, "turns/place"), row === null ? {} : { row });

export const sectionsPerPage = 10;

export const fetchTurns = (key: string, page: number, tip: number | null): Promise<TurnPage> =>
  getJson(sessionPath(key, "turns"), {
    from: page * sectionsPerPage,
    count: sectionsPerPage,
    ...(tip === null ? {} : { tip }),
  });

export const fetchOutline = (key: string, page: number, tip: number | null): Promise<OutlinePage> =>
  getJson(sessionPath(key, "outline"), {
    from: page * rowsPerPage,
    count: rowsPerPage,
    ...(tip === null ? {} : { tip }),
  });

export const fetchTimeline = (key: string, tip: number | null): Promise<Timeline> =>
  getJson(sessionPath(key, "timeline"), tip === null ? {} : { tip });

/** A file of HTML, without secrets. */
export async function fetchShared(key: string, from: number, to: number): Promise<Blob> {
  const address = withValues(sessionPath(key, "share"), { from, to });
  const answer = await fetch(address, { headers: { "x-branchlog-key": pageKey } });
  if (!answer.ok) throw await failureOf(answer);
  return answer.blob();
}

export const fetchEntry = (key: string, row: number, isFull: boolean): Promise<EntryView> =>
  getJson(sessionPath(key, `entry/${row}`), isFull ? { full: 1 } : {});

export const fetchContext = (key: string, row: number): Promise<ContextView> =>
  getJson(sessionPath(key, "context"), { row });

export const fetchComparison = (key: string, from: number, to: number): Promise<BranchComparison> =>
  getJson(sessionPath(key, "compare"), { from, to });

export const fetchCosts = (by: CostTable["by"], filter: CostFilter): Promise<CostTable> =>
  getJson("/api/costs", { by, ...filter });

/** Only a page of this origin can send the header, so another one cannot ask for changes. */
export async function requestChange(key: string, change: Change): Promise<ChangeResult> {
  return post(sessionPath(key, "change"), change);
}

export async function requestArchive(request: ArchiveRequest): Promise<ArchiveResult> {
  return post("/api/archive", request);
}

async function post<T>(path: string, body: object): Promise<T> {
  const answer = await fetch(path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-branchlog": "1",
      "x-branchlog-key": pageKey,
    },
    body: JSON.stringify(body),
  });
  return decoded(answer);
}

/** Calls `onLines` with what each chunk of the answer contains. */
export async function streamSearch(
  values: Values,
  stop: AbortSignal,
  onLines: (lines: readonly (SearchHitItem | SearchEnd)[]) => void,
): Promise<void> {
  const address = withValues("/api/search", values);
  const answer = await fetch(address, { signal: stop, headers: { "x-branchlog-key": pageKey } });
  if (!answer.ok || answer.body === null) throw await failureOf(answer);
  const splitter = new LineSplitter();
  const decode = (lines: readonly string[]): (SearchHitItem | SearchEnd)[] =>
    lines.map((text) => {
      // Decoding boundary: the answer of our own server.
      const line = JSON.parse(text) as SearchHitItem | SearchEnd | ApiError;
      // The status was sent before the search failed.
      if ("message" in line) throw new Error(line.message);
      return line;
    });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    onLines(decode(splitter.push(value)));
  }
  onLines(decode(splitter.end()));
}

function sessionPath(key: string, rest?: string): string {
  const path = `/api/session/${encodeURIComponent(key)}`;
  return rest === undefined ? path : `${path}/${rest}`;
}

async function getJson<T>(path: string, values: Values = {}): Promise<T> {
  const address = withValues(path, values);
  // Decoding boundary: the file has the server's answers.
  if (isExported) return exportedAnswer(address) as T;
  return decoded(await fetch(address, { headers: { "x-branchlog-key": pageKey } }));
}

function withValues(path: string, values: Values): string {
  const search = new URLSearchParams(
    Object.entries(values).map(([name, value]) => [name, String(value)]),
  ).toString();
  return search === "" ? path : `${path}?${search}`;
}

async function decoded<T>(answer: Response): Promise<T> {
  if (!answer.ok) throw await failureOf(answer);
  // Decoding boundary: the answer of our own server.
  return (await answer.json()) as T;
}

async function failureOf(answer: Response): Promise<Error> {
  if (answer.status === 401) {
    return new Error("Open the address that `branchlog serve` printed.");
  }
  try {
    // Decoding boundary: the answer of our own server.
    const { message } = (await answer.json()) as ApiError;
    return new Error(message);
  } catch {
    return new Error(`The server answered with status ${answer.status}.`);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
