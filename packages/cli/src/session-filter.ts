/** Which sessions of a list are shown, and in which order. Pure. */
import type { ListedSession, SearchedKind } from "@branchlog/library";
import type { UsageTotals } from "@branchlog/core/types";

/** Of agents that write in a form of their own; a test compares them with those registered. */
export const foreignAgentNames: readonly string[] = [
  "claude",
  "codex",
  "copilot",
  "gemini",
  "qwen",
  "opencode",
  "kimi",
  "droid",
  "cline",
  "goose",
  "crush",
  "cursor",
  "connectonion",
];
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

/** Input and output, as every command counts them; cached tokens are separate. */
export function tokensOf(sums: Pick<UsageTotals, "input" | "output"> | undefined): number {
  return sums === undefined ? 0 : sums.input + sums.output;
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
      return session.sizeBytes ?? 0;
    case "messages":
      return session.summary.messageCount ?? 0;
    case "tokens":
      return tokensOf(session.usage?.total);
    case "cost":
      return session.usage?.total.cost ?? 0;
  }
}
