/** Values in lines: ids of eight hex digits as words, and times in the form of `toISOString`. */

/** Whether eight lower-case hex digits are at `place`. */
export function isHexWord(place: usize): bool {
  const bytes = v128.load64_zero(place);
  const digits = i8x16.le_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(9));
  const letters = i8x16.le_u(i8x16.sub(bytes, i8x16.splat(0x61)), i8x16.splat(5));
  return i64x2.extract_lane(v128.or(digits, letters), 0) == -1;
}

/** The 32 bits that they spell. */
export function hexWord(place: usize): u32 {
  const text = load<u64>(place);
  const nibbles = (text & 0x0f0f0f0f0f0f0f0f) + ((text >> 6) & 0x0101010101010101) * 9;
  const pairs = ((nibbles << 4) | (nibbles >> 8)) & 0x00ff00ff00ff00ff;
  const words = (pairs | (pairs >> 8)) & 0x0000ffff0000ffff;
  return bswap<u32>(u32(words | (words >> 16)));
}

// Neighbouring lines share their hour as a rule: date and hour are computed once, then compared.

/** `2026-11-21T20` of the hour read last, as two words that overlap. */
let hourWord0: u64 = 0;
let hourWord5: u64 = 0;
let hourMs: f64 = 0;

/** Epoch milliseconds of the 24 bytes at `place` in the form of `toISOString`; else -1. */
export function exactTime(place: usize): f64 {
  if (load<u64>(place) != hourWord0 || load<u64>(place + 5) != hourWord5) {
    const ms = dateAndHour(place);
    if (ms < 0) return -1;
    hourWord0 = load<u64>(place);
    hourWord5 = load<u64>(place + 5);
    hourMs = ms;
  }
  const separators =
    (load<u8>(place + 13) ^ 0x3a) |
    (load<u8>(place + 16) ^ 0x3a) |
    (load<u8>(place + 19) ^ 0x2e) |
    (load<u8>(place + 23) ^ 0x5a);
  const minute = twoDigits(place + 14);
  const second = twoDigits(place + 17);
  const hundredths = twoDigits(place + 20);
  const thousandth = u32(load<u8>(place + 22)) - 0x30;
  const isClock = minute < 60 && second < 60 && hundredths < 100 && thousandth < 10;
  if (separators != 0 || !isClock) return -1;
  return hourMs + f64((minute * 60 + second) * 1000 + hundredths * 10 + thousandth);
}

/** The number in two digits; 1000 if one of them is none. */
function twoDigits(place: usize): u32 {
  const tens = u32(load<u8>(place)) - 0x30;
  const ones = u32(load<u8>(place + 1)) - 0x30;
  return tens > 9 || ones > 9 ? 1000 : tens * 10 + ones;
}

function dateAndHour(place: usize): f64 {
  const separators =
    (load<u8>(place + 4) ^ 0x2d) | (load<u8>(place + 7) ^ 0x2d) | (load<u8>(place + 10) ^ 0x54);
  const century = twoDigits(place);
  const yearOfCentury = twoDigits(place + 2);
  const month = twoDigits(place + 5);
  const day = twoDigits(place + 8);
  const hour = twoDigits(place + 11);
  if (separators != 0 || century > 99 || yearOfCentury > 99 || hour > 23) return -1;
  const year = century * 100 + yearOfCentury;
  if (year < 1970 || day < 1 || day > daysOfMonth(year, month)) return -1;
  return f64(daysFromCivil(year, month, day)) * 86_400_000 + f64(hour * 3_600_000);
}

/** 0 for a month that does not exist. */
function daysOfMonth(year: u32, month: u32): u32 {
  if (month < 1 || month > 12) return 0;
  if (month != 2) return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
}

/** Days since 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date algorithms"). */
function daysFromCivil(year: u32, month: u32, day: u32): u32 {
  const y = month <= 2 ? year - 1 : year;
  const era = y / 400;
  const yearOfEra = y - era * 400;
  const dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
