/**
 * Reads the envelope of a record in place: type, id, parent, time, and the role or customType. A
 * line is trusted only if it has exactly a form that agents write, and nothing in it hints at two
 * records run together. Head form: these open the line. Tail form: the payload comes first, id and
 * parent close the line (custom records, and lines of version 1 that were migrated).
 */
import { kindNumber, plain, withCustomType, withRole } from "./kinds";
import {
  endsWithObject,
  exact,
  flat,
  hasPayload,
  plainResult,
  root,
  setEnvelope,
  setRoleEnd,
  setSpans,
  tailForm,
  trusted,
  words,
} from "./rows";
import { ascii, closingQuote, countText, isAt, openingQuote, textBefore } from "./text";
import { exactTime, hexWord, isHexWord } from "./values";

/** No place. */
const none: usize = 0;
const comma: u8 = 0x2c;
const quote: u8 = 0x22;
const closingBrace: u8 = 0x7d;
const closingBracket: u8 = 0x5d;

const typeText = ascii('{"type":"');
const idText = ascii(',"id":"');
const idKey = ascii(',"id":');
const parentIdText = ascii(',"parentId":');
const nullText = ascii("null");
const timestampText = ascii(',"timestamp":"');
const timestampKey = ascii(',"timestamp":');
const customTypeText = ascii(',"customType":"');
const roleText = ascii(',"message":{"role":"');
const succeededText = ascii(',"isError":false');
const failedText = ascii(',"isError":true');
const dataText = ascii(',"data":');
const contentText = ascii(',"content":');
const customTypeKey = ascii('"customType":');
const dataKey = ascii('"data":');
const contentKey = ascii('"content":');
const messageKey = ascii('"message":');
const detailsKey = ascii('"details":');
const attributionKey = ascii('"attribution":');
const typeKey = ascii('type"');
const ownIdKey = ascii('id":');
const timeKey = ascii('timestamp"');
const messageType = ascii("message");
const customType = ascii("custom");
const customMessageType = ascii("custom_message");

// Only these types have keys of their own in the envelope.
const OTHER = 0;
const MESSAGE = 1;
const CUSTOM = 2;
const CUSTOM_MESSAGE = 3;

// The parts of the line read last.
let type: i32 = 0;
let typeStart: usize = 0;
let typeEnd: usize = 0;
/** Role or customType. */
let otherStart: usize = 0;
let otherEnd: usize = 0;
let idStart: usize = 0;
let idEnd: usize = 0;
/** 0: null. */
let parentStart: usize = 0;
let parentEnd: usize = 0;
let timeStart: usize = 0;
let timeEnd: usize = 0;

/** Whether only the two ends of the line are in memory, and how often keys occur in all of it. */
let isCut: bool = false;
let customTypesCut: i32 = 0;
let datasCut: i32 = 0;
let contentsCut: i32 = 0;
let messagesCut: i32 = 0;

/**
 * Reads a line too long to be in memory, `parentId` once in it and no NUL: its beginning, a newline,
 * and its end up to `last`, the place after its brace. The counts are of the whole line.
 */
export function readCut(
  start: usize,
  tail: usize,
  last: usize,
  customTypes: i32,
  datas: i32,
  contents: i32,
  messages: i32,
): void {
  isCut = true;
  customTypesCut = customTypes;
  datasCut = datas;
  contentsCut = contents;
  messagesCut = messages;
  readRecord(start, tail, last);
  isCut = false;
}

/**
 * Reads the line added last, `[start, last)`, which ends in a brace, has `"parentId":` once and no
 * NUL. `tail`: what is behind it is read backward; the start, unless the line is cut.
 */
export function readRecord(start: usize, tail: usize, last: usize): void {
  let flags = trusted;
  if (load<u8>(last - 2) == closingBrace) flags |= endsWithObject;
  const idAt = readOpening(start);
  if (typeEnd == 0) return;
  const isMessage = type == MESSAGE;
  if (idAt != 0) {
    const after = readHead(idAt, last);
    if (after == 0 || (isMessage && (flags & endsWithObject) == 0)) return;
    if (isMessage && endsBehindContent(last)) flags |= plainResult;
    if (type == OTHER && isFlatRest(after, last)) flags |= flat;
  } else {
    const payload = readTail(start, tail, last);
    if (payload < 0) return;
    flags |= payload == 0 ? tailForm : tailForm | hasPayload;
  }
  // An empty parentId ends pi's walk as null does. No agent writes it.
  if (parentStart == 0) flags |= root;
  else if (parentStart == parentEnd) return;
  const form = type == OTHER ? plain : type == MESSAGE ? withRole : withCustomType;
  const otherBytes = form == plain ? 0 : u32(otherEnd - otherStart);
  const kind = kindNumber(form, typeStart, u32(typeEnd - typeStart), otherStart, otherBytes);
  if (kind < 0) return;
  const time: f64 = timeEnd - timeStart == 24 ? exactTime(timeStart) : -1;
  if (time >= 0) flags |= exact;
  const hasParentWord = parentStart == 0 || isWord(parentStart, parentEnd);
  const hasWords = hasParentWord && isWord(idStart, idEnd);
  if (hasWords) flags |= words;
  if (!hasWords || time < 0) {
    setSpans(idStart, idEnd, parentStart, parentEnd, timeStart, timeEnd);
  }
  const parent = hasWords && parentStart != 0 ? hexWord(parentStart) : 0;
  setRoleEnd(isMessage && idAt != 0 ? otherEnd : none);
  setEnvelope(flags, kind, hasWords ? hexWord(idStart) : 0, parent, time);
}

/** Whether only `isError` and a time of today's length are behind a list in the last object. */
function endsBehindContent(last: usize): bool {
  // Two braces, and 13 digits.
  const digits = last - 15;
  const key = digits - 13;
  // Of true and false.
  if (load<u8>(key - 1) != 0x65 || !isAt(key, timestampKey, 13)) return false;
  for (let at = digits; at < last - 2; at += 1) if (load<u8>(at) - 0x30 > 9) return false;
  const end = isAt(key - 16, succeededText, 16)
    ? key - 16
    : isAt(key - 15, failedText, 15)
      ? key - 15
      : none;
  return end != 0 && load<u8>(end - 1) == closingBracket;
}

function isWord(start: usize, end: usize): bool {
  return end - start == 8 && isHexWord(start);
}

/** Reads the type that opens the record. Where the value of the id begins in the head form, else 0. */
function readOpening(start: usize): usize {
  typeStart = start + 9;
  typeEnd = isAt(start, typeText, 9) ? closingQuote(typeStart) : none;
  if (typeEnd == 0) return 0;
  const length = typeEnd - typeStart;
  if (length == 7 && isAt(typeStart, messageType, 7)) type = MESSAGE;
  else if (length == 6 && isAt(typeStart, customType, 6)) type = CUSTOM;
  else if (length == 14 && isAt(typeStart, customMessageType, 14)) type = CUSTOM_MESSAGE;
  else type = OTHER;
  return isAt(typeEnd + 1, idText, 7) ? typeEnd + 8 : none;
}

/** Reads the envelope from the value of the id on. The place after it, or 0. */
function readHead(at: usize, last: usize): usize {
  idStart = at;
  idEnd = closingQuote(at);
  const afterParent = idEnd == 0 ? none : readParent(idEnd + 1);
  const afterTime = afterParent == 0 ? none : readTime(afterParent);
  const next = afterTime == 0 ? none : readOther(afterTime);
  if (next == 0) return 0;
  const isEnd = load<u8>(next) == closingBrace && (type == MESSAGE || next + 1 == last);
  return isEnd || load<u8>(next) == comma ? next : none;
}

function readParent(at: usize): usize {
  if (!isAt(at, parentIdText, 12)) return none;
  const value = at + 12;
  if (load<u8>(value) != quote) {
    parentStart = 0;
    return isAt(value, nullText, 4) ? value + 4 : none;
  }
  parentStart = value + 1;
  parentEnd = closingQuote(parentStart);
  return parentEnd == 0 ? none : parentEnd + 1;
}

function readTime(at: usize): usize {
  if (!isAt(at, timestampText, 14)) return 0;
  timeStart = at + 14;
  timeEnd = closingQuote(timeStart);
  return timeEnd == 0 ? none : timeEnd + 1;
}

/** Reads the role of a message or the customType of a custom record; nothing of others. */
function readOther(at: usize): usize {
  if (type == OTHER) return at;
  if (!(type == MESSAGE ? isAt(at, roleText, 20) : isAt(at, customTypeText, 15))) return 0;
  otherStart = at + (type == MESSAGE ? 20 : 15);
  otherEnd = closingQuote(otherStart);
  return otherEnd == 0 ? none : otherEnd + 1;
}

/**
 * Whether what follows in a record of the head form is nothing, or members that are plain strings,
 * none of them a second part of the envelope.
 */
function isFlatRest(at: usize, last: usize): bool {
  let next = at;
  while (load<u8>(next) == comma && load<u8>(next + 1) == quote) {
    const key = next + 2;
    const keyEnd = closingQuote(key);
    if (keyEnd == 0 || load<u8>(keyEnd + 1) != 0x3a || load<u8>(keyEnd + 2) != quote) return false;
    if (isAt(key, typeKey, 5) || isAt(key, ownIdKey, 4) || isAt(key, timeKey, 10)) return false;
    const value = closingQuote(keyEnd + 3);
    if (value == 0) return false;
    next = value + 1;
  }
  return next + 1 == last;
}

/** Reads the tail form: 1 if it has a payload, 0 if it has none, -1 if the record has another form. */
function readTail(start: usize, tail: usize, last: usize): i32 {
  const isCustom = type == CUSTOM || type == CUSTOM_MESSAGE;
  const afterTime = isCustom ? typeEnd + 1 : readTime(typeEnd + 1);
  const next = afterTime == 0 ? none : readOther(afterTime);
  if (next == 0) return -1;
  const floor = isCut ? tail : next;
  const end = readTailBackward(isCustom, floor, last);
  if (end == 0) return -1;
  if (type == MESSAGE) {
    const isWhole = load<u8>(end - 1) == closingBrace;
    return isWhole && occursOnce(messageKey, 10, messagesCut, start, last) ? 1 : -1;
  }
  if (!isCut && end == next) return 0;
  if (!isCustom || !isTrailingValue(end, floor)) return -1;
  // A torn record and a complete one, run together, have two of these keys.
  if (!occursOnce(customTypeKey, 13, customTypesCut, start, last)) return -1;
  if (type == CUSTOM) {
    return isAt(next, dataText, 8) && occursOnce(dataKey, 7, datasCut, start, last) ? 1 : -1;
  }
  return isAt(next, contentText, 11) && occursOnce(contentKey, 10, contentsCut, start, last)
    ? 1
    : -1;
}

function occursOnce(key: usize, bytes: i32, given: i32, start: usize, last: usize): bool {
  return (isCut ? given : countText(start, last, key, bytes)) == 1;
}

/** Reads time, parent and id from the end of the record. Where `,"id":` begins, or 0. */
function readTailBackward(hasTime: bool, floor: usize, last: usize): usize {
  let end = last - 1;
  if (hasTime) {
    const open = openingQuote(end, floor);
    if (open == 0) return 0;
    timeStart = open + 1;
    timeEnd = end - 1;
    end = textBefore(open, floor, timestampKey, 13);
    if (end == 0) return 0;
  }
  end = readParentBackward(end, floor);
  const open = end == 0 ? none : openingQuote(end, floor);
  if (open == 0) return 0;
  idStart = open + 1;
  idEnd = end - 1;
  return textBefore(open, floor, idKey, 6);
}

function readParentBackward(end: usize, floor: usize): usize {
  if (end <= floor) return 0;
  if (load<u8>(end - 1) != quote) {
    parentStart = 0;
    const start = textBefore(end, floor, nullText, 4);
    return start == 0 ? none : textBefore(start, floor, parentIdText, 12);
  }
  const open = openingQuote(end, floor);
  if (open == 0) return 0;
  parentStart = open + 1;
  parentEnd = end - 1;
  return textBefore(open, floor, parentIdText, 12);
}

/**
 * Whether the bytes before the tail can be the last value of a custom record. After a torn custom
 * record, a complete record without payload would end in the same way, its type or customType being
 * that value; so a string there must be plain and belong to a key that such a record ends in.
 */
function isTrailingValue(end: usize, floor: usize): bool {
  if (end > floor && load<u8>(end - 1) != quote) return true;
  const open = openingQuote(end, floor);
  if (open == 0) return false;
  return (
    textBefore(open, floor, dataKey, 7) != 0 ||
    textBefore(open, floor, contentKey, 10) != 0 ||
    textBefore(open, floor, detailsKey, 10) != 0 ||
    textBefore(open, floor, attributionKey, 14) != 0
  );
}
