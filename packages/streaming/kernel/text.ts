/**
 * Fixed texts, and plain strings: JSON strings of printable ASCII without escapes, whose bytes are
 * their value. Nothing here knows where a line ends: every text and every plain string ends before
 * a newline, as neither contains one, and each scanned line ends in one.
 */
import { TEXTS } from "./memory";

let textsEnd: usize = TEXTS;

/** Puts an ASCII text into memory and returns its place. */
export function ascii(text: string): usize {
  const place = textsEnd;
  for (let i = 0; i < text.length; i += 1) store<u8>(place + i, u8(text.charCodeAt(i)));
  textsEnd += (usize(text.length) + 31) & ~15;
  return place;
}

/** Whether the text of `length` bytes, at least 4, is at `place`. */
export function isAt(place: usize, text: usize, length: i32): bool {
  let i: usize = 0;
  for (; i + 8 <= usize(length); i += 8) {
    if (load<u64>(place + i) != load<u64>(text + i)) return false;
  }
  if (i == usize(length)) return true;
  if (length < 8) {
    const last = usize(length) - 4;
    return load<u32>(place) == load<u32>(text) && load<u32>(place + last) == load<u32>(text + last);
  }
  const last = usize(length) - 8;
  return load<u64>(place + last) == load<u64>(text + last);
}

/** Whether two texts of some length are the same. */
export function isSame(one: usize, other: usize, bytes: u32): bool {
  const length = usize(bytes);
  let i: usize = 0;
  for (; i + 8 <= length; i += 8) {
    if (load<u64>(one + i) != load<u64>(other + i)) return false;
  }
  for (; i < length; i += 1) if (load<u8>(one + i) != load<u8>(other + i)) return false;
  return true;
}

/** The place of the text if it ends right before `end` and begins at or after `floor`; else 0. */
export function textBefore(end: usize, floor: usize, text: usize, length: i32): usize {
  const place = end - usize(length);
  return place >= floor && isAt(place, text, length) ? place : 0;
}

/** The closing quote of the plain string whose first character is at `place`; else 0. */
export function closingQuote(place: usize): usize {
  for (let at = place; ; at += 16) {
    const bytes = v128.load(at);
    // Signed: bytes from 0x80 on are below the space as well.
    const ends = v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c))),
      i8x16.lt_s(bytes, i8x16.splat(0x20)),
    );
    const bits = i8x16.bitmask(ends);
    if (bits == 0) continue;
    const found = at + usize(ctz(bits));
    return load<u8>(found) == 0x22 ? found : 0;
  }
}

/** The opening quote of the plain string whose closing quote is right before `end`; else 0. */
export function openingQuote(end: usize, floor: usize): usize {
  if (end <= floor || load<u8>(end - 1) != 0x22) return 0;
  for (let at = end - 2; at >= floor; at -= 1) {
    const byte = load<i8>(at);
    if (byte == 0x22) return at;
    if (byte == 0x5c || byte < 0x20) return 0;
  }
  return 0;
}

/** How often the text occurs in `[from, to)`, up to 2. */
export function countText(from: usize, to: usize, text: usize, length: i32): i32 {
  const second = i8x16.splat(load<i8>(text + 1));
  const third = i8x16.splat(load<i8>(text + 2));
  let count = 0;
  for (let at = from; at < to; at += 16) {
    const pairs = v128.and(i8x16.eq(v128.load(at, 1), second), i8x16.eq(v128.load(at, 2), third));
    for (let bits = i8x16.bitmask(pairs); bits != 0; bits &= bits - 1) {
      const place = at + usize(ctz(bits));
      if (place + usize(length) <= to && isAt(place, text, length)) count += 1;
      if (count == 2) return 2;
    }
  }
  return count;
}
