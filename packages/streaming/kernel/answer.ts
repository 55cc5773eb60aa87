/**
 * Reads when an assistant answered, with which model and for how many tokens, from the end of its
 * line; and whether a line may have tokens at all. Only lines in pi's key order
 * have an answer: content right after the role, and provider, model, usage, stopReason and timestamp
 * as the last keys of the message, which is the last of the record. As with envelopes, keys that a
 * record has twice are not defended against.
 */
import { ANSWER } from "./memory";
import { lastOf, roleEndOf, startOf } from "./rows";
import { ascii, countText, isAt, isSame, openingQuote, textBefore } from "./text";

const contentText = ascii('","content":[');
const timestampText = ascii(',"timestamp":');
const stopReasonText = ascii(',"stopReason":"');
const usageText = ascii('"usage":{');
const usageKey = ascii('"usage":');
const modelText = ascii(',"model":');
const providerText = ascii(',"provider":');
const inputText = ascii('"input":');
const outputText = ascii(',"output":');
const cacheReadText = ascii(',"cacheRead":');
const cacheWriteText = ascii(',"cacheWrite":');
const costText = ascii(',"cost":');
const totalText = ascii('"total":');

/** No place. */
const none: usize = 0;
const zero: u8 = 0x30;
const quote: u8 = 0x22;
const comma: u8 = 0x2c;
const point: u8 = 0x2e;
const closingBrace: u8 = 0x7d;
/** More digits might not be exact as a number. */
const digitsMax: usize = 15;
/** Longer usages are left to the parser. */
const usageBytesMax: usize = 1024;

// The answer read last: time and counts as numbers, then where its texts are.
const TIME: usize = ANSWER;
const INPUT: usize = ANSWER + 8;
const OUTPUT: usize = ANSWER + 16;
const CACHE_READ: usize = ANSWER + 24;
const CACHE_WRITE: usize = ANSWER + 32;
/** -1: its digits are in the span. */
const COST: usize = ANSWER + 40;
const COST_START: usize = ANSWER + 48;
const COST_END: usize = ANSWER + 52;
const PROVIDER_START: usize = ANSWER + 56;
const PROVIDER_END: usize = ANSWER + 60;
const MODEL_START: usize = ANSWER + 64;
const MODEL_END: usize = ANSWER + 68;
/** Provider and model read last, as they are in their line. */
const KNOWN_BYTES: usize = ANSWER + 72;
const KNOWN: usize = ANSWER + 80;
const knownBytesMax: u32 = 256;

const unread: i32 = 0;
const sameModel: i32 = 1;
const otherModel: i32 = 2;

/**
 * Reads the answer of a trusted row that ends in two braces. 0: it has to be parsed; 1: of the model
 * of the answer read before; 2: of another one.
 */
export function readAnswer(row: i32): i32 {
  const role = roleEndOf(row);
  if (role == 0 || !isAt(role, contentText, 13)) return unread;
  const key = readTimestamp(role, lastOf(row) - 2);
  const reason = key == 0 ? none : reasonBefore(key, role);
  if (reason == 0 || load<u8>(reason - 1) != closingBrace) return unread;
  const usage = usageBefore(reason, role);
  if (usage == 0 || load<u8>(usage - 1) != comma || !readUsage(usage + 9, reason - 1))
    return unread;
  return readModel(usage - 1, role);
}

/** Whether a row has the key of what something spent, whose line is there as a whole. */
export function mayHaveSpent(row: i32): bool {
  return countText(startOf(row), lastOf(row), usageKey, 8) > 0;
}

/** Reads the time that ends the message, before its brace at `end`. Where its key begins, or 0. */
function readTimestamp(floor: usize, end: usize): usize {
  let first = end;
  while (load<u8>(first - 1) - zero < 10) first -= 1;
  if (first == end || end - first > digitsMax || load<u8>(first) == zero) return 0;
  store<f64>(TIME, f64(wholeNumber(first, end)));
  return textBefore(first, floor, timestampText, 13);
}

/** Of at most 19 digits. */
function wholeNumber(start: usize, end: usize): u64 {
  let number: u64 = 0;
  for (let at = start; at < end; at += 1) number = number * 10 + u64(load<u8>(at) - zero);
  return number;
}

function reasonBefore(end: usize, floor: usize): usize {
  if (load<u8>(end - 1) != quote) return 0;
  let first = end - 1;
  while (isLetter(load<u8>(first - 1))) first -= 1;
  return textBefore(first, floor, stopReasonText, 15);
}

function isLetter(byte: u8): bool {
  return (byte | 0x20) - 0x61 < 26;
}

/** The last `"usage":{` before `end`; 0 if it is too far away. */
function usageBefore(end: usize, floor: usize): usize {
  const q = i8x16.splat(0x22);
  const u = i8x16.splat(0x75);
  for (let at = end - 16; at >= floor && end - at <= usageBytesMax; at -= 16) {
    const pairs = v128.and(i8x16.eq(v128.load(at), q), i8x16.eq(v128.load(at, 1), u));
    for (let bits = i8x16.bitmask(pairs); bits != 0; bits ^= 1 << (31 - clz(bits))) {
      const place = at + usize(31 - clz(bits));
      if (isAt(place, usageText, 9)) return place;
    }
  }
  return 0;
}

/**
 * Reads a usage up to its brace at `end`: the four counts first, the cost last, its total the last
 * member there. Nothing else in it has a brace.
 */
function readUsage(start: usize, end: usize): bool {
  const input = readCount(start, inputText, 8, INPUT);
  const output = input == 0 ? none : readCount(input, outputText, 10, OUTPUT);
  const read = output == 0 ? none : readCount(output, cacheReadText, 13, CACHE_READ);
  const written = read == 0 ? none : readCount(read, cacheWriteText, 14, CACHE_WRITE);
  if (written == 0) return false;
  const cost = nextBrace(written);
  if (textBefore(cost, written, costText, 8) == 0) return false;
  return nextBrace(cost + 1) == end - 1 && readDollars(cost, end - 1);
}

/** Stores the whole number behind the key. The place after it, or 0. */
function readCount(place: usize, key: usize, keyBytes: i32, target: usize): usize {
  if (!isAt(place, key, keyBytes)) return 0;
  const start = place + usize(keyBytes);
  let at = start;
  while (load<u8>(at) - zero < 10) at += 1;
  const digits = at - start;
  if (digits == 0 || digits > digitsMax || (digits > 1 && load<u8>(start) == zero)) return 0;
  store<f64>(target, f64(wholeNumber(start, at)));
  return load<u8>(at) == comma ? at : none;
}

/** The first brace from `place` on; every line has one at its end. */
function nextBrace(place: usize): usize {
  let at = place;
  let bits = bracesAt(at);
  while (bits == 0) {
    at += 16;
    bits = bracesAt(at);
  }
  return at + usize(ctz(bits));
}

function bracesAt(place: usize): i32 {
  const bytes = v128.load(place);
  const opening = i8x16.eq(bytes, i8x16.splat(0x7b));
  return i8x16.bitmask(v128.or(opening, i8x16.eq(bytes, i8x16.splat(0x7d))));
}

/** Stores the total that ends the cost, or where its digits are; false if it is none. */
function readDollars(floor: usize, end: usize): bool {
  let start = end;
  while (isOfNumber(load<u8>(start - 1))) start -= 1;
  if (textBefore(start, floor, totalText, 8) == 0) return false;
  let digits: u64 = 0;
  let scale: u64 = 1;
  let hasPoint = false;
  let isPlain = end - start < 2 || load<u8>(start) != zero || load<u8>(start + 1) == point;
  for (let at = start; at < end; at += 1) {
    const byte = load<u8>(at);
    if (byte - zero < 10) {
      digits = digits * 10 + u64(byte - zero);
      if (hasPoint) scale *= 10;
    } else {
      isPlain = isPlain && byte == point && !hasPoint && at != start && at + 1 != end;
      hasPoint = true;
    }
  }
  // Longer ones overflow, and larger integers than 2 ** 53 are not exact as numbers.
  const isExact = isPlain && end - start < 20 && digits < u64(1) << 53;
  store<f64>(COST, isExact ? f64(digits) / f64(scale) : -1);
  store<u32>(COST_START, u32(start));
  store<u32>(COST_END, u32(end));
  return start != end;
}

function isOfNumber(byte: u8): bool {
  const isSign = byte == point || byte == 0x2b || byte == 0x2d;
  return byte - zero < 10 || isSign || (byte | 0x20) == 0x65;
}

/** Reads the two plain strings that end at `end`, and compares them with those read before. */
function readModel(end: usize, floor: usize): i32 {
  const knownBytes = load<u32>(KNOWN_BYTES);
  const known = end - usize(knownBytes);
  if (known > floor && isSame(KNOWN, known, knownBytes)) {
    if (textBefore(known, floor, providerText, 12) != 0) return sameModel;
  }
  const model = openingQuote(end, floor);
  const key = model == 0 ? none : textBefore(model, floor, modelText, 9);
  const provider = key == 0 ? none : openingQuote(key, floor);
  if (provider == 0 || textBefore(provider, floor, providerText, 12) == 0) return unread;
  store<u32>(PROVIDER_START, u32(provider + 1));
  store<u32>(PROVIDER_END, u32(key - 1));
  store<u32>(MODEL_START, u32(model + 1));
  store<u32>(MODEL_END, u32(end - 1));
  const bytes = u32(end - provider);
  store<u32>(KNOWN_BYTES, bytes <= knownBytesMax ? bytes : 0);
  if (bytes <= knownBytesMax) memory.copy(KNOWN, provider, usize(bytes));
  return otherModel;
}
