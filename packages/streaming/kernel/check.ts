/**
 * Whether a line is a JSON object, by the grammar: what is accepted here is what `JSON.parse`
 * accepts, and what is not has to be parsed, as a line with a byte-order mark, or nested too deep.
 */
import { CHECK } from "./memory";
import { endOf, startOf } from "./rows";
import { ascii, isAt } from "./text";

const quote: u8 = 0x22;
const backslash: u8 = 0x5c;
const openingBrace: u8 = 0x7b;
const closingBrace: u8 = 0x7d;
const openingBracket: u8 = 0x5b;
const closingBracket: u8 = 0x5d;
const zero: u8 = 0x30;

const trueText = ascii("true");
const falseText = ascii("false");
const nullText = ascii("null");
const divergedText = ascii("branchlog.diverged");

/** It is a JSON object. */
const isRecord: u32 = 1;
/** All of it is ASCII. */
const isAscii: u32 = 2;
/** It may be the first entry of an unintended branch. */
const mayDiverge: u32 = 4;
/** Its last `id` is a string in ASCII without escapes. */
const hasPlainId: u32 = 8;
/** It has an `id` of another kind. */
const hasOtherId: u32 = 16;

const ID_START: usize = CHECK;
const ID_END: usize = CHECK + 4;
/** Of each open object or array, the byte that closes it. */
const CLOSINGS: usize = CHECK + 8;
const depthMax: usize = 1024;

/** Bytes from 0x80 on that were met in strings. */
let highBits: i32 = 0;
/** Whether the string read last has an escape. */
let hasEscape: bool = false;

/** The flags of the row, or 0: it has to be parsed. */
export function checkRecord(row: i32): u32 {
  highBits = 0;
  let flags = isRecord;
  let depth: usize = 0;
  let at = skipSpace(startOf(row));
  if (load<u8>(at) != openingBrace) return 0;
  while (true) {
    // At the beginning of a value.
    const byte = load<u8>(at);
    if (byte == openingBrace || byte == openingBracket) {
      if (depth == depthMax) return 0;
      // Two further: braces and brackets alike.
      const closing = byte + 2;
      store<u8>(CLOSINGS + depth, closing);
      depth += 1;
      at = skipSpace(at + 1);
      if (load<u8>(at) != closing) {
        if (byte == openingBracket) continue;
        at = readKey(at);
        if (at == 0) return 0;
        if (depth == 1) flags = flagsOfMember(flags, at);
        if (flags == 0) return 0;
        continue;
      }
    } else {
      at = byte == quote ? stringEnd(at + 1) : scalarEnd(at, byte);
      if (at == 0) return 0;
      if (byte == quote) at += 1;
    }
    // Behind a value, or at the end of an empty one.
    while (true) {
      at = skipSpace(at);
      const end = load<u8>(at);
      const closing = load<u8>(CLOSINGS + depth - 1);
      if (end == closing) {
        depth -= 1;
        at += 1;
        if (depth > 0) continue;
        if (skipSpace(at) != endOf(row)) return 0;
        return highBits == 0 ? flags | isAscii : flags;
      }
      if (end != 0x2c) return 0;
      at = skipSpace(at + 1);
      if (closing == closingBrace) {
        at = readKey(at);
        if (at == 0) return 0;
        if (depth == 1) flags = flagsOfMember(flags, at);
        if (flags == 0) return 0;
      }
      break;
    }
  }
}

let keyStart: usize = 0;
let keyEnd: usize = 0;

/** Where the value of the member begins whose key is at `at`, or 0. */
function readKey(at: usize): usize {
  if (load<u8>(at) != quote) return 0;
  keyStart = at + 1;
  keyEnd = stringEnd(keyStart);
  if (keyEnd == 0) return 0;
  const colon = skipSpace(keyEnd + 1);
  return load<u8>(colon) == 0x3a ? skipSpace(colon + 1) : 0;
}

/** With what the member of the record says whose value is at `value`; 0: its key has escapes. */
function flagsOfMember(flags: u32, value: usize): u32 {
  if (hasEscape) return 0;
  const length = keyEnd - keyStart;
  if (length == 18 && isAt(keyStart, divergedText, 18)) return flags | mayDiverge;
  if (length != 2 || load<u16>(keyStart) != 0x6469) return flags;
  const others = flags & ~(hasPlainId | hasOtherId);
  if (load<u8>(value) != quote) return others | hasOtherId;
  const before = highBits;
  highBits = 0;
  const end = stringEnd(value + 1);
  const isPlain = end != 0 && !hasEscape && highBits == 0;
  highBits |= before;
  store<u32>(ID_START, u32(value + 1));
  store<u32>(ID_END, u32(end));
  return others | (isPlain ? hasPlainId : hasOtherId);
}

function skipSpace(place: usize): usize {
  let at = place;
  while (isSpace(load<u8>(at))) at += 1;
  return at;
}

/** No newline: it ends the line. */
function isSpace(byte: u8): bool {
  return byte == 0x20 || byte == 0x09 || byte == 0x0d;
}

/** The closing quote of the string whose first character is at `place`; 0: it has none. */
function stringEnd(place: usize): usize {
  hasEscape = false;
  let at = place;
  while (true) {
    const bytes = v128.load(at);
    const ends = v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c))),
      i8x16.lt_u(bytes, i8x16.splat(0x20)),
    );
    const bits = i8x16.bitmask(ends);
    const high = i8x16.bitmask(bytes);
    if (bits == 0) {
      highBits |= high;
      at += 16;
      continue;
    }
    const found = ctz(bits);
    highBits |= high & ((1 << found) - 1);
    at += usize(found);
    const byte = load<u8>(at);
    if (byte == quote) return at;
    if (byte != backslash) return 0;
    hasEscape = true;
    at = escapeEnd(at + 1);
    if (at == 0) return 0;
  }
}

/** Behind the escape whose backslash is right before `at`, or 0. */
function escapeEnd(at: usize): usize {
  const byte = load<u8>(at);
  // A newline, a quote, a backslash: most of them.
  if (byte == 0x6e || byte == quote || byte == backslash) return at + 1;
  if (byte == 0x74 || byte == 0x72 || byte == 0x62 || byte == 0x66 || byte == 0x2f) return at + 1;
  if (byte != 0x75) return 0;
  for (let digit = at + 1; digit <= at + 4; digit += 1) if (!isHexDigit(load<u8>(digit))) return 0;
  return at + 5;
}

function isHexDigit(byte: u8): bool {
  return byte - zero < 10 || (byte | 0x20) - 0x61 < 6;
}

/** Behind a number, true, false or null, or 0. */
function scalarEnd(at: usize, byte: u8): usize {
  if (byte == 0x74) return isAt(at, trueText, 4) ? at + 4 : 0;
  if (byte == 0x66) return isAt(at, falseText, 5) ? at + 5 : 0;
  if (byte == 0x6e) return isAt(at, nullText, 4) ? at + 4 : 0;
  let next = byte == 0x2d ? at + 1 : at;
  if (load<u8>(next) == zero) next += 1;
  else {
    next = digitsEnd(next);
    if (next == 0) return 0;
  }
  if (load<u8>(next) == 0x2e) {
    next = digitsEnd(next + 1);
    if (next == 0) return 0;
  }
  if ((load<u8>(next) | 0x20) != 0x65) return next;
  const sign = load<u8>(next + 1);
  return digitsEnd(sign == 0x2b || sign == 0x2d ? next + 2 : next + 1);
}

/** Behind one digit or more, or 0. */
function digitsEnd(place: usize): usize {
  let at = place;
  while (load<u8>(at) - zero < 10) at += 1;
  return at == place ? 0 : at;
}
