/** The usage of the entries of one session; no body is kept. */
import type { SessionEntry } from "@branchlog/core";
import type { UsageTotals } from "@branchlog/core/types";
import { agentNamed, isStoredObject, storedText, usage } from "@branchlog/core/rows";
import { Engine } from "@branchlog/core/engine";
import { digestOf } from "./counted-once.ts";
import type { CountedOnce } from "./counted-once.ts";
import type { SpentRecord } from "./spent-sums.ts";

/** The usage or prompt of one entry, and the identity of its copies. */
export interface SpendingEntry {
  readonly id: string;
  /** NaN: unknown. */
  readonly timeMs: number;
  /** As `provider/id`; empty if unknown. */
  readonly model: string;
  /** Of a message of the user, the start of its text; undefined: it is not one. */
  readonly prompt: string | undefined;
  /** Whether a person asked it. */
  readonly isAsked: boolean;
  readonly spent: UsageTotals;
  /** Of id, time and type. */
  readonly own: string;
  /** Undefined: nothing but `own` tells its copies. */
  readonly foreign: { readonly keys: readonly string[]; readonly isPart: boolean } | undefined;
}

export interface RecordsOf {
  readonly project: string;
  readonly agent: string;
  /** Whether it belongs to another session: its user is a model. */
  readonly isSubagent: boolean;
  readonly once: CountedOnce;
  /** Only entries since then, in epoch ms. */
  readonly sinceMs?: number | undefined;
  /** Only entries before then, in epoch ms. */
  readonly untilMs?: number | undefined;
}

/**
 * Records that count, or identify copies, in file order. Throws as `openSession`,
 * also after some entries.
 */
export async function* spendingEntries(
  path: string,
  agent: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<SpendingEntry, void, undefined> {
  const engine = await Engine.open(path, { access: "read" }, signal);
  try {
    for await (const { entry } of engine.bodies.entries(spendingRows(engine), signal)) {
      const spending = spendingOf(entry, agent);
      const { isAsked, spent, foreign } = spending;
      const counts = isAsked || spent.totalTokens > 0 || spent.cost > 0;
      if (counts || foreign !== undefined) yield spending;
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

function spendingOf(entry: SessionEntry, agent: string): SpendingEntry {
  const { total: spent, byModel } = usage.apply(usage.initial(), { revision: 1, entry });
  const { transcripts, documents } = agentNamed(agent) ?? {};
  const timeMs = Date.parse(entry.timestamp);
  const foreign = transcripts?.identity(entry, spent) ?? documents?.identity?.(entry, spent);
  const keys = [foreign?.key, foreign?.otherKey].flatMap((key) =>
    key === undefined ? [] : [digestOf(key)],
  );
  const [[provider, models] = []] = byModel;
  const [id] = models?.keys() ?? [];
  const said = promptIn(entry);
  return {
    id: entry.id,
    timeMs,
    model: provider === undefined || id === undefined ? "" : `${provider}/${id}`,
    prompt: said === undefined ? undefined : promptLine(transcripts?.titleIn?.(said) ?? said),
    isAsked: said !== undefined && transcripts?.isAsked?.(entry) !== false,
    spent,
    own: digestOf([entry.id, timeMs, entry.type]),
    foreign: foreign === undefined ? undefined : { keys, isPart: foreign.isPart },
  };
}

/** Undefined: it does not count, or a copy of it did. Call `once.begin()` before each session. */
export function countedRecord(entry: SpendingEntry, of: RecordsOf): SpentRecord | undefined {
  const { project, agent, sinceMs, untilMs } = of;
  const { own, foreign, spent, timeMs, model } = entry;
  // Turns of some agents with documents alone have no ids of their own, and no copies.
  const { documents, transcripts } = agentNamed(agent) ?? {};
  const hasIds = documents === undefined || transcripts !== undefined || "identity" in documents;
  const once = hasIds ? of.once : undefined;
  const isAsked = !of.isSubagent && entry.isAsked;
  // A fork for another agent has an answer as one entry, with the id of its first part.
  const isCopied = foreign !== undefined && once?.mark(own) === false;
  if (!isAsked && spent.totalTokens === 0 && spent.cost === 0) return undefined;
  if (isCopied && !foreign.isPart) return undefined;
  const keys = foreign?.keys ?? [own];
  const isNew = keys.map((key) => once?.takes(key, foreign?.isPart === true) !== false);
  if (isNew.includes(false)) return undefined;
  if (sinceMs !== undefined && !(timeMs >= sinceMs)) return undefined;
  if (untilMs !== undefined && !(timeMs < untilMs)) return undefined;
  return { project, agent, day: localDay(timeMs), model, turns: isAsked ? 1 : 0, spent };
}

const promptUnitsMax = 120;

function promptLine(text: string): string {
  return text.trim().split("\n", 1)[0]?.slice(0, promptUnitsMax) ?? "";
}

/** The text of a message of the user; undefined: it is not one. */
function promptIn(entry: SessionEntry): string | undefined {
  if (entry.type !== "message") return undefined;
  // Decoding boundary: foreign files hold messages that are null.
  const message: unknown = entry.message;
  if (!isStoredObject(message) || Reflect.get(message, "role") !== "user") return undefined;
  return storedText(Reflect.get(message, "content"), " ");
}

/** Days of people are those of their clocks. */
function localDay(timeMs: number): string {
  const time = new Date(timeMs);
  if (Number.isNaN(time.getTime())) return "";
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}
