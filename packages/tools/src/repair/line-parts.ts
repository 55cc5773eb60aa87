/** Splits a damaged line into complete records and debris, with every byte in one part. Linear. */
import { ObjectScanner, decodeLine, isSpace, skipSpace } from "@branchlog/streaming";
import type { JsonObject, Span } from "@branchlog/streaming";
import { locateMembers } from "@branchlog/core/rows";

/** A part of a line. White space belongs to the part before it, or to the first one. */
export type LinePart =
  | (Span & { readonly kind: "record"; readonly value: JsonObject })
  | (Span & { readonly kind: "debris" });

export interface Candidate extends Span {
  readonly value: JsonObject;
  readonly debris: Span;
  /**
   * `apart`: bounded by records. `touched`: next to debris. `inside`: perhaps a value in debris.
   */
  readonly placement: "apart" | "touched" | "inside";
}

type Accepts = (candidate: Candidate) => boolean;

export function partsOf(line: Buffer, accepts: Accepts): readonly LinePart[] {
  return new LineParting(line, accepts).parts();
}

const [space, quote, openBrace, comma] = [0x20, 0x22, 0x7b, 0x2c];
/** Bytes that continue JSON after a value: between debris and them, an object is a part of it. */
const goesOn: ReadonlySet<number | undefined> = new Set(Buffer.from(',:"]}'));
/** What can follow a record: nothing, a record, or bytes never written. */
const mayFollow: ReadonlySet<number | undefined> = new Set([undefined, openBrace, 0]);
const opensValue: ReadonlySet<number | undefined> = new Set(Buffer.from("[,:"));
/** Longest distance from the start of a record to the syntax error that it caused in a torn one. */
const restartBytes = 2;
const spacesMax = 16;

class LineParting {
  readonly #line: Buffer;
  readonly #accepts: Accepts;
  readonly #parts: LinePart[] = [];
  #restStart = 0;
  #contentStart: number;

  constructor(line: Buffer, accepts: Accepts) {
    this.#line = line;
    this.#accepts = accepts;
    this.#contentStart = skipSpace(line, 0);
  }

  parts(): readonly LinePart[] {
    let at = this.#contentStart;
    for (;;) {
      const start = this.#nextObject(at);
      if (start < 0) break;
      at = this.#tryObject(start);
    }
    this.#setAsideUpTo(this.#line.length);
    return this.#parts;
  }

  /** Where the next object may begin: anything in braces at first, later only what has a key. */
  #nextObject(from: number): number {
    const line = this.#line;
    let at = line.indexOf(openBrace, from);
    if (at === from && from === this.#contentStart) return at;
    while (at >= 0 && line[at + 1] !== quote) at = line.indexOf(openBrace, at + 1);
    return at;
  }

  /**
   * Scans the object at `start` and returns where to continue. A syntax error is at most
   * `restartBytes` after the record that caused it: at its brace, or at its first letter if its
   * first quote ended a torn string.
   */
  #tryObject(start: number): number {
    const scanner = new ObjectScanner(start);
    const stop = scanner.push(this.#line, start, this.#line.length);
    if (scanner.status === "complete")
      return this.#take({ start, end: stop }) ? this.#restStart : stop;
    const inner = scanner.closedLast;
    if (inner !== null && this.#take(inner)) return this.#restStart;
    return scanner.status === "open" ? this.#line.length : Math.max(start + 1, stop - restartBytes);
  }

  #take({ start, end }: Span): boolean {
    const line = this.#line;
    const next = skipSpace(line, end);
    const follows = line[next];
    const isBehindDebris = start > this.#contentStart;
    const isPart = isBehindDebris ? goesOn.has(follows) : this.#isDivided(start, end, follows);
    if (isPart) return false;
    const decoded = decodeLine(line, start, end);
    if (!decoded.ok) return false;
    const { value } = decoded;
    const debris = { start: this.#restStart, end: isBehindDebris ? start : this.#restStart };
    const isInside = isBehindDebris && opensValue.has(this.#byteBefore(start));
    const isTouched = isBehindDebris || !mayFollow.has(follows);
    const placement = isInside ? "inside" : isTouched ? "touched" : "apart";
    if (!this.#accepts({ value, start, end, debris, placement })) return false;
    if (isBehindDebris) this.#setAsideUpTo(start);
    this.#parts.push({ kind: "record", start: this.#restStart, end: next, value });
    this.#restStart = next;
    this.#contentStart = next;
    return true;
  }

  /** Whether a damaged byte closed the object early: with it replaced, all is one object. */
  #isDivided(start: number, end: number, follows: number | undefined): boolean {
    if (follows !== quote && follows !== comma) return false;
    const joined = Buffer.from(this.#line.subarray(start));
    joined[end - start - 1] = follows === comma ? space : comma;
    const scanner = new ObjectScanner(0);
    const stop = scanner.push(joined, 0, joined.length);
    if (scanner.status !== "complete" || !decodeLine(joined, 0, stop).ok) return false;
    const keys = locateMembers(joined, 0, stop)?.members.map(({ key }) => key);
    return new Set(keys).size === keys?.length;
  }

  #setAsideUpTo(end: number): void {
    if (end > this.#restStart) this.#parts.push({ kind: "debris", start: this.#restStart, end });
    this.#restStart = end;
  }

  /** The last byte before `position` that is not a space; a comma if it is too far away. */
  #byteBefore(position: number): number | undefined {
    for (let at = position - 1; at >= position - spacesMax; at -= 1) {
      if (!isSpace(this.#line[at])) return this.#line[at];
    }
    return comma;
  }
}
