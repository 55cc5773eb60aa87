/** The facts of a session in every tool. */
import { agentNamed } from "@branchlog/core/rows";
import type { ListedSession } from "@branchlog/library";
import { cwdOf, recordsTokens } from "@branchlog/library/catalogs";
import { quoted } from "../failure.ts";
import { agentOf, tokensOf } from "../session-filter.ts";
import { oneLine } from "../text/clean-text.ts";
import { costText, isoTime, knownCost, numberText } from "../text/quantities.ts";

/** The names are those of the answers. */
export interface SessionFacts {
  /** Its id: what the tools take. */
  readonly session: string;
  readonly title: string;
  readonly agent: string;
  /** Its working directory. */
  readonly project: string;
  readonly modified: string;
  readonly messages: number;
  readonly tokens?: number;
  /** US dollars. */
  readonly cost?: number;
  readonly models?: string[];
  readonly subagent?: true;
  /** The command that continues it. */
  readonly resume?: string;
  readonly path: string;
}

const titleUnitsMax = 120;
const modelsMax = 5;

/** @param clean Replaces secrets; it gets whole texts. */
export function factsOf(session: ListedSession, clean: (text: string) => string): SessionFacts {
  const { header, path, name, summary, usage, transcript, modifiedMs } = session;
  const { total, models = [] } = usage ?? {};
  const cost = knownCost(total?.cost ?? 0);
  const tokens = usage !== undefined && recordsTokens(usage) ? tokensOf(total) : undefined;
  const isSubagent = transcript?.isSubagent === true;
  const resume = isSubagent ? undefined : resumeText(session);
  return {
    session: clean(header.id),
    title: titleOf(clean(name ?? summary.firstMessage ?? "")),
    agent: agentOf(session),
    project: oneLine(clean(cwdOf(session)), 400),
    modified: isoTime(modifiedMs) ?? "",
    messages: summary.messageCount ?? 0,
    ...(tokens === undefined ? {} : { tokens }),
    ...(cost === null ? {} : { cost: Math.round(cost * 10_000) / 10_000 }),
    ...(models.length === 0
      ? {}
      : { models: models.slice(0, modelsMax).map((model) => oneLine(clean(model), 80)) }),
    ...(isSubagent ? { subagent: true } : {}),
    ...(resume === undefined ? {} : { resume: clean(resume) }),
    path: clean(path),
  };
}

/** On one line. */
export function factsLine(facts: SessionFacts): string {
  const { session, title, agent, project, modified, messages, cost } = facts;
  const spent = cost === undefined ? "" : `, ${costText(cost)}`;
  const time = modified.slice(0, 16).replace("T", " ");
  return (
    `${title}\n  session ${oneLine(session, 200)} · ${agent} · ${project} · ${time}Z · ` +
    `${numberText(messages)} messages${spent}`
  );
}

function titleOf(text: string): string {
  return oneLine(text, titleUnitsMax) || "(no title)";
}

function resumeText(session: ListedSession): string | undefined {
  const { header, path } = session;
  const words = agentNamed(agentOf(session))?.resume({ id: header.id, path });
  if (!words) return undefined;
  const cwd = cwdOf(session);
  const start = cwd === "" ? "" : `cd ${quoted(cwd)} && `;
  return `${start}${words.map((word) => quoted(word)).join(" ")}`;
}
