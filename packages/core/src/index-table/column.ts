/**
 * Growth of typed-array columns: half as much again, so that a full index wastes at most a third
 * of its memory and appending a row is amortised O(1).
 */

/** The capacity to grow to, at least `needed` elements. */
export function grownCapacity(current: number, needed: number): number {
  return Math.max(needed, Math.ceil(current * 1.5), 16);
}

/** A copy of `column` with `capacity` elements; new elements are `fill`. */
export function grownInt32(
  column: Int32Array,
  capacity: number,
  fill: number,
): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(capacity);
  grown.set(column);
  if (fill !== 0) grown.fill(fill, column.length);
  return grown;
}

/** A copy of `column` with `capacity` elements; new elements are zero. */
export function grownUint32(column: Uint32Array, capacity: number): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(capacity);
  grown.set(column);
  return grown;
}

/** A copy of `column` with `capacity` elements; new elements are zero. */
export function grownUint8(column: Uint8Array, capacity: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(capacity);
  grown.set(column);
  return grown;
}

/** A copy of `column` with `capacity` elements; new elements are zero. */
export function grownFloat64(column: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(capacity);
  grown.set(column);
  return grown;
}
