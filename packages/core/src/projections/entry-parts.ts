/**
 * The text of an entry or a message, part by part: the one place where stored values become texts.
 * Pure and total: stored values can be anything, and values without the form of their type are
 * data.
 */
import { nameSaidBy, namingTypes } from "./name.ts";
import { isStoredObject } from "./stored-value.ts";

export type EntryPart =
  | { readonly kind: "text" | "thinking" | "error" | "summary"; readonly text: string }
  /** Of the session, or of an entry. */
  | { readonly kind: "name" | "label"; readonly text: string }
  | ToolCallPart
  | { readonly kind: "image"; readonly mimeType: string; readonly data: string }
  | ShellPart
  /** A block of another type, or without the form of its type. */
  | { readonly kind: "data"; readonly type: string | undefined; readonly value: unknown };

export interface ToolCallPart {
  readonly kind: "call";
  readonly id: string;
  readonly tool: string | undefined;
  readonly arguments: unknown;
  /** As stored, and its place in the content. */
  readonly block: object;
  readonly place: number;
}

export interface ShellPart {
  readonly kind: "shell";
  readonly command: string;
  readonly output: string;
  readonly exitCode: number | undefined;
}

/** The speaker. Fields missing in the stored value are undefined. */
export interface Speaker {
  /** As in a context: `user`, `custom`, `compactionSummary`, …; also `name` and `label`. */
  readonly role: string | undefined;
  readonly model: string | undefined;
  readonly customType: string | undefined;
  /** Of a result: its tool, and the call that it answers. */
  readonly tool: string | undefined;
  readonly callId: string | undefined;
  readonly isError: boolean;
}

export interface SaidParts {
  readonly speaker: Speaker;
  /** In reading order. */
  readonly parts: readonly EntryPart[];
}

/** Undefined for an entry without text, such as a change of settings. */
export function entryParts(entry: { readonly type: string }): SaidParts | undefined {
  if (namingTypes.includes(entry.type)) {
    const name: unknown = nameSaidBy(entry);
    return said("name", typeof name === "string" ? [{ kind: "name", text: name }] : []);
  }
  switch (entry.type) {
    case "message":
      return messageParts(fieldOf(entry, "message"));
    case "custom_message":
      return {
        speaker: { ...speakerOf(entry), role: "custom" },
        parts: contentParts(fieldOf(entry, "content")),
      };
    case "compaction":
      return said("compactionSummary", summaryParts(entry));
    case "branch_summary":
      return said("branchSummary", summaryParts(entry));
    case "label": {
      const text = textOf(entry, "label");
      return said("label", text === undefined ? [] : [{ kind: "label", text }]);
    }
    default:
      return undefined;
  }
}

export function messageParts(message: unknown): SaidParts {
  if (!isStoredObject(message)) {
    return said(undefined, [{ kind: "data", type: "message", value: message }]);
  }
  const speaker = speakerOf(message);
  return { speaker, parts: partsBy(speaker.role, message) };
}

/** The texts among the parts. */
export function textOfParts(parts: readonly EntryPart[], separator: string): string {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join(separator);
}

function partsBy(role: string | undefined, message: object): readonly EntryPart[] {
  if (role === "bashExecution") return [shellPart(message)];
  if (role === "branchSummary" || role === "compactionSummary") return summaryParts(message);
  const parts = contentParts(fieldOf(message, "content"));
  const error = textOf(message, "errorMessage");
  // Some agents store it as the text of the answer, too.
  const isSaid = error === undefined || error === textOfParts(parts, "\n");
  return isSaid ? parts : [...parts, { kind: "error", text: error }];
}

function contentParts(content: unknown): readonly EntryPart[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  return Array.isArray(content) ? content.map(contentPart) : [];
}

function contentPart(block: unknown, place: number): EntryPart {
  const type = textOf(block, "type");
  if (isStoredObject(block)) {
    const text = textOf(block, "text");
    switch (type) {
      case "text":
        if (text !== undefined) return { kind: "text", text };
        break;
      case "thinking":
        return { kind: "thinking", text: textOf(block, "thinking") ?? "" };
      case "image": {
        const [mimeType, data] = [textOf(block, "mimeType") ?? "", textOf(block, "data") ?? ""];
        return { kind: "image", mimeType, data };
      }
      case "toolCall": {
        const [id, tool] = [textOf(block, "id") ?? "", textOf(block, "name")];
        const given = fieldOf(block, "arguments");
        return { kind: "call", id, tool, arguments: given, block, place };
      }
      default:
        break;
    }
  }
  return { kind: "data", type, value: block };
}

function shellPart(message: object): ShellPart {
  const exitCode = fieldOf(message, "exitCode");
  return {
    kind: "shell",
    command: textOf(message, "command") ?? "",
    output: textOf(message, "output") ?? "",
    exitCode: typeof exitCode === "number" ? exitCode : undefined,
  };
}

function summaryParts(entry: object): readonly EntryPart[] {
  const text = textOf(entry, "summary");
  return text === undefined ? [] : [{ kind: "summary", text }];
}

function said(role: string | undefined, parts: readonly EntryPart[]): SaidParts {
  return { speaker: { ...speakerOf({}), role }, parts };
}

function speakerOf(message: object): Speaker {
  return {
    role: textOf(message, "role"),
    model: textOf(message, "model"),
    customType: textOf(message, "customType"),
    tool: textOf(message, "toolName"),
    callId: textOf(message, "toolCallId"),
    isError: fieldOf(message, "isError") === true,
  };
}

/** An own field. */
function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  const field: unknown = Reflect.get(value, key);
  return field;
}

function textOf(value: unknown, key: string): string | undefined {
  const field = fieldOf(value, key);
  return typeof field === "string" ? field : undefined;
}
