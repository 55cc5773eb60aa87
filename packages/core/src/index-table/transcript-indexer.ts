/** Adds the records of another agent's transcript to an index. Pure. */
import type { JsonObject } from "@branchlog/streaming";
import { currentVersion } from "../dialects/header.ts";
import type { TranscriptFormat } from "../dialects/agent.ts";
import type { Transcript } from "../dialects/transcript.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import { SavedFields, malformed } from "../entries/saved-fields.ts";
import type { DiagnosticLog } from "./diagnostics.ts";
import type { IndexTable } from "./index-table.ts";
import { rootHandle } from "./row-table.ts";
import type { LineMap } from "./row-table.ts";

export interface LinePlace {
  readonly offset: number;
  readonly length: number;
  readonly lineNumber: number;
}

export interface IndexedHeader extends LinePlace {
  readonly header: SessionHeader;
  readonly version: number;
}

export interface SavedTranscript {
  /** The name of its agent. */
  readonly agent: string;
  /** As JSON. */
  readonly state: object;
}

interface IndexParts {
  readonly index: IndexTable;
  readonly lines: LineMap;
  readonly diagnostics: DiagnosticLog;
}

export class TranscriptIndexer {
  readonly format: TranscriptFormat;
  readonly transcript: Transcript;
  readonly #parts: IndexParts;
  #header: IndexedHeader | undefined;
  #previousId: string | undefined;
  #previousHandle = rootHandle;

  constructor(parts: IndexParts, format: TranscriptFormat, path: string) {
    const { index } = parts;
    this.#parts = parts;
    this.format = format;
    this.transcript = format.read(path, (id) => index.rowOfId(id) >= 0);
  }

  /** Undefined before a record names the session. */
  get header(): IndexedHeader | undefined {
    return this.#header;
  }

  save(): SavedTranscript {
    return { agent: this.format.agent, state: this.transcript.save() };
  }

  /** After the index. Throws `TypeError` for what was not saved. */
  restore(state: object, header: IndexedHeader): void {
    const { index } = this.#parts;
    this.transcript.restore(new SavedFields(state));
    const { tailId } = this.transcript;
    if (tailId !== null && index.rowOfId(tailId) < 0) throw malformed("tail");
    this.#header = header;
    if (index.count === 0) return;
    this.#previousId = index.idOf(index.count - 1);
    this.#previousHandle = index.rows.handle(index.count - 1);
  }

  /** The handles of another one of the same log. */
  becomes(other: TranscriptIndexer): void {
    this.#previousHandle = other.#previousHandle;
  }

  add(value: JsonObject, place: LinePlace, line: number = place.lineNumber): void {
    const { index, lines, diagnostics } = this.#parts;
    const rows = this.transcript.add(value, line);
    const { header, repetition } = this.transcript;
    const { offset, length, lineNumber } = place;
    if (header !== undefined && header !== this.#header?.header) {
      const first = this.#header ?? place;
      this.#header = { ...placeOf(first), header, version: currentVersion };
    }
    if (repetition !== undefined) {
      const repeated = { kind: "duplicate-id", reason: repetition } as const;
      diagnostics.add({ ...repeated, offset, length, line: lineNumber });
    }
    if (rows.length === 0) return lines.addOtherRecord();
    const { ids, kinds } = index;
    for (const { id, parentId, type, role, customType, timeMs } of rows) {
      // Most entries follow the one before.
      const isNext = parentId !== null && parentId === this.#previousId;
      const previousHandle = isNext ? this.#previousHandle : undefined;
      const handle = ids.add(id);
      const parentHandle = previousHandle ?? (parentId === null ? rootHandle : ids.add(parentId));
      const kind = kinds.add({ type, role, customType });
      lines.addRow(index.count, lineNumber);
      index.add({ offset, length, handle, parentHandle, kind, time: timeMs, flags: 0 });
      this.#previousId = id;
      this.#previousHandle = handle;
    }
  }
}

function placeOf({ offset, length, lineNumber }: LinePlace): LinePlace {
  return { offset, length, lineNumber };
}
