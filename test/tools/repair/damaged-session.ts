/**
 * Random sessions, damaged in every way that a repair has to cope with, and what of them is whole.
 */
import fc from "fast-check";

/** A damaged log and the records in it that are whole. */
export interface DamagedSession {
  readonly bytes: Buffer;
  /** Whole lines, without line ends, in file order. */
  readonly whole: readonly Buffer[];
  /** Those among them that may be taken for a part of the debris before them. */
  readonly doubtful: ReadonlySet<Buffer>;
  /** Where the pieces meet that it was put together of: a line across one is there by chance. */
  readonly seams: readonly number[];
  /** How fast-check shows it. */
  readonly [fc.toStringMethod]: () => string;
}

/** What becomes of a line. */
type Treatment =
  | { readonly kind: "whole" }
  | { readonly kind: "torn"; readonly at: number }
  | { readonly kind: "changed"; readonly at: number; readonly to: string };

const stamp = "2026-01-01T00:00:00.000Z";

/** The header of the sessions. */
const header = JSON.stringify({
  type: "session",
  version: 3,
  id: "01973400-0000-7000-8000-000000000002",
  timestamp: stamp,
  cwd: "/home/dev",
});

/** What an entry says; `parent` chooses among the entries before it. */
const saying = fc.record({
  parent: fc.nat(),
  kind: fc.constantFrom("message", "custom", "snapshot", "label"),
  text: fc.string({ unit: "binary", maxLength: 12 }),
});

/** The lines of a session: a random tree, with extensions that store whole entries in their own. */
const sessionLines = fc
  .tuple(fc.array(saying, { maxLength: 12 }), fc.nat())
  .map(([sayings, salt]) => {
    const lines = [header];
    for (const [i, { parent, kind, text }] of sayings.entries()) {
      const above = i === 0 || parent % 7 === 6 ? null : idOf(parent % i, salt);
      lines.push(entryLine(kind, { id: idOf(i, salt), parentId: above }, text, lines));
    }
    return lines;
  });

function idOf(i: number, salt: number): string {
  return ((i + 1) * 65_537 + (salt % 65_536)).toString(16).padStart(8, "0");
}

function entryLine(
  kind: string,
  links: { readonly id: string; readonly parentId: string | null },
  text: string,
  lines: readonly string[],
): string {
  const envelope = { ...links, timestamp: stamp };
  const content = [
    { type: "text", text },
    { type: "toolCall", id: "call", name: "x", arguments: { type: "message", id: text } },
  ];
  switch (kind) {
    case "message":
      return JSON.stringify({ type: kind, ...envelope, message: { role: "user", content } });
    case "label":
      return JSON.stringify({ type: kind, ...envelope, targetId: links.parentId, label: text });
    case "snapshot": {
      const foreign = {
        type: "message",
        id: `${links.id}x`,
        parentId: "elsewhere",
        timestamp: stamp,
      };
      const entries = [...lines.slice(-2).map((line): unknown => JSON.parse(line)), foreign];
      return JSON.stringify({ type: "custom", customType: "s", data: { entries }, ...envelope });
    }
    default:
      return JSON.stringify({ type: "custom", customType: "x", data: text, ...envelope });
  }
}

const anyTreatment = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Treatment>({ kind: "whole" }) },
  { weight: 1, arbitrary: fc.nat().map((at): Treatment => ({ kind: "torn", at })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.nat(), fc.constantFrom("\0", "\u0001", '"', "{", "x", "\\", "}"))
      .map(([at, to]): Treatment => ({ kind: "changed", at, to })),
  },
);

/** What is between a line and the next one. */
const joint = fc.oneof(
  { weight: 6, arbitrary: fc.constant("\n") },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "",
      "\r\n",
      "\n\n",
      "\n \n",
      "\0\0\0\n",
      "\0\0\0",
      "\n\0\0",
      "\nhello\n",
      "\n[1,2]\nnull\n",
      "\n\uFEFF",
      "oops",
    ),
  },
);

/** A session in which lines, and what is between them, are damaged at random. */
export const damagedSession: fc.Arbitrary<DamagedSession> = sessionLines.chain((lines) =>
  fc
    .tuple(
      fc.tuple(...lines.map(() => anyTreatment)),
      fc.tuple(...lines.map(() => joint)),
      fc.boolean(),
    )
    .map(([treatments, joints, isWholeSession]) =>
      isWholeSession ? sound(lines) : damaged(lines, treatments, joints),
    ),
);

/** A session without damage. */
export const soundSession: fc.Arbitrary<DamagedSession> = sessionLines.map(sound);

function session(
  pieces: readonly Buffer[],
  whole: readonly Buffer[],
  doubtful: ReadonlySet<Buffer>,
): DamagedSession {
  const bytes = Buffer.concat(pieces);
  const shown = (): string => JSON.stringify(bytes.toString());
  let end = 0;
  const seams = pieces.map((piece) => (end += piece.length));
  return { bytes, whole, doubtful, seams, [fc.toStringMethod]: shown };
}

function sound(lines: readonly string[]): DamagedSession {
  const whole = lines.map((line) => Buffer.from(line));
  return session([Buffer.from(`${lines.join("\n")}\n`)], whole, new Set());
}

function damaged(
  lines: readonly string[],
  treatments: readonly Treatment[],
  joints: readonly string[],
): DamagedSession {
  const pieces: Buffer[] = [];
  const whole: Buffer[] = [];
  const doubtful = new Set<Buffer>();
  for (const [i, line] of lines.entries()) {
    const bytes = Buffer.from(line);
    const treated = treat(bytes, treatments[i] ?? { kind: "whole" });
    const before = pieces.findLast((piece) => piece.length > 0)?.at(-1) ?? 0x0a;
    if (treated === bytes) {
      whole.push(bytes);
      if ("[,:".includes(String.fromCharCode(before)) && isBehindDebris(pieces, whole)) {
        doubtful.add(bytes);
      }
    }
    pieces.push(treated, Buffer.from(joints[i] ?? "\n"));
  }
  return session(pieces, whole, doubtful);
}

/**
 * Whether the last piece of what was written so far ends in something else than a complete record.
 */
function isBehindDebris(pieces: readonly Buffer[], whole: readonly Buffer[]): boolean {
  const last = pieces.findLast((piece) => piece.length > 0);
  return last !== undefined && last !== whole.at(-2);
}

function treat(bytes: Buffer, treatment: Treatment): Buffer {
  if (treatment.kind === "whole") return bytes;
  if (treatment.kind === "torn") return bytes.subarray(0, treatment.at % bytes.length);
  // Not the first one: before most of these, the line above would not seem to end.
  const at = 1 + (treatment.at % (bytes.length - 1));
  const changed = Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from(treatment.to),
    bytes.subarray(at + 1),
  ]);
  return isRecord(changed) ? bytes.subarray(0, at) : changed;
}

function isRecord(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}
