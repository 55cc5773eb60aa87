/**
 * The facts that `branchlog info` prints. All but the usage come from the index; the usage takes
 * one pass over the bodies of messages.
 */
import type { Envelope, Session } from "@branchlog/core";
import type { DivergedEntry, Label, UsageTotals } from "@branchlog/core/types";
import { agentNamed, answerKey } from "@branchlog/core/rows";
import { openedFindings } from "@branchlog/tools";
import type { Finding } from "@branchlog/tools";
import { estimateJson } from "./cost-estimate.ts";
import type { EstimateInfo, Estimator } from "./cost-estimate.ts";
import { quoted } from "./failure.ts";
import type { OpenedSession, OpeningCost } from "./opened-session.ts";
import { tokensOf } from "./session-filter.ts";
import { isoTime, knownCost } from "./text/quantities.ts";

/** In order of first appearance. */
export type Counts = Readonly<Record<string, number>>;

/** As in `--json`. */
export interface SessionInfo {
  readonly path: string;
  readonly name: string | null;
  readonly agent: string;
  readonly resume: string;
  readonly header: {
    readonly id: string;
    readonly version: number;
    readonly created: string;
    readonly cwd: string;
    readonly parentSession: string | null;
  };
  readonly sizeBytes: number;
  /** Including entries hidden by a later one with the same id. */
  readonly entries: number;
  readonly types: Counts;
  /** What an agent stored as several entries is one, as in a list. */
  readonly messageCount: number;
  readonly roles: Counts;
  readonly customTypes: Counts;
  readonly leaf: string | null;
  /** In file order. */
  readonly tips: readonly Tip[];
  readonly labels: readonly (Label & { readonly targetId: string })[];
  readonly model: { readonly provider: string; readonly modelId: string } | null;
  readonly thinkingLevel: string;
  /** Null if no entry has usage. */
  readonly usage: UsageInfo | null;
  /** As `branchlog verify` names them. */
  readonly findings: readonly Finding[];
  readonly divergences: readonly DivergedEntry[];
  readonly opening: OpeningCost;
}

export interface Tip {
  readonly id: string;
  readonly type: string;
  readonly role: string | null;
  /** ISO 8601; null if unreadable. */
  readonly timestamp: string | null;
}

interface UsageSums extends Omit<UsageTotals, "cost"> {
  /** Input and output, as `branchlog turns` counts them. */
  readonly tokens: number;
  /** US dollars; null if unknown. */
  readonly cost: number | null;
}

export interface UsageInfo extends UsageSums, EstimateInfo {
  readonly models: readonly (UsageSums & {
    readonly provider: string;
    readonly modelId: string;
  })[];
}

export async function gatherInfo(
  { session, opening }: OpenedSession,
  estimateOf?: Estimator,
): Promise<SessionInfo> {
  // First: a body that does not parse is found by this pass, and must not count below.
  const usage = await usageInfo(session, estimateOf);
  const findings = await openedFindings(session);
  const { name, leaf, labels, settings } = session;
  return {
    path: session.path,
    name: name ?? null,
    agent: session.transcriptOf ?? session.dialect,
    resume: resumeCommand(session),
    header: headerInfo(session),
    sizeBytes: session.sizeBytes,
    entries: session.revision,
    ...countNodes(session),
    leaf,
    tips: session.tips().map((tip) => tipOf(tip)),
    labels: [...labels].map(([targetId, label]) => ({ targetId, ...label })),
    model: settings.model,
    thinkingLevel: settings.thinkingLevel,
    usage,
    findings,
    divergences: findings.some(({ kind }) => kind === "diverged")
      ? await session.divergences()
      : [],
    opening,
  };
}

function resumeCommand({ transcriptOf, dialect, header: { id }, path }: Session): string {
  const command = agentNamed(transcriptOf ?? dialect)?.resume({ id, path }) ?? [];
  return command.map((word) => quoted(word)).join(" ");
}

function headerInfo({ header }: Session): SessionInfo["header"] {
  const { id, version = 1, timestamp, cwd } = header;
  const parentSession = header.parentSession ?? header.branchedFrom ?? null;
  return { id, version, created: timestamp, cwd, parentSession };
}

function countNodes(
  session: Session,
): Pick<SessionInfo, "types" | "messageCount" | "roles" | "customTypes"> {
  const types = new Map<string, number>();
  const roles = new Map<string, number>();
  const customTypes = new Map<string, number>();
  let messageCount = 0;
  for (const { type, role, customType, count } of session.tree().kinds()) {
    add(types, type, count);
    if (type !== "message") add(customTypes, customType, count);
    else if (customType !== answerKey) {
      messageCount += count;
      add(roles, role, count);
    }
  }
  return {
    messageCount,
    types: Object.fromEntries(types),
    roles: Object.fromEntries(roles),
    customTypes: Object.fromEntries(customTypes),
  };
}

function add(counts: Map<string, number>, name: string | undefined, count: number): void {
  if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + count);
}

function tipOf({ id, type, role, time }: Envelope): Tip {
  return { id, type, role: role ?? null, timestamp: isoTime(time) };
}

async function usageInfo(
  session: Session,
  estimateOf: Estimator | undefined,
): Promise<UsageInfo | null> {
  const usage = await session.usage;
  const { total, byModel } = usage;
  if (total.requests === 0) return null;
  const models = [...byModel].flatMap(([provider, ofProvider]) =>
    [...ofProvider].map(([modelId, totals]) => ({ provider, modelId, ...sumsOf(totals) })),
  );
  return { ...sumsOf(total), ...estimateJson(estimateOf?.(usage)), models };
}

function sumsOf(totals: UsageTotals): UsageSums {
  return { ...totals, tokens: tokensOf(totals), cost: knownCost(totals.cost) };
}
