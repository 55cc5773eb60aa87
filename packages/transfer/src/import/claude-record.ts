/** What every record of Claude Code has, and what the ones that are skipped are. Pure. */
import { stringAt, timeAt } from "@branchlog/core/internal";
import type { SkipReason } from "./line-tally.ts";
import type { SourceRecord } from "./source-mapping.ts";

/** A record with its envelope read. */
export interface ClaudeRecord extends SourceRecord {
  readonly type: string;
  /** Names the record in the tree; undefined for records that are not in it. */
  readonly uuid: string | undefined;
  readonly parentUuid: string | undefined;
  /** Whether it is of a sub-agent. */
  readonly isSide: boolean;
  /** Its time, or that of the record before it. */
  readonly time: string;
}

/** Reads the envelope; `timeBefore` is the time of the record before. */
export function claudeRecord(record: SourceRecord, timeBefore: string): ClaudeRecord {
  const { value } = record;
  return {
    ...record,
    type: stringAt(value, "type") ?? "",
    uuid: stringAt(value, "uuid"),
    parentUuid: stringAt(value, "parentUuid"),
    isSide: value["isSidechain"] === true,
    time: timeAt(value, "timestamp") ?? timeBefore,
  };
}

/** What the id of an entry is made of. */
export function seedOf({ uuid, line }: ClaudeRecord, part: number | string): string {
  return `${uuid === undefined ? `line:${line}` : `uuid:${uuid}`}#${part}`;
}

/** Types of records that say nothing of the conversation. */
const skipped: ReadonlyMap<string, SkipReason> = new Map([
  ["progress", "progress"],
  ["file-history-snapshot", "file-history"],
  ["queue-operation", "queue"],
  ["agent-color", "bookkeeping"],
  ["agent-name", "bookkeeping"],
  ["agent-setting", "bookkeeping"],
  ["attribution-snapshot", "bookkeeping"],
  ["content-replacement", "bookkeeping"],
  ["last-prompt", "bookkeeping"],
  ["mode", "bookkeeping"],
  ["permission-mode", "bookkeeping"],
  ["pr-link", "bookkeeping"],
  ["speculation-accept", "bookkeeping"],
  ["tag", "bookkeeping"],
  ["task-summary", "bookkeeping"],
  ["worktree-state", "bookkeeping"],
]);

/** Why a record of this type is skipped. */
export function skipReasonOf(type: string): SkipReason {
  return skipped.get(type) ?? "unknown-record";
}

/** What the header of the log, its entries or its tree say already. */
export const envelopeKeys: ReadonlySet<string> = new Set([
  "type",
  "uuid",
  "parentUuid",
  "logicalParentUuid",
  "isSidechain",
  "timestamp",
  "sessionId",
  "cwd",
  "version",
  "gitBranch",
  "userType",
]);
