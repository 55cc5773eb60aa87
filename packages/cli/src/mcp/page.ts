/** Splits a sequence of texts into answers of bounded length. Pure. */
import { cutAt } from "../text/clean-text.ts";

/** A text of an entry or a message. */
export interface Piece {
  readonly key: string;
  readonly text: string;
}

export interface PagePart<P extends Piece> {
  readonly piece: P;
  /** Of the text of the piece. */
  readonly text: string;
  /** Whether the text begins within that of the piece. */
  readonly isContinued: boolean;
}

export interface Page<P extends Piece> {
  readonly parts: readonly PagePart<P>[];
  /** Where the next page begins; undefined: this is the last one. */
  readonly next: PagePlace | undefined;
}

export interface PagePlace {
  readonly key: string;
  /** In UTF-16 units of the piece's text. */
  readonly offset: number;
}

export interface PageLimits<P extends Piece> {
  /** Where the first piece begins. */
  readonly offset: number;
  /** Of all texts together. */
  readonly unitsMax: number;
  /** Whether a page that begins with the first piece ends before the other. */
  readonly isOver?: (piece: P, first: P) => boolean;
}

/** Maximum length of a heading, in addition to the text. */
const headingUnits = 80;

/**
 * The next page: whole texts where they fit, else the beginning of one, up to the end of a line
 * where that is near. Every page but the last has at least one character. No further piece is
 * pulled.
 */
export async function nextPage<P extends Piece>(
  pieces: AsyncIterable<P>,
  { offset, unitsMax, isOver }: PageLimits<P>,
): Promise<Page<P>> {
  const parts: PagePart<P>[] = [];
  let [start, left] = [offset, unitsMax];
  for await (const piece of pieces) {
    const { key } = piece;
    const first = parts[0]?.piece;
    const isFirst = first === undefined;
    if (!isFirst && isOver?.(piece, first) === true) return { parts, next: { key, offset: 0 } };
    const text = piece.text.slice(start);
    const isContinued = start > 0;
    if (text.length <= left) {
      parts.push({ piece, text, isContinued });
      left -= text.length + headingUnits;
      start = 0;
      continue;
    }
    // A short rest of a page stays empty.
    if (!isFirst && left < unitsMax / 4) return { parts, next: { key, offset: start } };
    const shown = beginningOf(text, Math.max(left, 2));
    parts.push({ piece, text: shown, isContinued });
    return { parts, next: { key, offset: start + shown.length } };
  }
  return { parts, next: undefined };
}

function beginningOf(text: string, unitsMax: number): string {
  const lineEnd = text.lastIndexOf("\n", unitsMax - 1) + 1;
  return lineEnd > unitsMax / 2 ? text.slice(0, lineEnd) : cutAt(text, unitsMax);
}
