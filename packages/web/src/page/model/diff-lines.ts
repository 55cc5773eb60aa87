/** Recognises changes of text in results of tools, line by line. */
import type { ChangedLine } from "@branchlog/library/conversation";

/** Lines of a unified diff; null: the text is something else. */
export function diffLines(text: string): readonly ChangedLine[] | null {
  const isDiff = /^@@ .*@@/m.test(text) && /^[+-]/m.test(text);
  return isDiff ? text.split("\n").map((line) => ({ kind: kindOf(line), text: line })) : null;
}

function kindOf(line: string): ChangedLine["kind"] {
  if (/^(@@|diff |index |\+\+\+ |--- )/.test(line)) return "place";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}
