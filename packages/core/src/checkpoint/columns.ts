/**
 * The typed arrays behind the text of a frame. Which ones there are, of what kind and how long,
 * says the schema of the frame, never the file: it holds their bytes one behind the other.
 */

/** A typed array of the kinds that indexes are made of. */
export type Column = Float64Array | Int32Array | Uint32Array | Uint8Array;

/** Columns begin at multiples of so many bytes. */
export const alignment = 8;
/** Room for what comes, so that the first entry after reading does not copy every column. */
const spareShare = 1 / 16;

/** A column that is still to be filled, and its bytes in the file, the padding included. */
export interface EmptyColumn {
  readonly column: Column;
  /** Elements that the file has of it; it has room for more. */
  readonly length: number;
  readonly bytes: Buffer;
}

/**
 * Makes the columns of a frame, in the order in which their bytes stand in it. Together they are
 * no larger than the frame, whatever lengths are asked for, but for the room behind each.
 */
export class ColumnRoom {
  readonly made: EmptyColumn[] = [];
  #bytesLeft: number;

  /** @param bytes What the frame holds of columns. */
  constructor(bytes: number) {
    this.#bytesLeft = bytes;
  }

  /** Bytes of the frame that are no column's yet. */
  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** Each throws `RangeError` if the frame does not hold so many elements more. */
  float64(length: number): Float64Array {
    return this.#make(length, Float64Array.BYTES_PER_ELEMENT, (room) => new Float64Array(room));
  }

  int32(length: number): Int32Array {
    return this.#make(length, Int32Array.BYTES_PER_ELEMENT, (room) => new Int32Array(room));
  }

  uint32(length: number): Uint32Array {
    return this.#make(length, Uint32Array.BYTES_PER_ELEMENT, (room) => new Uint32Array(room));
  }

  uint8(length: number): Uint8Array {
    return this.#make(length, Uint8Array.BYTES_PER_ELEMENT, (room) => new Uint8Array(room));
  }

  #make<C extends Column>(length: number, elementBytes: number, make: (room: number) => C): C {
    const needed = alignedUp(length * elementBytes);
    if (!(needed <= this.#bytesLeft)) throw new RangeError("the frame holds fewer columns");
    this.#bytesLeft -= needed;
    const column = make(length + Math.ceil(length * spareShare) + alignment);
    const bytes = Buffer.from(column.buffer, column.byteOffset, needed);
    this.made.push({ column, length, bytes });
    return column;
  }
}

/** The bytes of a column as they stand in memory. */
export function bytesOf({ buffer, byteOffset, byteLength }: Column): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The next multiple of {@link alignment}. */
export function alignedUp(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}
