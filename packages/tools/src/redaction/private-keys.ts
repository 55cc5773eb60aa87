/** Finds private keys in PEM, PGP, PuTTY and OpenVPN files, whole or cut, of any lines. Pure. */
import type { FoundSecret } from "./key-forms.ts";

const marks =
  /-----(BEGIN|END) (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d)-----/g;

/** How many lines follow is counted in the file, but the text may be cut. */
const puttyLines =
  /\bPrivate-Lines: \d{1,4}((?:[^A-Za-z0-9+/=]{0,12}(?:\\[nrt])?[A-Za-z0-9+/=]{32,}){1,400})/g;

/** The largest keys in use have 13 kB. */
const keyUnitsMax = 65_536;

/** After the mark of a cut key. Between its lines are line ends, numbers, quotes, escapes. */
const linesBehind = new RegExp(
  String.raw`(?:\s{0,4}[\w-]{1,40}: [^\n\\]{0,100}){0,4}` +
    String.raw`(?:[^A-Za-z0-9+/=]{0,12}(?:\\?[nrt]|\d{1,6}[^\w+/=]{1,4})?[A-Za-z0-9+/=]{16,})*`,
  "y",
);

const keyLine = /^(?:[\W\d]{0,12}|.{0,8}[^\w+/=])[A-Za-z0-9+/=]{16,}[^A-Za-z0-9]{0,8}$/;

export function privateKeys(text: string): FoundSecret[] {
  const found = puttyKeys(text);
  if (!text.includes("PRIVATE KEY") && !text.includes("OpenVPN Static")) return found;
  const all = [...text.matchAll(marks)];
  for (const [place, match] of all.entries()) {
    const [mark, side] = match;
    const [before, next] = [all[place - 1], all[place + 1]];
    const behind = match.index + mark.length;
    if (side === "BEGIN") {
      const isWhole = next?.[1] === "END" && next.index - behind < keyUnitsMax;
      const end = isWhole ? next.index + next[0].length : cutEnd(text, behind);
      found.push({ kind: "private-key", start: match.index, end });
    } else if (before?.[1] !== "BEGIN" || match.index - before.index >= keyUnitsMax) {
      found.push({ kind: "private-key", start: cutStart(text, match.index), end: behind });
    }
  }
  return found;
}

function puttyKeys(text: string): FoundSecret[] {
  if (!text.includes("Private-Lines")) return [];
  return [...text.matchAll(puttyLines)].map(({ index, 0: whole, 1: lines = "" }) => {
    const end = index + whole.length;
    return { kind: "private-key", start: end - lines.trimStart().length, end };
  });
}

function cutEnd(text: string, from: number): number {
  linesBehind.lastIndex = from;
  linesBehind.test(text);
  return Math.max(from, linesBehind.lastIndex);
}

function cutStart(text: string, end: number): number {
  let start = end;
  for (;;) {
    const lineEnd = start - 1;
    const before = lineEnd < 1 ? -1 : text.lastIndexOf("\n", lineEnd - 1);
    if (lineEnd < 1 || !keyLine.test(text.slice(before + 1, lineEnd))) return start;
    start = before + 1;
  }
}
