/**
 * One pass over lines of JSON: finds newlines, NULs and `"parentId":` together, 64 bytes at a time,
 * and makes a row of each line. It keeps nothing from one scan to the next but the kinds of records
 * that it has seen, so any number of files can be scanned by turns.
 */
import { ANSWER, CHECK, WINDOW, WINDOW_BYTES, KINDS, ROWS } from "./memory";
import { readCut, readRecord } from "./record";
import { addLine, clearRows, isFull, rowsMax } from "./rows";

export { mayHaveSpent, readAnswer } from "./answer";
export { checkRecord } from "./check";
export { clearKinds, kindCount } from "./kinds";
export { rowCount } from "./rows";
export { ANSWER, CHECK, WINDOW, WINDOW_BYTES, KINDS, ROWS, rowsMax };

const carriageReturn: u8 = 0x0d;
const closingBrace: u8 = 0x7d;
/** `"parentI` and `Id":`, little endian. They meet in the rarest pair of letters of the key. */
const parentI: u64 = 0x49746e6572617022;
const idEnd: u32 = 0x3a226449;

/**
 * Makes rows of the lines in `[from, to)`, up to the last newline or until there is no room for
 * another row. Returns where the next scan begins.
 */
export function scan(from: usize, to: usize): usize {
  clearRows();
  const newline = i8x16.splat(10);
  const nul = i8x16.splat(0);
  const t = i8x16.splat(0x74);
  const i = i8x16.splat(0x49);
  let lineStart = from;
  let parentIds = 0;
  let hasNul = false;
  for (let block = from; block < to; block += 64) {
    let events: u64 = 0;
    for (let part: usize = 0; part < 64; part += 16) {
      const bytes = v128.load(block + part);
      const pairs = v128.and(i8x16.eq(bytes, t), i8x16.eq(v128.load(block + part, 1), i));
      const ends = v128.or(i8x16.eq(bytes, newline), i8x16.eq(bytes, nul));
      events |= u64(u32(i8x16.bitmask(v128.or(pairs, ends)))) << u64(part);
    }
    if (to - block < 64) events &= (u64(1) << u64(to - block)) - 1;
    for (; events != 0; events &= events - 1) {
      const at = block + usize(ctz(events));
      const byte = load<u8>(at);
      if (byte == 0) hasNul = true;
      else if (byte != 10) {
        if (load<u64>(at - 6) == parentI && load<u32>(at + 1) == idEnd) parentIds += 1;
      } else {
        addLine(lineStart, at);
        if (parentIds == 1 && !hasNul) {
          const last = load<u8>(at - 1) == carriageReturn ? at - 1 : at;
          if (load<u8>(last - 1) == closingBrace) readRecord(lineStart, lineStart, last);
        }
        lineStart = at + 1;
        if (isFull()) return lineStart;
        parentIds = 0;
        hasNul = false;
      }
    }
  }
  return lineStart;
}

/** Makes a row of a line that is too long for the window; see {@link readCut}. */
export function scanCut(
  start: usize,
  tail: usize,
  end: usize,
  customTypes: i32,
  datas: i32,
  contents: i32,
  messages: i32,
): void {
  clearRows();
  addLine(start, end);
  const last = load<u8>(end - 1) == carriageReturn ? end - 1 : end;
  if (last > tail && load<u8>(last - 1) == closingBrace) {
    readCut(start, tail, last, customTypes, datas, contents, messages);
  }
}
