/** A session of a list as one line: time, event, title, number of messages. */
import { basename } from "node:path";
import type { ListedSession } from "@branchlog/core";
import type { Paint, Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { countText, timeText } from "./quantities.ts";

/** An event of a session. */
export type SessionEventKind = "added" | "changed" | "removed";

/** The line, with its newline. */
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
  const title = titleOf(session, Math.max(titleUnitsMin, columns - taken));
  return `${style.faint(time)}  ${paint(mark)}  ${title}  ${style.faint(facts)}\n`;
}

const titleUnitsMin = 20;
const nameUnitsMax = 80;

function marks(style: Style): Record<SessionEventKind, { mark: string; paint: Paint }> {
  return {
    added: { mark: "+", paint: style.good },
    changed: { mark: "~", paint: style.warning },
    removed: { mark: "-", paint: style.bad },
  };
}

/** The name, else the first text of a user. */
function titleOf({ name, summary }: ListedSession, unitsMax: number): string {
  const title = oneLine(name ?? summary.firstMessage ?? "", unitsMax);
  return title === "" ? "(no messages)" : title;
}
