/** Recognises changes of text in inputs and results of tools, line by line. */

export interface DiffLine {
  readonly kind: "added" | "removed" | "place" | "same";
  readonly text: string;
}

/** Lines of a unified diff; null: the text is something else. */
export function diffLines(text: string): readonly DiffLine[] | null {
  const isDiff = /^@@ .*@@/m.test(text) && /^[+-]/m.test(text);
  return isDiff ? text.split("\n").map((line) => ({ kind: kindOf(line), text: line })) : null;
}

function kindOf(line: string): DiffLine["kind"] {
  if (/^(@@|diff |index |\+\+\+ |--- )/.test(line)) return "place";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}

/** The names under which agents' tools take the old and the new text. */
const editNames = [
  ["old_string", "new_string"],
  ["oldText", "newText"],
  ["old_str", "new_str"],
] as const;

/** The change that the input of an edit tool asks for; null: it asks for something else. */
export function editLines(input: string): readonly DiffLine[] | null {
  const value = parsed(input);
  if (value === null) return null;
  const edits: readonly unknown[] = Array.isArray(value["edits"]) ? value["edits"] : [value];
  const changes = edits.map(editOf);
  if (changes.length === 0 || changes.includes(null)) return null;
  const path = value["path"] ?? value["file_path"];
  const place: DiffLine[] = typeof path === "string" ? [{ kind: "place", text: path }] : [];
  return [...place, ...changes.flatMap((change) => change ?? [])];
}

function editOf(edit: unknown): readonly DiffLine[] | null {
  if (!isRecord(edit)) return null;
  for (const [oldName, newName] of editNames) {
    const before = edit[oldName];
    const after = edit[newName];
    if (typeof before === "string" && typeof after === "string") {
      return [...marked(before, "removed"), ...marked(after, "added")];
    }
  }
  return null;
}

function marked(text: string, kind: "added" | "removed"): DiffLine[] {
  if (text === "") return [];
  const sign = kind === "added" ? "+" : "-";
  return text.split("\n").map((line) => ({ kind, text: `${sign} ${line}` }));
}

/** A long input is cut and is then no JSON. */
function parsed(input: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(input);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The command line in the input of a shell tool; null: the input has another form. */
export function commandOf(input: string): string | null {
  const value = parsed(input);
  const command = value?.["command"] ?? value?.["cmd"];
  return typeof command === "string" ? command : null;
}
