/**
 * The index of the log as it will be after its repair, filled while the plan is made: it knows the
 * ids that there are, tells records from objects inside of records, and notices that a header is
 * missing in front of the entries. Pure, but that it reads inside of lines too long to be joined.
 */
import { readRange, readShallow } from "@branchlog/streaming";
import type { ByteSource, JsonObject, LongLine } from "@branchlog/streaming";
import { LogIndexer, currentVersion, entryForm } from "@branchlog/core/internal";
import type { EntryForm, IndexTable } from "@branchlog/core/internal";
import type { Candidate } from "./line-parts.ts";
import { linksOf, recordKind, sourceCwd } from "./record-facts.ts";

/** The first entry of a log without a header before it. */
interface FirstEntry {
  readonly offset: number;
  readonly form: EntryForm;
  readonly timestamp: string | undefined;
  readonly cwd: string | undefined;
}

/** See the file comment. Rows have the offsets of their lines in the damaged log. */
export class RepairedIndex {
  readonly indexer: LogIndexer;
  #lines = 0;
  #firstEntry: FirstEntry | undefined;
  #laterHeader: JsonObject | undefined;

  constructor(source: ByteSource) {
    this.indexer = new LogIndexer({
      readLong: (offset, length) =>
        readShallow(readRange(source, offset, length), { open: ["message"] }),
      onFolded: () => undefined,
    });
  }

  get index(): IndexTable {
    return this.indexer.index;
  }

  /** Whether neither a header nor an entry was met yet. */
  get isEmpty(): boolean {
    return this.indexer.header === undefined;
  }

  /** The first entry, if there is no header before it. */
  get firstWithoutHeader(): FirstEntry | undefined {
    return this.#firstEntry;
  }

  /** A header behind entries, if there is none before them. */
  get laterHeader(): JsonObject | undefined {
    return this.#laterHeader;
  }

  /** Adds the record `bytes[start, end)`. Returns its row, or -1 if it is not an entry. */
  addRecord(value: JsonObject, bytes: Buffer, start: number, end: number, offset: number): number {
    this.#meet(value, offset);
    this.#lines += 1;
    const { count } = this.index;
    this.indexer.addLines(bytes, start, end, offset, this.#lines);
    // Whether later candidates are records depends on those before them.
    this.indexer.batchEnd();
    return this.index.count > count ? count : -1;
  }

  /** Adds a record that was not joined. */
  addLong(value: JsonObject, long: LongLine): void {
    this.#meet(value, long.offset);
    this.#lines += 1;
    this.indexer.longLine(long, this.#lines);
    this.indexer.batchEnd();
  }

  /** A line that stays and holds no record. */
  addBlank(): void {
    this.#lines += 1;
  }

  /**
   * Whether an object in a damaged line is a record: next to debris it has to look like one. Where
   * it may be a part of the debris (an extension may store whole entries in its own), its id must
   * be new and its parent known: so it is with what was appended, and hardly ever with what was
   * stored.
   * @param isLost Whether an entry of that id is known to be lost.
   * @param debrisId The id of the entry that the debris was, if that is known.
   */
  accepts(
    { value, stands }: Candidate,
    isLost: (id: string) => boolean,
    debrisId: () => string | undefined,
  ): boolean {
    if (stands === "apart") return true;
    const { header } = this.indexer;
    const kind = recordKind(value, header === undefined ? undefined : entryForm(header.version));
    if (kind === "other" || stands === "touched") return kind !== "other";
    if (kind === "header") return false;
    const { id, parentId } = linksOf(value);
    if (id === null || this.#isKnown(id) || isLost(id)) return false;
    if (parentId === null) return this.index.count === 0;
    return this.#isKnown(parentId) || isLost(parentId) || debrisId() === parentId;
  }

  #isKnown(id: string): boolean {
    return this.index.rowOfId(id) >= 0;
  }

  /** Entries without a header before them are indexed under one that takes its place. */
  #meet(value: JsonObject, offset: number): void {
    if (this.#firstEntry !== undefined) {
      if (recordKind(value, undefined) === "header") this.#laterHeader ??= value;
      return;
    }
    if (!this.isEmpty || recordKind(value, undefined) !== "entry") return;
    const { id, timestamp } = value;
    const form = typeof id === "string" ? entryForm(currentVersion) : 1;
    const time = typeof timestamp === "string" ? timestamp : undefined;
    this.#firstEntry = { offset, form, timestamp: time, cwd: sourceCwd(value) };
    const header = Buffer.from(JSON.stringify({ type: "session", version: form, id: "" }));
    this.indexer.addLines(header, 0, header.length, offset, 0);
    this.indexer.batchEnd();
  }
}
