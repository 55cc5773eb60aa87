/**
 * Reads when an assistant answered from the end of its line. Only lines in pi's key order have an
 * answer: content right after the role, and stopReason and timestamp as the last keys of the
 * message, which is the last of the record. As with envelopes, keys that a record has twice are not
 * defended against.
 */
import { endOfRole } from "./record";
import { ascii, isAt, textBefore } from "./text";

const contentText = ascii('","content":[');
const timestampText = ascii(',"timestamp":');
const stopReasonText = ascii('"stopReason":"');

const zero: u8 = 0x30;
const quote: u8 = 0x22;
/** More digits might not be exact as a number. */
const digitsMax: usize = 15;

/** Epoch milliseconds, of a message of the head form that ends in two braces before `last`; else -1. */
export function answerTime(start: usize, last: usize): f64 {
  const role = endOfRole(start, last);
  if (role == 0 || !isAt(role, contentText, 13)) return -1;
  const end = last - 2;
  let first = end;
  while (load<u8>(first - 1) - zero < 10) first -= 1;
  if (first == end || end - first > digitsMax || load<u8>(first) == zero) return -1;
  const key = textBefore(first, role, timestampText, 13);
  if (key == 0 || !isReasonBefore(key, role)) return -1;
  let time: f64 = 0;
  for (let at = first; at < end; at += 1) time = time * 10 + f64(load<u8>(at) - zero);
  return time;
}

function isReasonBefore(end: usize, floor: usize): bool {
  if (load<u8>(end - 1) != quote) return false;
  let first = end - 1;
  while (isLetter(load<u8>(first - 1))) first -= 1;
  return textBefore(first, floor, stopReasonText, 14) != 0;
}

function isLetter(byte: u8): bool {
  return (byte | 0x20) - 0x61 < 26;
}
