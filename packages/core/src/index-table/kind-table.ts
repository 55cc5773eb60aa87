/**
 * Interns what an entry is: its type with a message's role or an extension's customType. One small
 * number per row then answers "which rows are label entries", "which are state of extension X",
 * without a parse. The number of kinds is the number of distinct combinations in the log.
 */

/** What the index knows of an entry without reading its body. */
export interface Kind {
  readonly type: string;
  /** Of `message` entries; of a `model_change` of omp the role that the model has from then on. */
  readonly role: string | undefined;
  /** Of `custom` and `custom_message` entries. */
  readonly customType: string | undefined;
}

/** Where the parts of a kind are in a line; a start of -1 means absent. */
export interface KindSpans {
  readonly headBytes: Uint8Array;
  readonly typeStart: number;
  readonly typeEnd: number;
  readonly roleStart: number;
  readonly roleEnd: number;
  /** If not -1: the number of the role of this message, so that its bytes need not be read. */
  readonly usualRole: number;
  readonly customTypeStart: number;
  readonly customTypeEnd: number;
}

interface StoredKind extends Kind {
  /** The parts as ASCII bytes, to compare with a line's; null if a part is not ASCII. */
  readonly bytes: {
    readonly type: Buffer;
    readonly role: Buffer;
    readonly customType: Buffer;
  } | null;
}

const nothing = Buffer.alloc(0);

const recentKinds = 64;

/** See the file comment. Numbers count up from 0 and are never freed. */
export class KindTable {
  readonly #kinds: StoredKind[] = [];
  readonly #byText = new Map<string, number>();
  readonly #byHash = new Map<number, number[]>();
  /** The kind met last for spans of these lengths: nearly always the same one again. */
  readonly #recent = new Int32Array(recentKinds).fill(-1);
  readonly #ofUsualRole: number[] = [];

  /** All kinds met so far; the position is the kind's number. */
  get kinds(): readonly Kind[] {
    return this.#kinds;
  }

  /** The kind with that number. */
  at(kind: number): Kind {
    const found = this.#kinds[kind];
    if (found === undefined) throw new RangeError(`no kind ${kind}`);
    return found;
  }

  /** All kinds, in the order of their numbers, without what is kept to find them. */
  save(): readonly Kind[] {
    return this.#kinds.map(({ type, role, customType }) => ({ type, role, customType }));
  }

  /** The number of a kind given as text. */
  add(kind: Kind): number {
    const key = JSON.stringify([kind.type, kind.role ?? null, kind.customType ?? null]);
    const known = this.#byText.get(key);
    if (known !== undefined) return known;
    const number = this.#kinds.length;
    const stored = { ...kind, bytes: asciiParts(kind) };
    this.#kinds.push(stored);
    this.#byText.set(key, number);
    if (stored.bytes !== null) this.#remember(number, stored.bytes);
    return number;
  }

  /** The number of a kind given as spans of ASCII bytes; allocates only for a new kind. */
  addSpans(spans: KindSpans): number {
    const { usualRole } = spans;
    if (usualRole < 0) return this.#addRecent(spans);
    const known = this.#ofUsualRole[usualRole];
    if (known !== undefined) return known;
    const kind = this.#addRecent(spans);
    this.#ofUsualRole[usualRole] = kind;
    return kind;
  }

  #addRecent(spans: KindSpans): number {
    const place = lengthsOf(spans) & (recentKinds - 1);
    const recent = this.#recent[place] ?? -1;
    if (recent >= 0 && this.#matches(recent, spans)) return recent;
    const kind = this.#addHashed(spans);
    this.#recent[place] = kind;
    return kind;
  }

  #addHashed(spans: KindSpans): number {
    const { headBytes } = spans;
    let hash = hashedSpan(headBytes, spans.typeStart, spans.typeEnd, 0x811c9dc5);
    if (spans.roleStart >= 0) hash = hashedSpan(headBytes, spans.roleStart, spans.roleEnd, hash);
    if (spans.customTypeStart >= 0) {
      hash = hashedSpan(headBytes, spans.customTypeStart, spans.customTypeEnd, hash);
    }
    for (const number of this.#byHash.get(hash) ?? []) {
      if (this.#matches(number, spans)) return number;
    }
    return this.add({
      type: textOf(headBytes, spans.typeStart, spans.typeEnd) ?? "",
      role: textOf(headBytes, spans.roleStart, spans.roleEnd),
      customType: textOf(headBytes, spans.customTypeStart, spans.customTypeEnd),
    });
  }

  #remember(number: number, bytes: NonNullable<StoredKind["bytes"]>): void {
    const { role, customType } = this.at(number);
    let hash = hashedSpan(bytes.type, 0, bytes.type.length, 0x811c9dc5);
    if (role !== undefined) hash = hashedSpan(bytes.role, 0, bytes.role.length, hash);
    if (customType !== undefined) {
      hash = hashedSpan(bytes.customType, 0, bytes.customType.length, hash);
    }
    const others = this.#byHash.get(hash);
    if (others === undefined) this.#byHash.set(hash, [number]);
    else others.push(number);
  }

  #matches(number: number, spans: KindSpans): boolean {
    const stored = this.#kinds[number];
    if (stored === undefined || stored.bytes === null) return false;
    const { headBytes } = spans;
    return (
      (stored.role !== undefined) === spans.roleStart >= 0 &&
      (stored.customType !== undefined) === spans.customTypeStart >= 0 &&
      spanEquals(headBytes, spans.typeStart, spans.typeEnd, stored.bytes.type) &&
      (spans.roleStart < 0 ||
        spanEquals(headBytes, spans.roleStart, spans.roleEnd, stored.bytes.role)) &&
      (spans.customTypeStart < 0 ||
        spanEquals(headBytes, spans.customTypeStart, spans.customTypeEnd, stored.bytes.customType))
    );
  }
}

/** A number that differs for most kinds that occur together. */
function lengthsOf(spans: KindSpans): number {
  const role = spans.roleStart < 0 ? 0 : spans.roleEnd - spans.roleStart;
  const custom = spans.customTypeStart < 0 ? 0 : spans.customTypeEnd - spans.customTypeStart;
  return spans.typeEnd - spans.typeStart + role * 5 + custom * 11;
}

function asciiParts(kind: Kind): StoredKind["bytes"] {
  const parts = [kind.type, kind.role ?? "", kind.customType ?? ""];
  // oxlint-disable-next-line no-control-regex -- the range is exactly ASCII
  if (parts.some((part) => !/^[\x00-\x7f]*$/.test(part))) return null;
  const [type, role, customType] = parts.map((part) => Buffer.from(part, "latin1"));
  return { type: type ?? nothing, role: role ?? nothing, customType: customType ?? nothing };
}

/** FNV-1a, with a separator so that ("ab","c") and ("a","bc") differ. */
function hashedSpan(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return Math.imul(hash ^ 0x1f, 0x01000193) | 0;
}

function spanEquals(bytes: Uint8Array, start: number, end: number, other: Uint8Array): boolean {
  if (end - start !== other.length) return false;
  for (let i = 0; i < other.length; i += 1) if (bytes[start + i] !== other[i]) return false;
  return true;
}

function textOf(bytes: Uint8Array, start: number, end: number): string | undefined {
  return start < 0 ? undefined : Buffer.from(bytes.subarray(start, end)).toString("latin1");
}
