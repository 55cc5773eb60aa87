/**
 * The lines of one batch, as columns: one row for each line, in file order. A row without the flag
 * `trusted` has nothing but its place, and has to be parsed; spans are set only where an id is no
 * word, or the time is in another form.
 */
import { ROWS } from "./memory";

/** Rows of a batch; a scan that has made so many stops. */
export const rowsMax: i32 = 4096;

/** The envelope may stand for the line. */
export const trusted: u32 = 1;
/** Id and parent are at the end of the line. */
export const tailForm: u32 = 2;
/** The last value of the record is an object. */
export const endsWithObject: u32 = 4;
/** Tail form: a payload is before the id. */
export const hasPayload: u32 = 8;
/** The time is in the form of `toISOString`. */
export const exact: u32 = 16;
/** The parent is null. */
export const root: u32 = 32;
/** Id and parent are words of eight hex digits. */
export const words: u32 = 64;
/** Besides the envelope it has plain strings at most: it is JSON, without a parse. */
export const flat: u32 = 128;
/** A message that says behind its content whether it failed, and when, and nothing else. */
export const plainResult: u32 = 256;

const START: usize = ROWS;
const LENGTH: usize = START + 4 * rowsMax;
const FLAGS: usize = LENGTH + 4 * rowsMax;
const KIND: usize = FLAGS + 4 * rowsMax;
const ID: usize = KIND + 4 * rowsMax;
const PARENT: usize = ID + 4 * rowsMax;
const ID_START: usize = PARENT + 4 * rowsMax;
const ID_END: usize = ID_START + 4 * rowsMax;
const PARENT_START: usize = ID_END + 4 * rowsMax;
const PARENT_END: usize = PARENT_START + 4 * rowsMax;
const TIME_START: usize = PARENT_END + 4 * rowsMax;
const TIME_END: usize = TIME_START + 4 * rowsMax;
const TIME: usize = TIME_END + 4 * rowsMax;
/** Where the role of a message of the head form ends; the host does not read it. */
const ROLE_END: usize = TIME + 8 * rowsMax;

let count: i32 = 0;

/** How many rows the last scan made. */
export function rowCount(): i32 {
  return count;
}

export function clearRows(): void {
  count = 0;
}

export function isFull(): bool {
  return count == rowsMax;
}

/** Adds the line `[start, end)`, to be parsed unless it is marked otherwise later. */
export function addLine(start: usize, end: usize): void {
  const row = usize(count) << 2;
  store<u32>(START + row, u32(start));
  store<u32>(LENGTH + row, u32(end - start));
  store<u32>(FLAGS + row, 0);
  count += 1;
}

/** Says of the line added last what is trusted of it. */
export function setEnvelope(flags: u32, kind: i32, id: u32, parent: u32, time: f64): void {
  const row = usize(count - 1) << 2;
  store<u32>(FLAGS + row, flags);
  store<i32>(KIND + row, kind);
  store<u32>(ID + row, id);
  store<u32>(PARENT + row, parent);
  store<f64>(TIME + (row << 1), time);
}

/** Says where its id, its parent and its time are. */
export function setSpans(
  idStart: usize,
  idEnd: usize,
  parentStart: usize,
  parentEnd: usize,
  timeStart: usize,
  timeEnd: usize,
): void {
  const row = usize(count - 1) << 2;
  store<u32>(ID_START + row, u32(idStart));
  store<u32>(ID_END + row, u32(idEnd));
  store<u32>(PARENT_START + row, u32(parentStart));
  store<u32>(PARENT_END + row, u32(parentEnd));
  store<u32>(TIME_START + row, u32(timeStart));
  store<u32>(TIME_END + row, u32(timeEnd));
}

/** Says where the role of the line added last ends; 0: it is no message of the head form. */
export function setRoleEnd(place: usize): void {
  store<u32>(ROLE_END + (usize(count - 1) << 2), u32(place));
}

export function startOf(row: i32): usize {
  return usize(load<u32>(START + (usize(row) << 2)));
}

/** Where its newline is. */
export function endOf(row: i32): usize {
  return startOf(row) + usize(load<u32>(LENGTH + (usize(row) << 2)));
}

/** The place after the last byte of the line that is not its carriage return. */
export function lastOf(row: i32): usize {
  const end = endOf(row);
  return load<u8>(end - 1) == 0x0d ? end - 1 : end;
}

export function roleEndOf(row: i32): usize {
  return usize(load<u32>(ROLE_END + (usize(row) << 2)));
}
