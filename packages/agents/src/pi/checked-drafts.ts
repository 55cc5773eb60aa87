/**
 * Drafts that refer to other entries, checked as in pi, with its messages, before anything is
 * written.
 */
import type { IndexTable } from "@branchlog/core/rows";
import type { SystemMessage, ContextEditReplacement, KnownDraft } from "@branchlog/core/entries";
import { BranchlogError } from "@branchlog/core";
import type { ErrorCode } from "@branchlog/core";
import { computeSystemMessage } from "./system-message.ts";
import type { Engine } from "@branchlog/core/engine";
import { contextOf, rowOf } from "./log-queries.ts";
import type { SessionLog } from "./session-log.ts";

type DraftOf<Type> = Extract<KnownDraft, { readonly type: Type }>;
type BranchSummaryDraft = DraftOf<"branch_summary">;
type CompactionDraft = DraftOf<"compaction">;
export type ContextEditDraft = DraftOf<"context_edit">;

/**
 * The row of an entry that can be a leaf.
 *
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`.
 */
export function requireRow(engine: Engine, id: unknown): number {
  const { index, bodies } = engine;
  const found = rowOf(engine, id);
  if (found >= 0) bodies.confirmSync(found);
  // Confirming may uncover an earlier entry with the id, or show that it is damaged.
  const row = rowOf(engine, id);
  if (row >= 0 && index.isNode(row)) return row;
  throw refusal(engine, "ERR_ENTRY_NOT_FOUND", id, `Entry ${String(id)} not found`);
}

/** @throws BranchlogError `ERR_INVALID_ARGUMENT`, `ERR_ENTRY_NOT_FOUND`. */
export function contextEdit(
  log: SessionLog,
  targetId: string,
  replacement: ContextEditDraft["replacement"],
): ContextEditDraft {
  const { engine } = log;
  if (!isReplacement(replacement)) {
    const message = "Context edit replacement must be null or contain string/array content";
    throw refusal(engine, "ERR_INVALID_ARGUMENT", targetId, message);
  }
  const row = requireRow(engine, targetId);
  if (!pathRows(log).includes(row)) {
    const message = `Entry ${targetId} is not on the active branch`;
    throw refusal(engine, "ERR_INVALID_ARGUMENT", targetId, message);
  }
  if (!isEditable(engine.index, row)) {
    const message = `Entry ${targetId} does not contribute editable model content`;
    throw refusal(engine, "ERR_INVALID_ARGUMENT", targetId, message);
  }
  return { type: "context_edit", targetId, replacement: inBlocks(engine.index, row, replacement) };
}

export function branchSummary(
  { engine, leaf }: SessionLog,
  branchFromId: string | null,
  fields: Omit<BranchSummaryDraft, "type" | "fromId">,
): BranchSummaryDraft {
  if (branchFromId !== null) requireRow(engine, branchFromId);
  return { type: "branch_summary", fromId: leaf.id ?? "root", ...fields };
}

export function compaction(
  log: SessionLog,
  nowMs: number,
  fields: Omit<CompactionDraft, "type" | "systemMessage">,
): CompactionDraft {
  return { type: "compaction", ...fields, systemMessage: systemMessageAt(log, nowMs) };
}

/** Builds the context only if it may hold a system message. */
function systemMessageAt(log: SessionLog, nowMs: number): SystemMessage | undefined {
  const { index } = log.engine;
  const maySpeak = pathRows(log).some((row) => {
    const { type, role } = index.kindOf(row);
    return type === "compaction" || role === "system";
  });
  return maySpeak ? computeSystemMessage(contextOf(log).messages, nowMs) : undefined;
}

function pathRows({ engine, leaf }: SessionLog): Int32Array {
  return engine.rowPath(leaf.id).rows;
}

function isReplacement(replacement: unknown): boolean {
  if (replacement === null) return true;
  if (typeof replacement !== "object" || !("content" in replacement)) return false;
  return typeof replacement.content === "string" || Array.isArray(replacement.content);
}

const editableRoles: ReadonlySet<string> = new Set(["user", "assistant", "toolResult"]);

function isEditable(index: IndexTable, row: number): boolean {
  const { type, role } = index.kindOf(row);
  return (
    type === "custom_message" ||
    (type === "message" && role !== undefined && editableRoles.has(role))
  );
}

export type ContextEditableContent = ContextEditReplacement["content"];

/** Content of an answer or tool result is always a list. */
function inBlocks(
  index: IndexTable,
  row: number,
  replacement: ContextEditDraft["replacement"],
): ContextEditDraft["replacement"] {
  const { role } = index.kindOf(row);
  if (replacement === null || typeof replacement.content !== "string") return replacement;
  if (role !== "assistant" && role !== "toolResult") return replacement;
  return { content: [{ type: "text", text: replacement.content }] };
}

function refusal({ path }: Engine, code: ErrorCode, id: unknown, message: string): BranchlogError {
  return new BranchlogError(code, message, typeof id === "string" ? { path, id } : { path });
}
