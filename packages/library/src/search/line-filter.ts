/** Selects the lines that may match by their bytes, so that others are not parsed. Pure. */
import { namingTypes } from "@branchlog/core/rows";

/** `end` excludes the newline. */
type OnLine = (start: number, end: number, lineNumber: number) => void;

const newline = 10;

export class LineFilter {
  /** Undefined: every line may match. */
  readonly #pattern: RegExp | undefined;

  readonly #markers: readonly string[];

  /**
   * @param ascii What every matching line contains, in any case or escaped; undefined: unknown.
   * @param takesNames Whether entries that name the session always pass.
   */
  constructor(ascii: string | undefined, takesNames: boolean) {
    this.#markers = takesNames ? [...nameMarkers, escape] : [escape];
    this.#pattern = ascii === undefined ? undefined : new RegExp(asPattern(ascii), "gi");
  }

  /** Takes whole lines; returns their number. */
  lines(bytes: Buffer, start: number, end: number, lineNumber: number, onLine: OnLine): number {
    const wanted = this.#pattern && this.#candidates(bytes, start, end, this.#pattern);
    let [line, at] = [lineNumber, start];
    const next = wanted?.values();
    let place = next?.next().value;
    while (at <= end) {
      const found = bytes.indexOf(newline, at);
      const lineEnd = found < 0 || found > end ? end : found;
      const isWanted = wanted === undefined || (place !== undefined && place <= lineEnd);
      if (isWanted) onLine(at, lineEnd, line);
      while (place !== undefined && place <= lineEnd) place = next?.next().value;
      at = lineEnd + 1;
      line += 1;
    }
    return line - lineNumber;
  }

  /** Offsets in ascending order. */
  #candidates(bytes: Buffer, start: number, end: number, pattern: RegExp): readonly number[] {
    const places: number[] = [];
    for (let from = start; from < end;) {
      const to = endOfPiece(bytes, from, end);
      // One unit per byte.
      const text = bytes.toString("latin1", from, to);
      pattern.lastIndex = 0;
      for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
        places.push(from + found.index);
        const lineEnd = text.indexOf("\n", found.index);
        if (lineEnd < 0) break;
        pattern.lastIndex = lineEnd;
      }
      from = to;
    }
    const beforeOthers = places.length;
    const own = bytes.subarray(start, end);
    for (const marker of this.#markers) {
      for (let at = own.indexOf(marker); at >= 0; at = own.indexOf(marker, at + marker.length)) {
        if (marker !== escape || isEscapedAscii(own[at + escape.length])) places.push(start + at);
      }
    }
    return places.length === beforeOthers ? places : places.sort((one, other) => one - other);
  }
}

/** Longer strings get memory of their own from the system, which costs more than the search. */
const pieceBytes = 64 * 1024;

/** Of whole lines, at most so many bytes where they allow it. */
function endOfPiece(bytes: Buffer, start: number, end: number): number {
  if (end - start <= pieceBytes) return end;
  const last = bytes.lastIndexOf(newline, start + pieceBytes);
  if (last >= start) return last + 1;
  const first = bytes.indexOf(newline, start + pieceBytes);
  return first < 0 || first >= end ? end : first + 1;
}

const escape = String.raw`\u00`;
/** Ends of the naming types: found fast, since they begin with a rare character. */
const nameMarkers = namingTypes.map((type) => `${type.slice(type.indexOf("_"))}"`);

function asPattern(ascii: string): string {
  return ascii.replaceAll(/[^a-z0-9]/gu, (character) => {
    return String.raw`\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}

function isEscapedAscii(digit: number | undefined): boolean {
  return digit !== undefined && digit >= 0x32 && digit <= 0x37;
}
