/**
 * The title slot of omp: the first 256 bytes of its newer session files, a record that holds the
 * name of the session and is overwritten in place when that changes. It is not an entry, and what
 * is known of a log never depends on its bytes. Pure.
 */
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";

/** Length of a title slot, its newline included. */
export const titleSlotBytes = 256;

/** The origin of a name; one that an agent generates never replaces one of its user. */
export type TitleSource = "auto" | "user";

/** What a title slot says. */
export interface TitleSlot {
  /** Empty: the session has no name. A long one is cut off at the end of the slot. */
  readonly title: string;
  readonly source?: TitleSource | undefined;
  /** ISO 8601 in UTC, as a rule. */
  readonly updatedAt: string;
}

/** The slot at the start of a log; undefined if its first line is none, as omp tells them. */
export function readTitleSlot(start: Buffer): TitleSlot | undefined {
  if (!hasSlotShape(start)) return undefined;
  const decoded = decodeLine(start, 0, titleSlotBytes - 1);
  return decoded.ok ? titleSlotOf(decoded.value) : undefined;
}

/**
 * How many bytes at the start of a log are a slot, whatever their text: 256 or 0. Checks the shape
 * only, so that a log is known again by everything but its name.
 */
export function slotLength(start: Buffer): number {
  return hasSlotShape(start) ? titleSlotBytes : 0;
}

/**
 * A slot as it is stored: 256 bytes, its newline included. A title that does not fit is cut off
 * between two code points.
 * @throws RangeError if `updatedAt` leaves no room for anything else.
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

/**
 * The content of a record as a title slot; undefined if it is not one. Its place is not checked.
 */
export function titleSlotOf(record: JsonObject): TitleSlot | undefined {
  const { type, v, title, source, updatedAt, pad } = record;
  if (type !== "title" || v !== 1 || typeof title !== "string") return undefined;
  if (typeof updatedAt !== "string" || typeof pad !== "string") return undefined;
  if (source === undefined) return { title, updatedAt };
  return source === "auto" || source === "user" ? { title, source, updatedAt } : undefined;
}
