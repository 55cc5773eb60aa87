/** `read_session`: the text of a branch of a session, turn by turn. */
import type { Session } from "@branchlog/core";
import { foundEntry } from "../addressed-entry.ts";
import { oneLine } from "../text/clean-text.ts";
import { isoTime } from "../text/quantities.ts";
import { branchTo, tipBelow } from "./branch-path.ts";
import type { BranchEntry } from "./branch-path.ts";
import { cursorOf, cursorValues, numberAt, textAt } from "./cursor.ts";
import { nextPage } from "./page.ts";
import type { PagePart, Piece } from "./page.ts";
import { entrySaid } from "./said-text.ts";
import { factsLine, factsOf } from "./session-facts.ts";
import type { SessionFacts } from "./session-facts.ts";
import type { OpenedRead } from "./session-reader.ts";
import { charactersDefault, moreText } from "./tool.ts";
import type { ToolAnswer, ToolCall, ToolSetting } from "./tool.ts";
import { ToolError } from "./tool-error.ts";

export interface ReadArguments {
  readonly session: string;
  /** A turn, from the end if negative, or an entry. */
  readonly from?: number | string | undefined;
  readonly turns?: number | undefined;
  readonly full?: boolean | undefined;
  readonly max_characters?: number | undefined;
  readonly cursor?: string | undefined;
}

/** A turn, or a part of one. */
export interface ReadTurn {
  readonly turn: number;
  /** Its first one here. */
  readonly entry: string;
  readonly time?: string;
  /** Whether it started in the previous answer. */
  readonly continued?: true;
  readonly text: string;
}

export interface ReadAnswer {
  /** Without a cursor only. */
  readonly about?: SessionFacts;
  /** On this branch. */
  readonly turns_total: number;
  /** Not the branch that the agent would continue. */
  readonly side_branch?: true;
  readonly turns: ReadTurn[];
  readonly next_cursor?: string;
}

interface Reading {
  readonly tip: string | null;
  readonly branch: readonly BranchEntry[];
  /** Its place on the branch. */
  readonly first: number;
  readonly offset: number;
  readonly isFull: boolean;
}

export async function readSession(
  given: ReadArguments,
  { scope, reader }: ToolSetting,
  { signal }: ToolCall,
): Promise<ToolAnswer<ReadAnswer>> {
  const { cursor, turns: turnsMax = Infinity } = given;
  const { max_characters: unitsMax = charactersDefault } = given;
  const listed = await scope.find(given.session, signal);
  return reader.read(listed, signal, async (opened) => {
    const owner = `read ${listed.path}`;
    const { session } = opened;
    const reading =
      cursor === undefined
        ? started(given, session)
        : resumed(session, cursorValues(owner, cursor));
    const { tip, branch, first, offset, isFull } = reading;
    const page = await nextPage(pieces(opened, reading, signal), {
      offset,
      unitsMax,
      // Entries before the first turn are shown with it.
      isOver: ({ entry }, begin) => entry.turn >= Math.max(1, begin.entry.turn) + turnsMax,
    });
    const { next } = page;
    const after =
      next === undefined
        ? undefined
        : cursorOf(owner, [tip ?? "", next.key, next.offset, isFull ? 1 : 0]);
    const turns = turnsOf(page.parts, branch[first - 1]?.turn);
    const about = cursor === undefined ? factsOf(listed, opened.text) : undefined;
    const data = {
      ...(about === undefined ? {} : { about }),
      turns_total: branch.at(-1)?.turn ?? 0,
      ...(tip === session.leaf ? {} : { side_branch: true as const }),
      turns,
      ...(after === undefined ? {} : { next_cursor: after }),
    };
    return { data, text: textOf(data) };
  });
}

interface EntryPiece extends Piece {
  readonly entry: BranchEntry;
}

async function* pieces(
  { session, entry: clean }: OpenedRead,
  { branch, first, isFull }: Reading,
  signal: AbortSignal,
): AsyncGenerator<EntryPiece> {
  for (const entry of branch.slice(first)) {
    signal.throwIfAborted();
    const stored = await session.entry(entry.id);
    const text = stored === undefined ? "" : entrySaid(clean(stored), isFull);
    if (text !== "") yield { key: entry.id, text, entry };
  }
}

function started({ from = 0, full = false }: ReadArguments, session: Session): Reading {
  const tree = session.tree();
  const branch = branchTo(tree, session.leaf);
  const reading = { tip: session.leaf, branch, offset: 0, isFull: full };
  const isEntry = typeof from === "string" && branch.some(({ id }) => id === from);
  const turn = isEntry ? Number.NaN : Number(from === "" ? 0 : from);
  if (Number.isInteger(turn)) return { ...reading, first: placeOfTurn(branch, turn) };
  const word = String(from);
  const found = foundEntry(word, session);
  if (found.kind !== "entry") {
    const why =
      found.kind === "none"
        ? "This session has no entry with this id"
        : `It matches ${found.ids.length} entries: give more of the id`;
    throw new ToolError(
      `${oneLine(word, 80)}: ${why}. from takes the number of a turn, or an entry that ` +
        "search_sessions or read_session returned.",
    );
  }
  const first = branch.findIndex(({ id }) => id === found.id);
  if (first >= 0) return { ...reading, first };
  const tip = tipBelow(tree, found.id);
  const side = branchTo(tree, tip);
  return { ...reading, tip, branch: side, first: side.findIndex(({ id }) => id === found.id) };
}

/** Of turn 0 the beginning. */
function placeOfTurn(branch: readonly BranchEntry[], turn: number): number {
  const last = branch.at(-1)?.turn ?? 0;
  const wanted = turn < 0 ? Math.max(1, last + 1 + turn) : turn;
  if (wanted === 0 || last === 0) return 0;
  const first = branch.findIndex((entry) => entry.turn === wanted);
  if (first >= 0) return first;
  throw new ToolError(
    `This session has ${last} turns: from takes 1 to ${last}, or -1 for the last.`,
  );
}

function resumed(session: Session, values: Parameters<typeof textAt>[0]): Reading {
  const tip = textAt(values, 0);
  const branch = branchTo(session.tree(), tip);
  const first = branch.findIndex(({ id }) => id === textAt(values, 1));
  if (first >= 0) {
    return { tip, branch, first, offset: numberAt(values, 2), isFull: numberAt(values, 3) === 1 };
  }
  throw new ToolError(
    "The session was replaced and no longer has this entry. Omit the cursor to start again.",
  );
}

/** @param before The turn of the entry before the first part. */
function turnsOf(parts: readonly PagePart<EntryPiece>[], before: number | undefined): ReadTurn[] {
  const turns: ReadTurn[] = [];
  for (const { piece, text, isContinued } of parts) {
    const { turn, id, time } = piece.entry;
    const last = turns.at(-1);
    if (last?.turn === turn) turns[turns.length - 1] = { ...last, text: `${last.text}${text}` };
    else {
      const iso = isoTime(time);
      const isLater = isContinued || (turns.length === 0 && turn === before);
      turns.push({
        turn,
        entry: id,
        ...(iso === null ? {} : { time: iso }),
        ...(isLater ? { continued: true } : {}),
        text,
      });
    }
  }
  return turns;
}

function textOf({ about, turns_total: total, turns, ...rest }: ReadAnswer): string {
  const heading = about === undefined ? "" : `${factsLine(about)}\n`;
  const resume = about?.resume === undefined ? "" : `  resume: ${about.resume}\n`;
  const side = rest.side_branch === true ? "(a side branch)\n" : "";
  const shown = turns.map(({ turn, entry, time = "", continued, text }) => {
    const start = continued === true ? ", continued" : "";
    const facts = [
      `Turn ${turn} of ${total}${start}`,
      time.slice(0, 16),
      `entry ${oneLine(entry, 80)}`,
    ];
    return `\n## ${facts.join(" · ")}\n${text}`;
  });
  const nothing = turns.length === 0 ? "\nThere are no turns here.\n" : "";
  return `${heading}${resume}${side}${shown.join("")}${nothing}${moreText(rest.next_cursor)}`;
}
