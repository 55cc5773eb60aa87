/** Sessions as text: those of a working directory below a heading, and events of sessions. Pure. */
import { basename } from "node:path";
import type { ListedSession, ListedTranscript } from "@branchlog/core";
import type { GroupedSession, ListedAgent, SessionGroup } from "@branchlog/core/types";
import type { Paint, Style } from "../style.ts";
import { agentOf } from "../session-filter.ts";
import { oneLine } from "./clean-text.ts";
import { ageText, countText, sizeText, timeText } from "./quantities.ts";

export interface GroupTextOptions {
  readonly nowMs: number;
  readonly columns: number;
  readonly style: Style;
}

const titleUnitsMin = 20;
const shownDepthMax = 8;

/** Each line with its newline. */
export function groupText(
  { cwd, sessions, agents }: SessionGroup,
  options: GroupTextOptions,
): string {
  const title = cwd === "" ? "(no working directory)" : oneLine(cwd, 400);
  const lines = [
    ...sessions.map((session) => sessionText(session, options)),
    ...agents.map((agent) => agentText(agent, options)),
  ];
  return `${options.style.heading(title)}\n${lines.join("")}`;
}

function sessionText(
  { session, depth, parent }: GroupedSession,
  options: GroupTextOptions,
): string {
  const { header, summary, transcript, modifiedMs, sizeBytes } = session;
  const facts = [
    ageText(options.nowMs - modifiedMs),
    countText(summary.messageCount, "message"),
    sizeText(sizeBytes),
    ...(transcript === undefined ? [] : transcriptFacts(transcript)),
    agentOf(session),
    oneLine(header.id, 40),
  ];
  const indent = "  ".repeat(Math.min(depth, shownDepthMax) + 1);
  const line = lineText(indent, titleOf(session), facts.join("  "), options);
  if (parent === undefined || depth > 0) return line;
  const { reference, session: known } = parent;
  const from = known === undefined ? `${basename(reference)}, which is not here` : titleOf(known);
  const note = `${indent}  fork of ${oneLine(from, options.columns - indent.length - 10)}`;
  return `${line}${options.style.faint(note)}\n`;
}

function transcriptFacts({ models, tokens }: ListedTranscript): readonly string[] {
  const [model] = models;
  const more = models.length > 1 ? ` +${models.length - 1}` : "";
  const named = model === undefined ? [] : [`${oneLine(model, 30)}${more}`];
  return tokens === 0 ? named : [countText(tokens, "token"), ...named];
}

function agentText(agent: ListedAgent, options: GroupTextOptions): string {
  const { name, turnCount, sizeBytes, modifiedMs } = agent;
  const age = ageText(options.nowMs - modifiedMs);
  const facts = [age, countText(turnCount, "turn"), sizeText(sizeBytes), "connectonion"];
  return lineText("  ", name, facts.join("  "), options);
}

function lineText(
  indent: string,
  title: string,
  facts: string,
  { columns, style }: GroupTextOptions,
): string {
  const unitsMax = Math.max(titleUnitsMin, columns - indent.length - facts.length - 2);
  return `${indent}${oneLine(title, unitsMax)}  ${style.faint(facts)}\n`;
}

/** The name, else the first text of a user. */
function titleOf({ name, summary }: ListedSession): string {
  return (name ?? summary.firstMessage ?? "").trim() || "(no messages)";
}

export type SessionEventKind = "added" | "changed" | "removed";

/** With its newline. */
export function sessionLine(
  kind: SessionEventKind,
  session: ListedSession,
  { timeMs, columns, style }: { timeMs: number; columns: number; style: Style },
): string {
  const time = timeText(timeMs);
  const { mark, paint } = marks(style)[kind];
  const name = oneLine(basename(session.path), nameUnitsMax);
  const facts = `${countText(session.summary.messageCount, "message")}  ${name}`;
  const taken = time.length + mark.length + facts.length + 6;
  const title = oneLine(titleOf(session), Math.max(titleUnitsMin, columns - taken));
  return `${style.faint(time)}  ${paint(mark)}  ${title}  ${style.faint(facts)}\n`;
}

const nameUnitsMax = 80;

function marks(style: Style): Record<SessionEventKind, { mark: string; paint: Paint }> {
  return {
    added: { mark: "+", paint: style.good },
    changed: { mark: "~", paint: style.warning },
    removed: { mark: "-", paint: style.bad },
  };
}
