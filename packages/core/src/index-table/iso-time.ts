/**
 * Reads the ISO form that agents write (`2026-11-21T20:28:20.131Z`) straight from bytes, without a
 * string. Any other form goes through Date.parse; what that cannot read is NaN, as in pi.
 */

const zero = 48;

/** Epoch milliseconds of the timestamp at bytes[start, end), or NaN. */
export function isoTimeOf(bytes: Uint8Array, start: number, end: number): number {
  const exact = exactIsoTimeOf(bytes, start, end);
  if (!Number.isNaN(exact)) return exact;
  return Date.parse(Buffer.from(bytes.subarray(start, end)).toString("latin1"));
}

/**
 * The same for the one form that `toISOString` returns unchanged, years 1970 to 9999; NaN for
 * every other form, even if it is a time.
 */
export function exactIsoTimeOf(bytes: Uint8Array, start: number, end: number): number {
  if (end - start !== 24 || !isFixedForm(bytes, start)) return Number.NaN;
  const year = digits(bytes, start, 4);
  const month = digits(bytes, start + 5, 2);
  const day = digits(bytes, start + 8, 2);
  const hour = digits(bytes, start + 11, 2);
  const minute = digits(bytes, start + 14, 2);
  const second = digits(bytes, start + 17, 2);
  const ms = digits(bytes, start + 20, 3);
  const dateOk = year >= 1970 && day >= 1 && day <= daysOfMonth(year, month);
  const clockOk = hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59;
  if (!dateOk || !clockOk || second < 0 || second > 59 || ms < 0) return Number.NaN;
  const seconds = (hour * 60 + minute) * 60 + second;
  return daysFromCivil(year, month, day) * 86_400_000 + seconds * 1000 + ms;
}

/**
 * Reads the timestamps of one log in its order. Neighbours share their hour as a rule, so date and
 * hour are worked out once per hour and compared otherwise. Gives what {@link exactIsoTimeOf}
 * gives.
 */
export class IsoTimeReader {
  /** `2026-11-21T20` of the timestamp read last, as three words and a byte. */
  #word0 = 0;
  #word4 = 0;
  #word8 = 0;
  #byte12 = 0;
  #hourMs = Number.NaN;

  /** Epoch milliseconds of the timestamp at bytes[start, end) in the exact form, or NaN. */
  exact(bytes: DataView, start: number, end: number): number {
    if (
      end - start !== 24 ||
      // From the hour backwards: what differs, differs at the end.
      bytes.getUint8(start + 12) !== this.#byte12 ||
      bytes.getInt32(start + 8, true) !== this.#word8 ||
      bytes.getInt32(start + 4, true) !== this.#word4 ||
      bytes.getInt32(start, true) !== this.#word0 ||
      !isClockForm(bytes, start)
    ) {
      return this.#readHour(bytes, start, end);
    }
    const minute = twoDigits(bytes, start + 14);
    const second = twoDigits(bytes, start + 17);
    const hundredths = twoDigits(bytes, start + 20);
    const thousandth = (bytes.getUint8(start + 22) - zero) >>> 0;
    const isClock = minute < 60 && second < 60 && hundredths < 100 && thousandth < 10;
    if (!isClock) return Number.NaN;
    return this.#hourMs + (minute * 60 + second) * 1000 + hundredths * 10 + thousandth;
  }

  #readHour(bytes: DataView, start: number, end: number): number {
    const { buffer, byteOffset, byteLength } = bytes;
    const time = exactIsoTimeOf(new Uint8Array(buffer, byteOffset, byteLength), start, end);
    if (Number.isNaN(time)) return time;
    this.#word0 = bytes.getInt32(start, true);
    this.#word4 = bytes.getInt32(start + 4, true);
    this.#word8 = bytes.getInt32(start + 8, true);
    this.#byte12 = bytes.getUint8(start + 12);
    this.#hourMs = time - (time % 3_600_000);
    return time;
  }
}

/** Whether the separators after the hour are where the fixed form has them. */
function isClockForm(bytes: DataView, at: number): boolean {
  return (
    bytes.getUint8(at + 13) === 0x3a &&
    bytes.getUint8(at + 16) === 0x3a &&
    bytes.getUint8(at + 19) === 0x2e &&
    bytes.getUint8(at + 23) === 0x5a
  );
}

/** The number in two digits; far above 100 if one of them is none. */
function twoDigits(bytes: DataView, at: number): number {
  const tens = (bytes.getUint8(at) - zero) >>> 0;
  const ones = (bytes.getUint8(at + 1) - zero) >>> 0;
  return tens < 10 && ones < 10 ? tens * 10 + ones : 1000;
}

/** Whether the separators are where the fixed form has them. */
function isFixedForm(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at + 4] === 0x2d &&
    bytes[at + 7] === 0x2d &&
    bytes[at + 10] === 0x54 &&
    bytes[at + 13] === 0x3a &&
    bytes[at + 16] === 0x3a &&
    bytes[at + 19] === 0x2e &&
    bytes[at + 23] === 0x5a
  );
}

/** The number in `count` digits; far below zero if one of them is none. */
function digits(bytes: Uint8Array, start: number, count: number): number {
  let value = 0;
  for (let i = start; i < start + count; i += 1) {
    const digit = (bytes[i] ?? 0) - zero;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** 0 for a month that does not exist. */
function daysOfMonth(year: number, month: number): number {
  if (month < 1 || month > 12) return 0;
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** Days since 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date algorithms"). */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
