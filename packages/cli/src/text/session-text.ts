/** The title of a session, and events of sessions as lines. Pure. */
import { basename } from "node:path";
import type { ListedSession } from "@branchlog/library";
import type { Paint, Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { countText, timeText } from "./quantities.ts";

const titleUnitsMin = 20;
/** The name, else the first text of a user. */
export function titleOf({ name, summary }: Pick<ListedSession, "name" | "summary">): string {
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
  const facts = `${countText(session.summary.messageCount ?? 0, "message")}  ${name}`;
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
