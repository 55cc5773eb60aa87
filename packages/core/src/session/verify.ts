/**
 * Reads every line of a log whole and reports all damage with its place: what does not parse, ids
 * that repeat, parents that are missing, cycles. It trusts no index and changes nothing. What
 * another process may still be writing at the end is `pending`, not damage.
 */
import { decodeLine, LineFramer, readRange, readShallow, scan } from "@branchlog/streaming";
import type { DecodedLine, LineRest, LineSink } from "@branchlog/streaming";
import type { Diagnostic } from "../index-table/diagnostics.ts";
import { diagnosticsMax, yieldEveryMs } from "../limits.ts";
import { cycleRows, orphans } from "../projections/tree.ts";
import type { Orphan } from "../projections/tree.ts";
import type { Engine } from "./engine.ts";

/** A line that is no record. */
export interface BadLine {
  /** 1-based. */
  readonly line: number;
  readonly offset: number;
  readonly length: number;
  /** `not-json`, `not-object`, `nul-bytes` or `too-long`. */
  readonly reason: string;
}

/** The unterminated end of a log. */
export interface PendingEnd {
  readonly offset: number;
  readonly length: number;
  /** `record`: whole but for its newline. `fragment`: cut off, or still being written. */
  readonly kind: "record" | "fragment";
}

/** What `verify` found. Lists are bounded; counts are exact. */
export interface VerifyReport {
  readonly path: string;
  /** True if no line is damaged and the tree is whole. A pending end is no damage. */
  readonly ok: boolean;
  readonly bytes: number;
  readonly lines: number;
  readonly blankLines: number;
  readonly records: number;
  readonly entries: number;
  readonly badLineCount: number;
  readonly badLines: readonly BadLine[];
  readonly duplicateIdCount: number;
  readonly duplicateIds: readonly Diagnostic[];
  readonly orphans: readonly Orphan[];
  /** An id of each cycle of parents. */
  readonly cycles: readonly string[];
  readonly pending: PendingEnd | null;
}

/** Verifies the log of an engine as it is on disk now. */
export async function verifyLog(engine: Engine, signal?: AbortSignal): Promise<VerifyReport> {
  engine.refreshSync();
  // The log may become another while it is read; the report is on the one of this moment.
  const { index, path } = engine;
  const { state } = engine.log;
  const { file, end: bytes, revision } = state;
  const count = new LineCount((offset, length) =>
    readShallow(readRange(file, offset, length), { open: ["message"] }),
  );
  const framer = new LineFramer();
  const range = { from: 0, to: bytes, yieldEveryMs };
  await scan(file, framer, count, signal === undefined ? range : { ...range, signal });
  const { diagnostics } = state.indexer;
  const duplicateIds = diagnostics.entries.filter(({ kind }) => kind === "duplicate-id");
  const duplicateIdCount = diagnostics.count("duplicate-id");
  const [missing, cyclic] = [orphans(index), cycleRows(index)];
  const troubles = count.bad + duplicateIdCount + missing.length + cyclic.length;
  return {
    path,
    ok: troubles === 0,
    bytes,
    lines: count.lines,
    blankLines: count.blank,
    records: count.records,
    entries: revision,
    badLineCount: count.bad,
    badLines: count.badLines,
    duplicateIdCount,
    duplicateIds,
    orphans: missing.slice(0, diagnosticsMax),
    cycles: cyclic.slice(0, diagnosticsMax).map((row) => index.idOf(row)),
    pending: pendingEnd(framer.rest()),
  };
}

/** Counts lines by what they are. */
class LineCount implements LineSink {
  lines = 0;
  blank = 0;
  records = 0;
  bad = 0;
  readonly badLines: BadLine[] = [];
  readonly #readLong: (offset: number, length: number) => DecodedLine;

  constructor(readLong: (offset: number, length: number) => DecodedLine) {
    this.#readLong = readLong;
  }

  line(bytes: Buffer, start: number, end: number, offset: number, line: number): void {
    this.#count(decodeLine(bytes, start, end), { line, offset, length: end - start });
  }

  longLine({ offset, length }: { offset: number; length: number }, line: number): void {
    this.#count(this.#readLong(offset, length), { line, offset, length });
  }

  #count(decoded: DecodedLine, place: Omit<BadLine, "reason">): void {
    this.lines += 1;
    if (decoded.ok) this.records += 1;
    else if (decoded.reason === "blank") this.blank += 1;
    else {
      this.bad += 1;
      if (this.badLines.length < diagnosticsMax) {
        this.badLines.push({ ...place, reason: decoded.reason });
      }
    }
  }
}

function pendingEnd(rest: LineRest | null): PendingEnd | null {
  if (rest === null) return null;
  const whole = rest.bytes !== null && decodeLine(rest.bytes).ok;
  return { offset: rest.offset, length: rest.length, kind: whole ? "record" : "fragment" };
}
