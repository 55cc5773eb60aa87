/**
 * The kinds of records met so far, numbered by their type and their role or customType. The host
 * reads new ones from the table, and clears it when it is full.
 */
import { KINDS } from "./memory";
import { isSame } from "./text";

/** What a record has besides its type. */
export const plain: u32 = 0;
export const withRole: u32 = 1;
export const withCustomType: u32 = 2;

const kindsMax: u32 = 256;
const kindBytes: usize = 256;
const textsAt: usize = 16;
const textBytesMax: u32 = 224;
/** By a hash, the number of a kind and 1 more; more of them than kinds, so that chains are short. */
const BUCKETS: usize = KINDS + kindBytes * usize(kindsMax);
const bucketsMax: u32 = 1024;

let count: u32 = 0;

export function kindCount(): u32 {
  return count;
}

export function clearKinds(): void {
  count = 0;
  memory.fill(BUCKETS, 0, 4 * usize(bucketsMax));
}

/**
 * The number of the kind with these texts; -1 if there is no room for it. A kind is stored as its
 * form, the lengths of both texts, and the texts from byte 16 on.
 */
export function kindNumber(
  form: u32,
  type: usize,
  typeBytes: u32,
  other: usize,
  otherBytes: u32,
): i32 {
  const hash = (endOf(type, typeBytes) ^ (endOf(other, otherBytes) << 1)) * 0x9e3779b97f4a7c15;
  for (let bucket = u32(hash >> 54); ; bucket = (bucket + 1) & (bucketsMax - 1)) {
    const known = load<u32>(BUCKETS + (usize(bucket) << 2));
    if (known == 0) break;
    const kind = KINDS + usize(known - 1) * kindBytes;
    if (
      load<u32>(kind) == form &&
      load<u32>(kind + 4) == typeBytes &&
      load<u32>(kind + 8) == otherBytes &&
      isSame(kind + textsAt, type, typeBytes) &&
      isSame(kind + textsAt + typeBytes, other, otherBytes)
    ) {
      return known - 1;
    }
  }
  return addKind(u32(hash >> 54), form, type, typeBytes, other, otherBytes);
}

/** The last eight bytes of a text, or all of a shorter one. */
function endOf(text: usize, bytes: u32): u64 {
  if (bytes >= 8) return load<u64>(text + bytes - 8);
  return bytes == 0 ? 0 : load<u64>(text) & ((u64(1) << (8 * u64(bytes))) - 1);
}

function addKind(
  hash: u32,
  form: u32,
  type: usize,
  typeBytes: u32,
  other: usize,
  otherBytes: u32,
): i32 {
  if (count == kindsMax || typeBytes > textBytesMax || otherBytes > textBytesMax - typeBytes) {
    return -1;
  }
  let bucket = hash;
  while (load<u32>(BUCKETS + (usize(bucket) << 2)) != 0) bucket = (bucket + 1) & (bucketsMax - 1);
  const kind = KINDS + usize(count) * kindBytes;
  store<u32>(kind, form);
  store<u32>(kind + 4, typeBytes);
  store<u32>(kind + 8, otherBytes);
  memory.copy(kind + textsAt, type, typeBytes);
  memory.copy(kind + textsAt + typeBytes, other, otherBytes);
  count += 1;
  store<u32>(BUCKETS + (usize(bucket) << 2), count);
  return count - 1;
}
