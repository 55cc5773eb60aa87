/** Which sessions of a list are shown, and in which order. Pure. */
import type { ListedSession, SearchedKind } from "@branchlog/library";
import type { UsageTotals } from "@branchlog/core/types";
import { UsageError } from "./failure.ts";

/** Of agents that write in a form of their own; a test compares them with those registered. */
export const foreignAgentNames: readonly string[] = ["claude", "codex", "connectonion"];
export const agentNames: readonly string[] = ["pi", "omp", ...foreignAgentNames];

/** What `search --in` takes. */
export const searchedKinds: readonly SearchedKind[] = [
  "message",
  "thinking",
  "call",
  "result",
  "shell",
  "custom",
  "summary",
  "name",
  "label",
];

export const sortNames = [
  "modified",
  "created",
  "size",
  "messages",
  "tokens",
  "cost",
  "name",
] as const;
export type SortName = (typeof sortNames)[number];

export function agentOf({ transcript, dialect }: ListedSession): string {
  return transcript?.of ?? dialect;
}

/** Input and output, as every command counts them; what was cached is named apart. */
export function tokensOf(sums: Pick<UsageTotals, "input" | "output"> | undefined): number {
  return sums === undefined ? 0 : sums.input + sums.output;
}

const unitsMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/**
 * A time in epoch ms: of `30m`, `12h`, `7d` or `2w` before now, or of an ISO 8601 date.
 * @throws UsageError
 */
export function sinceMs(
  given: string | undefined,
  nowMs: number,
  option = "since",
): number | undefined {
  if (given === undefined) return undefined;
  const [, count, unit] = /^(\d+)([mhdw])$/.exec(given) ?? [];
  if (count !== undefined && (unit === "m" || unit === "h" || unit === "d" || unit === "w")) {
    return nowMs - Number(count) * unitsMs[unit];
  }
  const time = /^\d{4}-/.test(given) ? Date.parse(given) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new UsageError(`--${option} takes 30m, 12h, 7d, 2w or a date as 2026-11-24, not ${given}.`);
}

/** The sessions in an order; equal ones in the given one. */
export function sortedSessions(
  sessions: readonly ListedSession[],
  by: SortName,
): readonly ListedSession[] {
  if (by === "modified") return sessions;
  if (by === "name")
    return sessions.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other)));
  return sessions.toSorted((one, other) => rankOf(other, by) - rankOf(one, by));
}

function nameOf({ name, summary }: ListedSession): string {
  return name ?? summary.firstMessage ?? "";
}

function rankOf(session: ListedSession, by: Exclude<SortName, "modified" | "name">): number {
  switch (by) {
    case "created":
      return Date.parse(session.header.timestamp) || 0;
    case "size":
      return session.sizeBytes;
    case "messages":
      return session.summary.messageCount;
    case "tokens":
      return tokensOf(session.usage?.total);
    case "cost":
      return session.usage?.total.cost ?? 0;
  }
}
