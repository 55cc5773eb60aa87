/**
 * omp's title slot: a record of 256 bytes at the start of a file that holds the name of the session
 * and is overwritten in place. It is not an entry; what is known of a log never depends on its
 * bytes. Pure.
 */
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";

/** Newline included. */
export const titleSlotBytes = 256;

/** A generated name never replaces one of the user. */
export type TitleSource = "auto" | "user";

export interface TitleSlot {
  /** Empty: no name. Long titles are truncated. */
  readonly title: string;
  readonly source?: TitleSource | undefined;
  /** ISO 8601 in UTC, as a rule. */
  readonly updatedAt: string;
}

/** Undefined if the first line is not one by omp's rules. */
export function readTitleSlot(start: Buffer): TitleSlot | undefined {
  if (!hasSlotShape(start)) return undefined;
  const decoded = decodeLine(start, 0, titleSlotBytes - 1);
  return decoded.ok ? titleSlotOf(decoded.value) : undefined;
}

/** 256 or 0. Checks only the shape, so that the fingerprint does not depend on the name. */
export function slotLength(start: Buffer): number {
  return hasSlotShape(start) ? titleSlotBytes : 0;
}

/**
 * Newline included. Long titles are truncated between code points.
 *
 * @throws RangeError if `updatedAt` leaves no room.
 */
export function encodeTitleSlot(slot: TitleSlot): Buffer {
  const codePoints = Array.from(slot.title);
  let fitting = 0;
  let tooMany = codePoints.length + 1;
  while (tooMany - fitting > 1) {
    const middle = (fitting + tooMany) >>> 1;
    const { length } = slotText(slot, codePoints.slice(0, middle).join(""), "");
    if (length <= titleSlotBytes) fitting = middle;
    else tooMany = middle;
  }
  const title = codePoints.slice(0, fitting).join("");
  const room = titleSlotBytes - slotText(slot, title, "").length;
  if (room < 0) throw new RangeError("a title slot has no room for its own date");
  return slotText(slot, title, " ".repeat(room));
}

function slotText({ source, updatedAt }: TitleSlot, title: string, pad: string): Buffer {
  const named = source === undefined ? {} : { source };
  return Buffer.from(
    `${JSON.stringify({ type: "title", v: 1, title, ...named, updatedAt, pad })}\n`,
  );
}

const opening = Buffer.from('{"type":"title"');

function hasSlotShape(start: Buffer): boolean {
  return (
    start.length >= titleSlotBytes &&
    start.subarray(0, opening.length).equals(opening) &&
    start.indexOf(0x0a) === titleSlotBytes - 1
  );
}

/** The place of the record is not checked. */
export function titleSlotOf(record: JsonObject): TitleSlot | undefined {
  const { type, v, title, source, updatedAt, pad } = record;
  if (type !== "title" || v !== 1 || typeof title !== "string") return undefined;
  if (typeof updatedAt !== "string" || typeof pad !== "string") return undefined;
  if (source === undefined) return { title, updatedAt };
  return source === "auto" || source === "user" ? { title, source, updatedAt } : undefined;
}
