/** Maps the records of a Claude Code transcript to entries, as docs/formats.md lists. No I/O. */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { normalizeName } from "@branchlog/core/entries";
import type { KnownDraft } from "@branchlog/core/entries";
import {
  assistantParts,
  claudeText,
  countAt,
  custom,
  envelopeKeys,
  objectAt,
  stringAt,
  toolResult,
  userMessage,
  userParts,
  withoutKeys,
} from "@branchlog/core/internal";
import type { UserPart } from "@branchlog/core/internal";
import { ClaudeAnswers } from "./claude-answers.ts";
import { ClaudeTree, claudeRecord, emptyNode, settled } from "./claude-tree.ts";
import type { ClaudeRecord, TreeNode } from "./claude-tree.ts";
import { waitingMax } from "./limits.ts";
import type {
  LineOutcome,
  SkipReason,
  MappingSetting,
  SourceMapping,
  SourceRecord,
} from "./source-mapping.ts";

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

interface Boundary {
  readonly node: TreeNode;
  readonly parent: TreeNode;
  readonly record: ClaudeRecord;
}

export class ClaudeMapping implements SourceMapping {
  readonly #setting: MappingSetting;
  readonly #tree: ClaudeTree;
  readonly #answers: ClaudeAnswers;
  #boundary: Boundary | undefined;
  #metadata: JsonObject | undefined;
  #last: ClaudeRecord;
  /** Used if no record has a title. */
  readonly #summaries: ClaudeRecord[] = [];
  #name = "";
  #isNamedByUser = false;

  constructor(setting: MappingSetting) {
    this.#setting = setting;
    this.#tree = new ClaudeTree(setting);
    this.#answers = new ClaudeAnswers(this.#tree);
    this.#last = claudeRecord({ value: {}, line: 0, bytes: 0 }, setting.facts.started);
  }

  push(source: SourceRecord): LineOutcome {
    const record = claudeRecord(source, this.#last.time);
    this.#last = record;
    if (this.#tree.has(record.uuid)) return "repeated";
    switch (record.type) {
      case "user":
        return this.#user(record);
      case "assistant":
        return this.#assistant(record);
      case "system":
        return this.#system(record);
      case "attachment":
        return this.#custom(record, "claude.attachment", record.value["attachment"] ?? null);
      case "custom-title":
      case "ai-title":
        return this.#title(record);
      case "summary":
        if (this.#summaries.length >= waitingMax) return "unused-title";
        this.#summaries.push(record);
        return "held";
      default:
        return this.#skip(record, skipped.get(record.type) ?? "unknown-record");
    }
  }

  end(): void {
    this.#flush();
    this.#settleSummaries();
    const { log } = this.#setting;
    const { tail, root } = this.#tree;
    // A source that only has a sub-agent's records ends where those end.
    if (tail !== root) log.endAt(tail.id, this.#last);
  }

  #user(record: ClaudeRecord): LineOutcome {
    const message = objectAt(record.value, "message");
    if (record.value["isCompactSummary"] === true) return this.#summary(record, message);
    const { parts, rest } = userParts(message?.["content"]);
    const callIds = parts.flatMap((part) => (part.kind === "result" ? [part.callId] : []));
    const { toolUseResult: result } = record.value;
    // With several results it may belong to any or all of them.
    const [details, apart] = callIds.length === 1 ? [result] : [undefined, result];
    const kept = apart === undefined ? {} : { toolUseResult: apart };
    const isKept = rest.length > 0 || apart !== undefined;
    if (parts.length === 0 && !isKept) return this.#skip(record, "no-content");
    const drafts = parts.map((part) => this.#partDraft(part, record, details));
    if (isKept) drafts.push(custom("claude.blocks", { blocks: rest, ...kept }));
    const isResults = callIds.length > 0 && callIds.length === parts.length;
    if (isResults && this.#answers.followWith(record, drafts, callIds)) return "imported";
    this.#flush();
    let parent = this.#placeOf(record);
    // Results of concurrent calls are siblings in the source.
    const group = callIds.some((id) => parent.group?.open?.has(id)) ? parent.group : undefined;
    if (group !== undefined) parent = settled(group.tail);
    const node = emptyNode(parent.model, record.isSide);
    node.group = group;
    this.#tree.fillAll(node, drafts, parent, record);
    this.#tree.name(record, node);
    if (group === undefined) return "imported";
    group.tail = node;
    for (const id of callIds) group.open?.delete(id);
    return "imported";
  }

  #partDraft(part: UserPart, { value, time }: ClaudeRecord, details?: JsonValue): KnownDraft {
    if (part.kind === "result") {
      return toolResult(part, { toolName: this.#answers.toolOf(part.callId), time, details });
    }
    const { content } = part;
    if (value["isMeta"] !== true) return userMessage(content, time);
    // The model sees it, and its user does not.
    return { type: "custom_message", customType: "claude.meta", content, display: false };
  }

  #assistant(record: ClaudeRecord): LineOutcome {
    const parts = assistantParts(objectAt(record.value, "message"));
    if (parts.content.length === 0 && parts.rest.length === 0) {
      return this.#skip(record, "no-content");
    }
    if (this.#answers.continueWith(record, parts)) return "imported";
    this.#flush();
    this.#answers.begin(record, this.#placeOf(record), parts);
    return "imported";
  }

  #system(record: ClaudeRecord): LineOutcome {
    if (stringAt(record.value, "subtype") !== "compact_boundary") {
      return this.#custom(record, "claude.system", withoutKeys(record.value, envelopeKeys));
    }
    this.#flush();
    const logical = this.#tree.nodeOf(stringAt(record.value, "logicalParentUuid"));
    const named = logical ?? this.#tree.nodeOf(record.parentUuid);
    const parent = named === undefined ? this.#tree.before(record) : settled(named);
    const node = emptyNode(parent.model, record.isSide);
    this.#boundary = { node, parent, record };
    this.#metadata = objectAt(record.value, "compactMetadata");
    this.#tree.name(record, node);
    return "imported";
  }

  /** A summary replaces all messages before it; with its boundary it is one compaction. */
  #summary(record: ClaudeRecord, message: JsonObject | undefined): LineOutcome {
    const boundary = this.#boundary;
    const above = this.#tree.nodeOf(record.parentUuid);
    const summary = claudeText(message?.["content"]);
    if (boundary !== undefined && above === boundary.node) {
      this.#boundary = undefined;
      const draft = this.#compaction(summary);
      this.#tree.fill(boundary.node, draft, boundary.parent, boundary.record, 0);
      this.#tree.name(record, boundary.node);
      return "imported";
    }
    this.#flush();
    const isRoot = record.parentUuid === undefined;
    const parent = isRoot ? this.#tree.before(record) : this.#placeOf(record);
    const draft = this.#compaction(summary);
    this.#tree.name(record, this.#tree.write(draft, parent, record, { part: 0 }));
    return "imported";
  }

  #compaction(summary: string): KnownDraft {
    const metadata = this.#metadata;
    this.#metadata = undefined;
    const head = stringAt(objectAt(metadata, "preservedSegment"), "headUuid");
    return {
      type: "compaction",
      summary,
      firstKeptEntryId: this.#tree.nodeOf(head)?.firstId || null,
      tokensBefore: countAt(metadata, "preTokens"),
      ...(metadata === undefined ? {} : { details: metadata }),
    };
  }

  #title(record: ClaudeRecord): LineOutcome {
    const { value, type } = record;
    const isOfUser = type === "custom-title";
    if (this.#isNamedByUser && !isOfUser) return "unused-title";
    const title = stringAt(value, isOfUser ? "customTitle" : "aiTitle");
    if (!this.#setName(record, title)) return "unused-title";
    this.#isNamedByUser = isOfUser;
    return "imported";
  }

  /** Without a title, the last summary of this session is used; many are of other sessions. */
  #settleSummaries(): void {
    let isNamed = this.#name !== "";
    for (const record of this.#summaries.toReversed()) {
      const { value } = record;
      const isOfThis = this.#tree.has(stringAt(value, "leafUuid"));
      const at = { ...record, time: this.#last.time };
      const isUsed = !isNamed && isOfThis && this.#setName(at, stringAt(value, "summary"));
      this.#setting.tally.settle(isUsed ? "imported" : "unused-title");
      isNamed ||= isUsed;
    }
  }

  #setName(record: ClaudeRecord, title: string | undefined): boolean {
    const name = normalizeName(title ?? "");
    if (name === "" || name === this.#name) return false;
    this.#name = name;
    this.#flush();
    this.#tree.chain({ type: "session_info", name }, record, "title");
    return true;
  }

  #custom(record: ClaudeRecord, customType: string, data: JsonValue): LineOutcome {
    const draft = custom(customType, data);
    if (this.#answers.followWith(record, [draft], [])) return "imported";
    this.#flush();
    const node = this.#tree.write(draft, this.#placeOf(record), record, { part: 0 });
    this.#tree.name(record, node);
    return "imported";
  }

  #skip(record: ClaudeRecord, reason: SkipReason): SkipReason {
    const { line, type, uuid } = record;
    if (reason === "unknown-record") this.#setting.tally.reportUnknown(line, type);
    if (uuid === undefined) return reason;
    // Without its parent, a record belongs to the entry before it, which must be written.
    if (this.#tree.nodeOf(record.parentUuid) === undefined) this.#flush();
    this.#tree.name(record, this.#tree.parentOf(record));
    return reason;
  }

  #placeOf(record: ClaudeRecord): TreeNode {
    const parent = this.#tree.parentOf(record);
    if (!record.isSide || parent.isSide) return parent;
    const content = objectAt(record.value, "message")?.["content"];
    const task = this.#answers.taskCallOf(claudeText(content));
    const facts = {
      agentId: stringAt(record.value, "agentId"),
      toolCallId: task?.callId,
      targetId: task?.node.firstId,
    };
    const mark = custom("branchlog.sidechain", facts);
    return this.#tree.write(mark, parent, record, { part: "sidechain" });
  }

  #flush(): void {
    this.#answers.flush();
    const boundary = this.#boundary;
    if (boundary === undefined) return;
    this.#boundary = undefined;
    const { node, parent, record } = boundary;
    const draft = custom("claude.system", withoutKeys(record.value, envelopeKeys));
    this.#tree.fill(node, draft, parent, record, 0);
  }
}
