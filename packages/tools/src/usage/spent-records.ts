/** What the entries of one session spent; no body is kept. */
import type { SessionEntry } from "@branchlog/core";
import { agentNamed, usage } from "@branchlog/core/rows";
import { Engine } from "@branchlog/core/engine";
import type { CountedOnce, Identity } from "./counted-once.ts";
import type { SpentRecord } from "./spent-sums.ts";

export interface RecordsOf {
  readonly project: string;
  readonly agent: string;
  /** Whether it belongs to another session: its user is a model. */
  readonly isSubagent: boolean;
  readonly once: CountedOnce;
  /** Only entries since then, in epoch ms. */
  readonly sinceMs: number | undefined;
  /** Only entries before then, in epoch ms. */
  readonly untilMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Throws as `openSession`, also after some records. */
export async function* sessionRecords(
  path: string,
  of: RecordsOf,
): AsyncGenerator<SpentRecord, void, undefined> {
  const engine = await Engine.open(path, { access: "read" }, of.signal);
  of.once.begin();
  try {
    for await (const { entry } of engine.bodies.entries(spendingRows(engine), of.signal)) {
      yield* recordsOf(entry, of);
    }
  } finally {
    engine.release();
  }
}

function* spendingRows(engine: Engine): Generator<number> {
  const { index, log } = engine;
  // No transcript has usage in the results of tools, which are most of its bytes.
  const isTranscript = log.state.indexer.transcript !== undefined;
  for (let row = 0; row < log.state.revision; row += 1) {
    const { type, role } = index.kindOf(row);
    if (usage.types?.includes(type) === false || (isTranscript && role === "toolResult")) continue;
    yield row;
  }
}

function* recordsOf(entry: SessionEntry, of: RecordsOf): Generator<SpentRecord> {
  const { project, agent, sinceMs, untilMs } = of;
  // Turns of agents with documents alone have no ids of their own, and no copies.
  const { documents, transcripts } = agentNamed(agent) ?? {};
  const once = documents === undefined || transcripts !== undefined ? of.once : undefined;
  const { total: spent, byModel } = usage.apply(usage.initial(), { revision: 1, entry });
  const isAsked = !of.isSubagent && isAskedIn(entry, agent);
  const timeMs = Date.parse(entry.timestamp);
  const own: Identity = [entry.id, timeMs, entry.type];
  const foreign = agentNamed(agent)?.transcripts?.identity(entry, spent);
  // A fork for another agent has an answer as one entry, with the id of its first part.
  const isCopied = foreign !== undefined && once?.mark(own) === false;
  if (!isAsked && spent.totalTokens === 0 && spent.cost === 0) return;
  if (isCopied && !foreign.isPart) return;
  const keys = [
    foreign?.key ?? own,
    ...(foreign?.otherKey === undefined ? [] : [foreign.otherKey]),
  ];
  const isNew = keys.map((key) => once?.takes(key, foreign?.isPart === true) !== false);
  if (isNew.includes(false)) return;
  if (sinceMs !== undefined && !(timeMs >= sinceMs)) return;
  if (untilMs !== undefined && !(timeMs < untilMs)) return;
  const [[provider, models] = []] = byModel;
  const [id] = models?.keys() ?? [];
  const model = provider === undefined || id === undefined ? "" : `${provider}/${id}`;
  const turns = isAsked ? 1 : 0;
  yield { project, agent, day: localDay(timeMs), model, turns, spent };
}

function isAskedIn(entry: SessionEntry, agent: string): boolean {
  if (entry.type !== "message") return false;
  // Decoding boundary: foreign files hold messages that are null.
  const message: unknown = entry.message;
  if (typeof message !== "object" || message === null) return false;
  if (Reflect.get(message, "role") !== "user") return false;
  return agentNamed(agent)?.transcripts?.isAsked?.(entry) ?? true;
}

/** Days of people are those of their clocks. */
function localDay(timeMs: number): string {
  const time = new Date(timeMs);
  if (Number.isNaN(time.getTime())) return "";
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}
